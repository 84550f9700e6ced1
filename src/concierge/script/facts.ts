import { isStopWord } from "../../platform/language/stop-words.js";
import type { ScriptView } from "../../ports/offline-script.js";
import { wordSet } from "../phrases.js";
import { plain } from "../vocabulary.js";

/** Answers a question about what was said, from what a model would have before it: the sentence that shares the question's words. */

const ASKING = wordSet("asking_words");

export function contentWords(text: string): readonly string[] {
  const words = plain(text).match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words.filter((word) => word.length > 1 && !ASKING.has(word) && !isStopWord(word, "english")))];
}

function alike(a: string, b: string): boolean {
  return a === b || (Math.min(a.length, b.length) >= 4 && a.slice(0, 4) === b.slice(0, 4) && Math.abs(a.length - b.length) <= 4);
}

interface Found {
  readonly sentence: string;
  readonly score: number;
}

const REFERENCE = /^- Ref #\d+ \([^()]*said by (?<who>the user|you)\): (?<text>.*)$/;

/** What the guest said themselves; what they were answered is no source for it. */
function ownReferences(references: string): readonly string[] {
  return references.split("\n").flatMap((line) => {
    const { who, text } = REFERENCE.exec(line)?.groups ?? {};
    return who === "the user" && text !== undefined ? [text] : [];
  });
}

/** The sentence that holds most of the question's words, at least half of them; later ones win ties. */
export function factFor(question: string, view: ScriptView): string | undefined {
  const wanted = contentWords(question);
  if (wanted.length === 0) return undefined;
  // A command tells nothing ("forget that I live in Ghent"); what is not to be kept holds in this conversation.
  const said = view.window.map((round) => round.told || round.user);
  const texts = [view.summary, ...ownReferences(view.references), ...said];
  let best: Found | undefined;
  for (const text of texts)
    for (const line of text.split("\n"))
      for (const sentence of line.split(/(?<=[.!?…])\s+/u)) {
        const score = sharedPart(wanted, sentence);
        if (score >= 0.5 && score >= (best?.score ?? 0)) best = { sentence, score };
      }
  return best?.sentence.replace(/^[-*•]\s*/, "");
}

/** The part of the wanted words that a sentence holds, 0 to 1. A question that was asked before is no answer: 0. */
export function sharedPart(wanted: readonly string[], sentence: string): number {
  if (wanted.length === 0 || /\?\s*$/.test(sentence)) return 0;
  const held = contentWords(sentence);
  return wanted.filter((word) => held.some((other) => alike(word, other))).length / wanted.length;
}
