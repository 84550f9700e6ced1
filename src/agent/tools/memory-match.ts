import type { Memory } from "../../long-term.js";

/** Words that say how one stands to a thing, not which thing it is. */
const EMPTY_WORDS = new Set(
  "i'm i've i'd me my mine we our you your the a an and or of to in on at for with where when who how that this thing stuff it is are was be have has had do does did not no any about what said told remember forget like likes love loves prefer prefers want wants need needs usually always never more longer still true ich mein meine dass der die das ein eine und oder mag nicht mehr je mon ma mes que le la les un une et aime plus mi mis el los una y me gusta prefiero io mio mia il che piace".split(
    " ",
  ),
);

function contentWords(text: string): readonly string[] {
  const plain = text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .replace(/[\u2018\u2019]/g, "'")
    .toLowerCase();
  const words = plain.match(/[\p{L}\p{N}][\p{L}\p{N}'-]*/gu) ?? [];
  return [...new Set(words.filter((word) => !EMPTY_WORDS.has(word) && (word.length > 1 || /\p{N}/u.test(word))))];
}

/** The same word in another form: concert, concerts; vegetarian, vegetarisch. */
function alike(a: string, b: string): boolean {
  if (a === b) return true;
  const shared = Math.min(a.length, b.length);
  return shared >= 4 && Math.abs(a.length - b.length) <= 3 && a.slice(0, shared - 1) === b.slice(0, shared - 1);
}

/** The part of the words of `what` that the memory holds, in its text, aspect, category or quote: 0 to 1. */
export function overlap(what: string, memory: Memory): number {
  const wanted = contentWords(what);
  if (wanted.length === 0) return 0;
  const held = contentWords(
    [memory.text, memory.aspect, memory.category.replaceAll("_", " "), memory.subject, memory.source?.quote ?? ""].join(" "),
  );
  return wanted.filter((word) => held.some((other) => alike(word, other))).length / wanted.length;
}

export type Match =
  | { readonly kind: "one"; readonly memory: Memory }
  | { readonly kind: "several"; readonly memories: readonly Memory[] }
  | { readonly kind: "none"; readonly near: readonly Memory[] };

/** Which memory is meant. Only a memory that holds at least half of the words, and more of them than any other, is the one. */
export function matchMemory(what: string, candidates: readonly Memory[]): Match {
  const scored = candidates.map((memory) => ({ memory, score: overlap(what, memory) }));
  const best = Math.max(0, ...scored.map(({ score }) => score));
  if (best < 0.5) return { kind: "none", near: candidates.slice(0, 5) };
  const top = scored.filter(({ score }) => score === best).map(({ memory }) => memory);
  const [first, second] = top;
  return first !== undefined && second === undefined ? { kind: "one", memory: first } : { kind: "several", memories: top };
}
