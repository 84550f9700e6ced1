import type { AnswerPart, Element, PlacedElements, ShownPart } from "./session.js";
import type { ToConfirm } from "./to-confirm.js";

const PART_OF: Readonly<Record<string, ShownPart["type"]>> = {
  event_card: "cards",
  booking_quote: "quote",
  approval: "quote",
  booking_receipt: "ticket",
  constraint: "warning",
};

/** Null for what stands beside an answer and is no part of it, as a citation does. An inline element of any other type is a card. */
function partOf({ type, display }: Element): ShownPart["type"] | null {
  if (Object.hasOwn(PART_OF, type)) return PART_OF[type] ?? null;
  return display === "inline" ? "cards" : null;
}

/** What parts are made of, as a message is kept. */
export interface PartSource {
  readonly content: string;
  readonly elements?: readonly Element[] | undefined;
  /** Default: the elements came after the text, as in answers that were kept without it. */
  readonly placed?: readonly PlacedElements[] | undefined;
  readonly toConfirm?: readonly Pick<ToConfirm, "id">[] | undefined;
}

/**
 * The parts of an answer, in the order in which they came; what waits for the guest's word last. Elements that came together stand in the
 * answer's own order of them, each once, where it came first. Pure.
 */
export function partsOf({ content, elements = [], placed = [], toConfirm = [] }: PartSource): AnswerPart[] {
  const parts: AnswerPart[] = [];
  const placeOf = firstPlaces(placed);
  const once = [...new Map(elements.map((element) => [element.id, element])).values()];
  const shown = once.map((element) => ({ element, after: Math.min(placeOf.get(element.id) ?? content.length, content.length) }));
  let said = 0;
  const say = (until: number) => {
    if (until > said) parts.push({ type: "text", text: content.slice(said, until) });
    said = Math.max(said, until);
  };
  for (const { element, after } of shown.toSorted((a, b) => a.after - b.after)) {
    const type = partOf(element);
    if (type === null) continue;
    say(after);
    const last = parts.at(-1);
    if (last?.type === type) parts[parts.length - 1] = { type, elements: [...last.elements, element.id] };
    else parts.push({ type, elements: [element.id] });
  }
  say(content.length);
  for (const id of new Set(toConfirm.map((waiting) => waiting.id))) parts.push({ type: "question", memory_id: id });
  return parts;
}

function firstPlaces(placed: readonly PlacedElements[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const { after, elements } of placed) {
    for (const id of elements) if (!places.has(id)) places.set(id, after);
  }
  return places;
}
