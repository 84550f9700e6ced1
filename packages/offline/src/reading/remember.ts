import { wordsIn } from "maitred/stand-in";
import type { Clause } from "./clauses.js";
import { english, type Language } from "./language.js";

/** What the guest asks to be remembered, without the asking. */

/** "Please remember that …": what follows is a statement, and meant to last. */
export function withoutAsking(clause: Clause): { readonly clause: Clause | null; readonly asked: boolean } {
  const at = english.remember.in(clause.words);
  if (at === -1 || at > 8) return { clause, asked: false };
  let next = at + Math.max(1, english.remember.at(clause.words, at));
  while (english.after_asking.has(clause.words[next])) next++;
  const raw = [...clause.text.matchAll(/[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*/gu)][next];
  if (raw === undefined) return { clause: null, asked: true };
  return {
    clause: { ...clause, text: clause.text.slice(raw.index), start: clause.start + raw.index, words: clause.words.slice(next) },
    asked: true,
  };
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
