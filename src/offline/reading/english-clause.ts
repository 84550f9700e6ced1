import type compromise from "compromise/two";
import { loadedLater } from "../../platform/loaded-later.js";
import { folded } from "../../platform/phrase-list.js";
import { english, type Language, relationAt, SPELT } from "./language.js";

const nlp = loadedLater<typeof compromise>("compromise/two");

/** An English clause as subject, verb and the rest, by the tags of `compromise`. */

interface Token {
  /** As it stands in the message, with what follows it; empty for the second half of a contraction. */
  readonly raw: string;
  /** Folded; of a contraction what it stands for. */
  readonly word: string;
  readonly tags: ReadonlySet<string>;
}

/** Whom a statement is about. */
export type Who =
  | { readonly kind: "self" }
  | { readonly kind: "companion"; readonly relation: string; readonly name: string | null; readonly stranger?: boolean }
  /** "He", "she": whoever was named last. */
  | { readonly kind: "pronoun" }
  /** The clause names nobody: "allergic to nuts". */
  | { readonly kind: "nobody" }
  | { readonly kind: "other" };

export interface EnglishClause {
  readonly who: Who;
  /** "my budget", "my limit": what of theirs the clause is about. Empty where it is about them. */
  readonly thing: string;
  readonly adverbs: readonly string[];
  readonly negated: boolean;
  readonly auxiliaries: readonly string[];
  /** Its base form, as far as taking off an ending gives it; empty where the clause has none. */
  readonly verb: string;
  readonly past: boolean;
  /** What follows the verb, as it stands in the message, without polite words at its end. */
  readonly rest: string;
  readonly restWords: readonly string[];
  /** From the verb on, in the third person: "Is allergic to nuts", "Never eats fish". */
  readonly thirdPerson: string;
  readonly words: readonly string[];
}

interface Term {
  readonly text: string;
  readonly pre: string;
  readonly post: string;
  readonly normal: string;
  readonly implicit?: string;
  readonly tags: readonly string[];
}

const ALSO = new Set(["much", "all", "still", "also", "both", "really"]);

export function parseEnglish(text: string, language: Language): EnglishClause {
  const tokens = tokensOf(text);
  let at = 0;
  while (at < tokens.length - 1 && isFiller(tokens, at)) at++;
  const subject = subjectOf(tokens, at, language);
  at = subject.end;
  const adverbs: string[] = [];
  const auxiliaries: string[] = [];
  let negated = false;
  let verb = "";
  let past = false;
  for (; at < tokens.length; at++) {
    const token = tokens[at] as Token;
    const next = tokens[at + 1];
    if (token.word === "not" || token.word === "never") {
      negated = true;
      if (token.word === "never") adverbs.push("never");
    } else if (
      (english.auxiliaries.is(token.word) || english.modals.is(token.word) || english.be.is(token.word)) &&
      (next === undefined || leadsOn(tokens, at))
    ) {
      auxiliaries.push(token.word);
      past ||= ["was", "were", "did", "had"].includes(token.word);
    } else if (token.tags.has("Adverb") || english.seldom.has(token.word) || ALSO.has(token.word)) {
      adverbs.push(token.word);
    } else {
      const bare = baseOf(token.word);
      const known =
        english.take.has(bare) ||
        english.states.has(bare) ||
        language.like.has(bare) ||
        language.dislike.has(bare) ||
        token.tags.has("Verb");
      const after = auxiliaries.at(-1);
      // "I've got a card": I have one.
      if (token.word === "got" && (after === "have" || after === "has")) {
        at++;
        break;
      }
      if (english.be.is(after ?? "") && !token.tags.has("Gerund")) break;
      if (known && (subject.who.kind !== "nobody" || adverbs.length > 0 || negated || isTaste(bare, language))) {
        verb = bare;
        // "I have turned vegetarian" holds now.
        const perfect = ["have", "has"].includes(after ?? "");
        past ||= token.tags.has("PastTense") && !perfect && !["book", "put"].includes(bare) && token.word !== "got";
        at++;
      }
      break;
    }
  }
  const isBe = verb === "" && auxiliaries.some((word) => english.be.is(word));
  const end = tailOf(tokens, at);
  const rest = rawOf(tokens.slice(at, end));
  return {
    who: subject.who,
    thing: subject.thing,
    adverbs,
    negated,
    auxiliaries,
    verb: isBe ? "be" : verb === "" && auxiliaries.some((word) => ["have", "has"].includes(word)) ? "have" : verb,
    past,
    rest,
    restWords: tokens.slice(at, end).map(({ word }) => word),
    thirdPerson: thirdPerson({ auxiliaries, adverbs, negated, verb, isBe }, rest),
    words: tokens.map(({ word }) => word),
  };
}

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  const words = text.replace(/(?<![\p{L}'’])\p{L}+(?![\p{L}'’])/gu, (word) => SPELT.get(word.toLowerCase()) ?? word);
  const spelt = words.replace(/[’‘]/gu, "'");
  const sentences = nlp()(spelt).json({ terms: { normal: true, implicit: true, tags: true } }) as readonly { terms: readonly Term[] }[];
  for (const { terms } of sentences)
    for (const { text: raw, pre, post, normal, implicit, tags } of terms) {
      const word = folded(implicit !== undefined && implicit !== "" ? implicit : normal);
      if (word !== "") tokens.push({ raw: `${pre}${raw}${post}`, word, tags: new Set(tags) });
    }
  return tokens;
}

