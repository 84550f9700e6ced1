import { wordsIn } from "maitred/stand-in";
import type { Clause } from "./clauses.js";
import { english, type Language } from "./language.js";

/** What the guest asks to be remembered, without the asking. */

const WORD = /[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*/gu;

/** "Please remember that …": what follows is a statement, and meant to last. */
export function withoutAsking(clause: Clause): { readonly clause: Clause | null; readonly asked: boolean } {
  const at = english.remember.in(clause.words);
  if (at === -1 || at > 8) return { clause, asked: false };
  let next = at + Math.max(1, english.remember.at(clause.words, at));
  while (english.after_asking.has(clause.words[next])) next++;
  const raw = [...clause.text.matchAll(WORD)][next];
  // "He still can't have egg, remember" asks for what stands before it.
  if (raw === undefined) return { clause: next - at === 1 && at > 1 ? upTo(clause, at) : null, asked: true };
  return {
    clause: { ...clause, text: clause.text.slice(raw.index), start: clause.start + raw.index, words: clause.words.slice(next) },
    asked: true,
  };
}

/** Its first words. */
function upTo(clause: Clause, count: number): Clause {
  const last = [...clause.text.matchAll(WORD)][count - 1];
  const text = last === undefined ? clause.text : clause.text.slice(0, last.index + last[0].length);
  return { ...clause, text, words: clause.words.slice(0, count) };
}

/** "Yes, but my friend has …" answers first. A no may be what is told: "No peanuts". */
const ANSWERS = /^(?:(?:yes|yeah|yep|yup|oh|ok|okay|actually|and|but)[,\s]+)+/iu;

/** What is kept is what is to be remembered, not that it is: "I like aisle seats". "I can't remember names" asks for nothing. */
export function asStated(whole: Clause, language: Language): Clause {
  const lead = ANSWERS.exec(whole.text)?.[0].length ?? 0;
  const text = whole.text.slice(lead);
  const part = lead === 0 ? whole : { ...whole, text, start: whole.start + lead, words: whole.words.slice(-wordsIn(text).length) };
  const { clause, asked } = withoutAsking(part);
  if (!asked || clause === null) return part;
  const before = part.words.slice(0, part.words.length - clause.words.length);
  return language.first.in(before) === -1 ? clause : part;
}
