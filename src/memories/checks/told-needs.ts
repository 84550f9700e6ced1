import type { Span } from "../../domain/compared-words.js";
import { folded } from "../../platform/phrase-list.js";
import type { Need } from "../../ports/agent.js";
import type { NeedTalk } from "../../ports/need-talk.js";
import { Phrases, Words } from "./phrases.js";

/** A need that a text tells of, by the domain's words. */
export interface ToldNeed {
  /** One of the domain's needs, or `other`. */
  readonly need: string;
  readonly category: string;
  /** As it was said. */
  readonly word: string;
  /** It is what must not be, not what somebody is, has or uses. */
  readonly isThing: boolean;
  /** The sentence that tells it. */
  readonly span: Span;
  /** `self`, `companion:<relation>`, or null where it isn't said whose it is. */
  readonly subject: string | null;
}

/** So many words before a need, or what does harm, deny it. */
const DENIES_WITHIN = 5;
const OVER_WITHIN = 5;
/** A word for avoiding this far from a thing is still about it. */
const AVOIDS_WITHIN = 6;
const HARMS_WITHIN = 12;
/** Somebody else this far before a need has it. */
const OTHERS_WITHIN = 10;
/** "Eggs or milk" goes on with what the clause before avoids: beside things it has so many words. */
const MAX_JOINING = 1;
/** In a shorter word a letter makes another one: "walked" is no walker. */
const MIN_SLIP_LETTERS = 8;
/** A clause that speaks of the guest says so in its first words. */
const FIRST_WORDS = 2;

/** The needs that a domain's guests tell of. Made once for a domain. */
export class NeedWords {
  readonly #needs: readonly (Pick<ToldNeed, "need" | "category"> & { readonly avoid: boolean; readonly phrases: Phrases })[];
  readonly #talk: { readonly [part in Listed]: Phrases };
  readonly #relations: readonly (readonly [relation: string, names: Phrases])[];
  readonly #holds: ReadonlyMap<string, readonly string[]>;

  constructor(needs: readonly Need[], talk: NeedTalk) {
    const names = new Set(needs.map(({ name }) => name));
    // A limit says nothing without its number, which its words alone don't give.
    this.#needs = talk.words
      .filter(({ kind }) => kind !== "limit")
      .map(({ need, category, kind, words }) => ({
        need: names.has(need) ? need : "other",
        category,
        avoid: kind === "avoid",
        phrases: new Phrases(words),
      }));
    this.#talk = Object.fromEntries(LISTED.map((part) => [part, new Phrases(talk[part])])) as { [part in Listed]: Phrases };
    this.#relations = talk.relations.map((names) => [names[0] ?? "", new Phrases(names)] as const);
    this.#holds = new Map(needs.map(({ name, holds = [] }) => [name, holds]));
  }

  /** By name, and what is none of the domain's by its word, of all that a text names: told or not, anybody's. */
  namedIn(text: string): ReadonlySet<string> {
    const clause = new Words(text);
    const named = this.#found(clause).map(keyOf);
    return new Set([...named, ...named.flatMap((name) => [...this.heldBy(name)])]);
  }