function isFiller(tokens: readonly Token[], at: number): boolean {
  const { word } = tokens[at] as Token;
  if (word === "me" && tokens[at + 1] !== undefined && !/[,:]\s*$/u.test(tokens[at]?.raw ?? "")) return false;
  // "Normally I want …"
  if (english.seldom.is(word) && ["i", "we"].includes(tokens[at + 1]?.word ?? "")) return true;
  return english.fillers.is(word);
}

function subjectOf(tokens: readonly Token[], from: number, language: Language): { who: Who; thing: string; end: number } {
  const words = tokens.map(({ word }) => word.replace(/'s$/u, ""));
  // "It's my son who has the allergy."
  if (words[from] === "it" && words[from + 4] === "who") {
    const meant = subjectOf(tokens, from + 2, language);
    return meant.who.kind === "companion" ? { ...meant, end: from + 5 } : { ...meant, who: { kind: "other" } };
  }
  const first = words[from] ?? "";
  if (first === "i" || first === "we") {
    const both = words[from + 1] === "both" || words[from + 1] === "all" ? 1 : 0;
    return { who: { kind: "self" }, thing: "", end: from + 1 + both };
  }
  if (language.pronouns.has(first)) return { who: { kind: "pronoun" }, thing: "", end: from + 1 };
  // "The wife": nobody else's.
  const mine = language.mine.has(first) || (first === "the" && english.household.is(words[from + 1] ?? ""));
  const start = mine ? from + 1 : from;
  // "My little daughter": one word may stand between.
  for (const at of mine && words[start] !== "late" ? [start, start + 1] : [start]) {
    const relation = relationAt(words, at);
    if (relation === undefined) continue;
    const end = at + relation.length;
    const name = tokens[end];
    const named = name !== undefined && /^\p{Lu}/u.test(name.raw) && !name.tags.has("Verb");
    if (!mine && tokens[end]?.tags.has("Verb") !== true && !named) break;
    const nameEnd =
      named && /^\p{Lu}/u.test(tokens[end + 1]?.raw ?? "") && !(tokens[end + 1]?.tags.has("Verb") ?? true) ? end + 2 : end + 1;
    return {
      who: {
        kind: "companion",
        relation: relation.relation,
        name: named ? rawOf(tokens.slice(end, nameEnd)).replace(/[^\p{L}]+$/u, "") : null,
      },
      thing: "",
      end: named ? nameEnd : end,
    };
  }
  if (mine) {
    if (words.slice(start, start + 3).some((word) => english.bystanders.has(word) || word === "late"))
      return { who: { kind: "other" }, thing: "", end: start };
    return { who: { kind: "self" }, thing: words[start] ?? "", end: start + 1 };
  }
  // "Pelle can't have milk": whoever that is.
  const called = tokens[from];
  const does = words[from + 1] ?? "";
  if (called !== undefined && /^\p{Lu}\p{Ll}/u.test(called.raw) && (/^(?:can|has|does)$/u.test(does) || words[from + 2] === "allergic"))
    return { who: { kind: "companion", relation: rawOf([called]), name: null, stranger: true }, thing: "", end: from + 1 };
  if (language.others.has(first)) return { who: { kind: "other" }, thing: "", end: from };
  return { who: { kind: "nobody" }, thing: "", end: from };
}

/** An auxiliary is one where a verb, an adverb or a negation follows; "be" always is, as what follows it is told of the subject. */
function leadsOn(tokens: readonly Token[], at: number): boolean {
  const { word = "" } = tokens[at] ?? {};
  const next = tokens[at + 1];
  if (english.be.is(word) || english.modals.is(word)) return true;
  if (next === undefined) return false;
  return (
    next.word === "not" ||
    next.word === "never" ||
    next.word === "been" ||
    next.word === "got" ||
    (next.tags.has("Verb") && !next.tags.has("Gerund")) ||
    (next.tags.has("Adverb") && tokens[at + 2]?.tags.has("Verb") === true)
  );
}

function isTaste(verb: string, language: Language): boolean {
  return language.like.has(verb) || language.dislike.has(verb);
}

export function baseOf(word: string): string {
  for (const base of [
    word,
    word.replace(/ies$/u, "y"),
    word.replace(/es$/u, ""),
    word.replace(/s$/u, ""),
    word.replace(/ing$/u, ""),
    word.replace(/ing$/u, "e"),
  ])
    if (english.take.is(base) || english.states.is(base)) return base;
  return word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}

function tailOf(tokens: readonly Token[], from: number): number {
  let end = tokens.length;
  while (end > from + 1 && english.tails.has(tokens[end - 1]?.word)) end--;
  return end;
}

function rawOf(tokens: readonly Token[]): string {
  return tokens
    .map(({ raw }) => raw)
    .join("")
    .replace(/\s+/gu, " ")
    .replace(/[\s.!,;:?]+$/u, "")
    .trim();
}

function thirdPerson(
  said: Pick<EnglishClause, "auxiliaries" | "adverbs" | "negated" | "verb"> & { readonly isBe: boolean },
  rest: string,
): string {
  const { auxiliaries, adverbs, negated, verb, isBe } = said;
  const usual = adverbs.filter((word) => english.seldom.has(word) && word !== "never");
  const never = adverbs.includes("never");
  const modal = auxiliaries.find((word) => english.modals.is(word));
  const words: string[] = [];
  if (auxiliaries.includes("would") && adverbs.includes("rather")) words.push("would", ...usual, "rather", verb);
  else if (isBe) words.push("is", ...(never ? ["never"] : negated ? ["not"] : []), ...usual);
  else if (modal !== undefined && negated) words.push(modal === "can" ? "cannot" : `${modal} not`, ...usual, verb);
  else if (never) words.push("never", withS(verb));
  else if (negated) words.push("does not", ...usual, verb);
  else if (verb !== "") words.push(...usual, withS(verb));
  else words.push(...usual, auxiliaries.length > 0 ? "has" : "");
  return capital(`${words.filter((word) => word !== "").join(" ")} ${rest}`.trim().replace(/\b(?:my|our) /gu, "their "));
}

function withS(verb: string): string {
  if (verb === "") return "";
  if (verb === "have") return "has";
  if (/(?:s|sh|ch|x|z|o)$/u.test(verb)) return `${verb}es`;
  return /[^aeiou]y$/u.test(verb) ? `${verb.slice(0, -1)}ies` : `${verb}s`;
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
