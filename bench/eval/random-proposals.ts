import { CONCIERGE_NEEDS } from "../../packages/concierge/src/needs.js";
import { CONCIERGE_WORDS } from "../../packages/concierge/src/words.js";
import { needsNamedIn } from "../../src/languages/need-talk.js";
import type { Conversation } from "../../src/operations/evaluation-set.js";
import type { Embedder } from "../../src/ports/embedding.js";
import { rememberedOf } from "./remember.js";
import { type Proposal, reader } from "./scripted-readers.js";

/**
 * What a model proposes that says at random what must hold, of words that tell nothing of it: each of so many quotes with each of so many
 * needs, of a domain's own names. "My sister plays the cello" is no wheelchair.
 */
const QUOTES = 24;
const NEEDS = 12;
const SOFT = new Set(["genre", "artist", "venue", "seating", "party_size", "schedule", "location", "loyalty", "communication"]);

export interface RandomScore {
  readonly proposals: number;
  /** Must hold without a question. */
  readonly hard: number;
  readonly waiting: number;
}

export async function scoreOfRandom(conversations: readonly Conversation[], embedder?: Embedder): Promise<RandomScore> {
  const [quotes, needs] = [quotesOf(conversations), needsOfDomain()];
  let [hard, waiting] = [0, 0];
  for (const [at, quote] of quotes.entries())
    for (const [place, need] of needs.entries()) {
      const proposal = { ...need, quote, about: aboutOf(at + place, quote, need.about ?? "") };
      const memories = await rememberedOf(only(quote), () => reader("random", () => [proposal]), embedder);
      if (memories.some(({ status, strength }) => status === "active" && strength === "hard")) hard++;
      if (memories.some(({ status }) => status === "review")) waiting++;
    }
  return { proposals: quotes.length * needs.length, hard, waiting };
}

/** In turn: the thing itself, words of the quote, nothing. */
function aboutOf(turn: number, quote: string, thing: string): string {
  const longest = (quote.match(/\p{L}+/gu) ?? []).toSorted((a, b) => b.length - a.length)[0] ?? quote;
  return [thing, longest, ""][turn % 3] ?? "";
}

/** Of strangers, of what they like and do, from all over the sets. */
function quotesOf(conversations: readonly Conversation[]): readonly string[] {
  const all = conversations.flatMap(({ lang, expect }) =>
    expect.flatMap(({ quote, category, hard }) => {
      const isSoft = lang === "en" && !hard && SOFT.has(category) && quote.includes(" ");
      return isSoft && needsNamedIn(quote, CONCIERGE_NEEDS).size === 0 ? [quote] : [];
    }),
  );
  const step = Math.max(1, Math.floor(all.length / QUOTES));
  return all.filter((_, at) => at % step === 0).slice(0, QUOTES);
}

function needsOfDomain(): readonly Omit<Proposal, "quote">[] {
  return CONCIERGE_NEEDS.slice(0, NEEDS).flatMap(({ name }) => {
    const told = CONCIERGE_WORDS.needs.find(({ need, kind }) => need === name && kind !== "limit");
    const thing = told?.words[0];
    if (told === undefined || thing === undefined) return [];
    const text = told.kind === "avoid" ? `Is allergic to ${thing}` : `Needs: ${thing}`;
    return [{ op: "add" as const, text, about: thing, category: told.category, need: name, strength: "hard" as const }];
  });
}

function only(message: string): Conversation {
  return { id: "random", group: "own", lang: "en", messages: [message], expect: [], forbid: [], trip_ok: false };
}