  /** What a need holds in itself. */
  heldBy(need: string): ReadonlySet<string> {
    return new Set(this.#holds.get(need));
  }

  /** What is told of somebody, neither denied nor asked about the world. `own`: the guest's own words. Linear in the text. */
  toldIn(own: string): readonly ToldNeed[] {
    const told = new Map<string, ToldNeed>();
    for (const sentence of sentencesOf(own)) {
      const whole = new Words(sentence.text);
      if (this.#talk.brings.in(whole)) break;
      if (this.#talk.supposed.in(whole) || ((sentence.asks || this.#asks(whole)) && !this.#talk.own.in(whole))) continue;
      const subject = this.#subjectIn(whole);
      let ofOthers = false;
      let avoiding: boolean = false;
      let ofSentence = false;
      for (const text of sentence.text.split(CLAUSES)) {
        const clause = new Words(text);
        const found = this.#found(clause);
        ofOthers ||= this.#talk.others.in(clause);
        if (found.length === 0) continue;
        if ((ofOthers && this.#isOfOthers(clause, found)) || (this.#asks(clause) && !this.#talk.own.in(clause))) continue;
        const things = found.reduce((sum, { length }) => sum + length, 0);
        const goesOn: boolean = avoiding && clause.words.length - things <= MAX_JOINING;
        const all: readonly Found[] = found.filter((each) => this.#tells(each, clause, goesOn));
        const tells = all.filter(
          ({ need, at }) => need !== "other" || !(all.length > 1 || ofSentence) || !this.#talk.harm.within(clause, at, at + 1),
        );
        ofSentence ||= tells.length > 0;
        avoiding = tells.some(({ avoid }) => avoid);
        for (const { need, category, word, avoid } of tells) {
          const said = { need, category, word, isThing: avoid, span: sentence, subject: this.#subjectIn(clause) ?? subject };
          const key = `${said.subject ?? ""}|${keyOf(said)}`;
          if (!told.has(key)) told.set(key, said);
        }
      }
    }
    return [...told.values()];
  }

  /** Of two at one place the longer. */
  #found(clause: Words): readonly Found[] {
    const found: Found[] = [];
    for (let at = 0; at < clause.words.length; at++) {
      let best: Found | undefined;
      for (const { need, category, avoid, phrases } of this.#needs) {
        const slips = (clause.words[at]?.length ?? 0) >= MIN_SLIP_LETTERS;
        const length = phrases.list.at(clause.words, at, { slips });
        if (length > (best?.length ?? 0)) best = { need, category, avoid, at, length, word: clause.words.slice(at, at + length).join(" ") };
      }
      if (best === undefined) continue;
      found.push(best);
      at += best.length - 1;
    }
    // "No soy vegano" is no word of beans.
    const isVerb = ({ at, length }: Found, next: Found | undefined) =>
      length === 1 && next !== undefined && !next.avoid && this.#talk.own.within(clause, at, at + 1);
    const unspaced = this.#needs.flatMap(({ need, category, avoid, phrases }): Found[] => {
      const word = phrases.unspacedIn(clause);
      return word === undefined ? [] : [{ need, category, avoid, at: -1, length: 0, word }];
    });
    return [...found.filter((each, index) => !isVerb(each, found[index + 1])), ...unspaced];
  }

  #tells(found: Found, clause: Words, goesOn: boolean): boolean {
    const { harm, avoid, behind, not, unable, over } = this.#talk;
    const isDenied = (at: number) => not.within(clause, at - DENIES_WITHIN, at) || over.within(clause, at - OVER_WITHIN, at);
    if (found.at === -1) return !found.avoid || harm.in(clause) || avoid.in(clause);
    // Spanish "soy" is no bean where nothing is kept away from it.
    const isSmall = found.length === 1 && this.#talk.own.within(clause, found.at, found.at + 1);
    if (isSmall) return avoid.within(clause, found.at - AVOIDS_WITHIN, found.at);
    const harmAt = harm.places(clause).filter((at) => Math.abs(at - found.at) <= HARMS_WITHIN);
    if (harmAt.length > 0) return !harmAt.some(isDenied);
    const next = found.at + found.length;
    if (!found.avoid && unable.within(clause, found.at - AVOIDS_WITHIN, found.at)) return true;
    if (!found.avoid) return !isDenied(found.at) && !(next === clause.words.length - 1 && not.within(clause, next, next + 1));
    if (behind.within(clause, next, next + AVOIDS_WITHIN)) return true;
    return goesOn || avoid.within(clause, found.at - AVOIDS_WITHIN, found.at) || avoid.isSignedIn(clause);
  }

  #asks(clause: Words): boolean {
    return this.#talk.asks.within(clause, 0, FIRST_WORDS);
  }

  /** In a sentence about others: "my neighbour is vegan"; but "we can't take stairs at that place". */
  #isOfOthers(clause: Words, found: readonly Found[]): boolean {
    const { others, own } = this.#talk;
    if (clause.words.length > OTHERS_WITHIN && !found.some(({ at }) => others.within(clause, at - OTHERS_WITHIN, at))) return false;
    if (this.#relations.some(([, names]) => names.in(clause)) && !others.in(clause)) return false;
    const first = clause.words.findIndex((_, at) => own.within(clause, at, at + 1));
    return first === -1 || first >= FIRST_WORDS || others.within(clause, first + 1, first + 1 + FIRST_WORDS);
  }

  #subjectIn(clause: Words): string | null {
    const named = this.#relations.filter(([, names]) => names.in(clause));
    // The dog of "guide dog", or of "盲導犬", is no companion.
    const found = named.length === 0 ? [] : this.#found(clause);
    const beside = clause.words.map((word, index) => (found.some(({ at, length }) => index >= at && index < at + length) ? "" : word));
    const signs = new Words(found.reduce((text, { at, word }) => (at === -1 ? text.replaceAll(folded(word), " ") : text), clause.text));
    const companion = named.find(([, names]) => names.list.in(beside) !== -1 || names.isSignedIn(signs));
    if (companion !== undefined) return `companion:${companion[0]}`;
    return this.#talk.own.in(clause) ? "self" : null;
  }
}

/** What tells two needs apart: their names, and of what is none of the domain's the words. */
export function keyOf({ need, word }: Pick<ToldNeed, "need" | "word">): string {
  return need === "other" ? `other:${folded(word)}` : need;
}

interface Found extends Pick<ToldNeed, "need" | "category" | "word"> {
  readonly avoid: boolean;
  /** -1 where it is of a script without spaces, or a sign. */
  readonly at: number;
  readonly length: number;
}

const LISTED = ["harm", "avoid", "behind", "not", "unable", "over", "own", "asks", "others", "supposed", "brings"] as const;
type Listed = (typeof LISTED)[number];

interface Sentence extends Span {
  readonly text: string;
  readonly asks: boolean;
}

const CLAUSES = /[,;:()–—、，]/u;
const ENDS = new Set([".", "!", "?", "。", "！", "？", "؟", "\n"]);
const ASKS = new Set(["?", "？", "؟"]);

function sentencesOf(text: string): readonly Sentence[] {
  const sentences: Sentence[] = [];
  let start = 0;
  for (let at = 0; at <= text.length; at++) {
    const mark = text[at] ?? "\n";
    if (!ENDS.has(mark)) continue;
    const line = text.slice(start, at);
    const said = line.trim();
    const from = start + line.indexOf(said);
    if (said !== "") sentences.push({ start: from, end: from + said.length, text: said, asks: ASKS.has(mark) });
    start = at + 1;
  }
  return sentences;
}
