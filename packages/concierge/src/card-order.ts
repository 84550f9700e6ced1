import type { Element } from "maitred";
import { z } from "zod";

const cardSchema = z.looseObject({
  title: z.string(),
  day: z.string().default(""),
  time: z.string().default(""),
  breaks: z.array(z.string()).default([]),
});

/**
 * Event cards in the order in which the answer names their events, each once, so that "the second one" is the second card.
 * Cards that the answer doesn't name follow in their own order, what breaks a need last. Other elements keep their places.
 */
export function cardsAsNamed(answer: string, elements: readonly Element[]): readonly Element[] {
  const once = [...new Map(elements.map((element) => [element.id, element])).values()];
  const lines = answer.split("\n");
  const cards = once.filter(isCard).map((element) => ({ element, place: placeOf(element, lines) }));
  const ordered = cards.toSorted((a, b) => a.place - b.place).map(({ element }) => element);
  return once.map((element) => (isCard(element) ? (ordered.shift() ?? element) : element));
}

function isCard(element: Element): boolean {
  return element.type === "event_card";
}

/**
 * The first line that names the event with its day and time, else with its day, else its title: the same title may play on several
 * evenings.
 */
function placeOf(element: Element, lines: readonly string[]): number {
  const card = cardSchema.safeParse(parsed(element.content));
  const { title, day, time, breaks } = card.success ? card.data : { title: element.name, day: "", time: "", breaks: [] };
  for (const marks of [[title, day, time], [title, day], [title]]) {
    const place = lines.findIndex((line) => marks.every((mark) => line.toLowerCase().includes(mark.toLowerCase())));
    if (place !== -1) return place;
  }
  return breaks.length === 0 ? lines.length : lines.length + 1;
}

function parsed(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return null;
  }
}
