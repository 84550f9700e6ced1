import { withoutSecrets } from "../domain/secrets.js";
import type { JournalRecord } from "../domain/session.js";
import { isCalendarWord } from "../platform/language/calendar-words.js";
import { namesIn, sentencesOf } from "../platform/language/salient-words.js";

export interface DerivedTopic {
  /** At most 80 characters, or null where nothing stands out. */
  readonly topic: string | null;
  /** At most 8, most telling first: lower case, words joined by `-`. */
  readonly tags: readonly string[];
}

/** A memory that came of a turn of the session. */
export interface Learnt {
  readonly category: string;
  readonly turn: number;
}

const MAX_TAGS = 8;
const MAX_TOPIC_CHARS = 80;
/** The category that says nothing. */
const NO_CATEGORY = "other";

/**
 * What a session is about, from what is in its journal and without a model: the names that the user and the answers speak of (days,
 * months and parts of a day are none, nor is what is secret), the categories of what was learnt from it, and the tools that were used.
 * Counted by turns, so that one long list in one answer does not outvote the rest; ties go to what came first. Pure.
 */
export function deriveTopic(records: Iterable<JournalRecord>, learnt: readonly Learnt[] = []): DerivedTopic {
  const names = new Counts();
  const categories = new Counts();
  const tools = new Counts();
  for (const { category, turn } of learnt) categories.add(category, turn);
  for (const record of records) {
    if (record.type === "step" && record.body.error === null) tools.add(record.body.name, record.turn);
    if (record.type !== "message" || record.body.role === "system") continue;
    // What the user named themself counts three times what an answer offered.
    const weight = record.body.role === "user" ? 3 : 1;
    for (const name of new Set(sentencesOf(withoutSecrets(record.body.content)).flatMap(namesIn)))
      if (!saysWhen(name)) names.add(name, record.turn, weight);
  }
  const told = categories
    .best()
    .filter((category) => category !== NO_CATEGORY)
    .map(inWords);
  const about = names.best();
  const headline = about.length > 0 ? about.slice(0, 2) : told.slice(0, 2);
  return {
    topic: headline.length === 0 ? null : [...capitalised(headline.join(", "))].slice(0, MAX_TOPIC_CHARS).join(""),
    tags: [...new Set([...told.slice(0, 4), ...about.slice(0, 3), ...tools.best().slice(0, 3)].map(asTag))]
      .filter((tag) => tag !== "")
      .slice(0, MAX_TAGS),
  };
}

/** "Lisbon, Diana Krall", "Party size": as one would write it on a folder. */
function capitalised(text: string): string {
  const [first = "", ...rest] = text;
  return first.toUpperCase() + rest.join("");
}

/** A day, its evening or a month is no topic; "Friday Night Jazz" is one. */
function saysWhen(name: string): boolean {
  return name.split(" ").every(isCalendarWord);
}

/** `party_size` as a reader has it. */
function inWords(id: string): string {
  return id.replace(/[_-]+/g, " ").trim();
}

function asTag(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "");
}

/** Weights by value, each counted once a turn with the largest weight that the turn gives it. */
class Counts {
  readonly #turns = new Map<string, Map<number, number>>();

  add(value: string, turn: number, weight = 1): void {
    const turns = this.#turns.get(value) ?? new Map<number, number>();
    turns.set(turn, Math.max(weight, turns.get(turn) ?? 0));
    this.#turns.set(value, turns);
  }

  /** Heaviest first. */
  best(): string[] {
    const weigh = (turns: ReadonlyMap<number, number>) => [...turns.values()].reduce((sum, weight) => sum + weight, 0);
    return [...this.#turns]
      .map(([value, turns]) => ({ value, weight: weigh(turns) }))
      .sort((a, b) => b.weight - a.weight)
      .map(({ value }) => value);
  }
}
