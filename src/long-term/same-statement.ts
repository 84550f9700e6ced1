import { createHash } from "node:crypto";
import type { Memory } from "../long-term.js";
import type { Owner } from "../owner.js";

/**
 * When two statements say the same. Deliberately narrow: statements that differ in a number, a negation, or in a word
 * that each has and the other lacks ("aisle" and "window") are never the same; one may only be the other with little added.
 */
export interface Comparable extends Pick<Memory, "text" | "category" | "aspect" | "subject"> {}

/** Part of the words of the longer text that the shorter one must have. */
const MIN_CONTAINED = 0.75;

/** Say that something is liked, had or usual: they don't tell two statements apart. */
const WEAK = new Set(
  "a an the of for in on at to with and or is are be has have having usually normally typically generally mostly often likes like loves love prefers prefer enjoys enjoy wants want needs need requires require books book takes take kind kinds type types really very much please always their his her my our they he she i we".split(
    " ",
  ),
);
/** Turn a statement round, in the languages that the extractors know. */
const CONTRARY = new Set(
  "no not never without dislikes dislike hates hate avoids avoid except neither nor cannot cant doesnt dont isnt isn aren don doesn won wouldn nothing nobody less fewer nicht kein keine keinen nie ohne pas jamais sans sin nunca non mai senza nem nunca sem niet geen nooit".split(
    " ",
  ),
);
const NUMBER = /\p{N}/u;
const NUMBER_WORDS = new Set(
  "one two three four five six seven eight nine ten eleven twelve first second third once twice half both single double".split(" "),
);
const segmenter = new Intl.Segmenter("und", { granularity: "word" });

/** Lower case, no marks, one space for all that is neither letter nor digit. The same on every machine. */
export function normalised(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .normalize("NFKC")
    .toLowerCase()
    .replace(/['’]/gu, "")
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** SHA-256 of owner and normalised text: what a tombstone keeps of a text. */
export function textHash(owner: Owner, text: string): string {
  return createHash("sha256")
    .update(`${owner}\n${normalised(text)}`)
    .digest("hex");
}

export function saySame(a: Comparable, b: Comparable): boolean {
  if (!sameSubject(a, b) || a.category !== b.category) return false;
  if (normalised(a.text) === normalised(b.text)) return true;
  return aspectsAgree(a, b) && contained(a.text, b.text) >= MIN_CONTAINED;
}

export function sameSubject(a: Pick<Memory, "subject">, b: Pick<Memory, "subject">): boolean {
  return normalised(a.subject) === normalised(b.subject);
}

/** An aspect that is not named may be any. */
export function aspectsAgree(a: Comparable, b: Comparable): boolean {
  const [left, right] = [normalised(a.aspect), normalised(b.aspect)];
  return left === right || left === "" || right === "";
}

/**
 * How much of the longer text the shorter one has, 0 to 1; 0 when each has words that the other lacks, or when a number
 * or a negation stands in one of them alone.
 */
export function contained(a: string, b: string): number {
  const [left, right] = [tokens(a), tokens(b)];
  const [small, large] = left.size <= right.size ? [left, right] : [right, left];
  if (small.size === 0) return 0;
  for (const token of small) if (!large.has(token)) return 0;
  for (const token of large) if (!small.has(token) && tellsApart(token)) return 0;
  return small.size / large.size;
}

/** Two statements share a word that carries meaning, and no number or negation stands in one alone. */
export function overlap(a: string, b: string): boolean {
  const [left, right] = [tokens(a), tokens(b)];
  const differing = [...left].filter((token) => !right.has(token)).concat([...right].filter((token) => !left.has(token)));
  return [...left].some((token) => right.has(token)) && !differing.some(tellsApart);
}

function tellsApart(token: string): boolean {
  return CONTRARY.has(token) || NUMBER.test(token) || NUMBER_WORDS.has(token);
}

function tokens(text: string): Set<string> {
  const found = new Set<string>();
  for (const part of segmenter.segment(normalised(text))) {
    if (!part.isWordLike || WEAK.has(part.segment)) continue;
    found.add(tellsApart(part.segment) ? part.segment : stem(part.segment));
  }
  return found;
}

/** English plurals alone: what is stemmed harder would merge what differs. */
function stem(word: string): string {
  return word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}
