import { contentWords, say, sharedPart } from "@maitred/offline";
import type { ScriptMove, ScriptView } from "maitred";

const REFERENCE = /^- Ref #\d+ \([^()]*said by (?<who>the user|you)\): (?<text>.*)$/;

/** Answers a question from what the guest said themselves, here or before: the sentence that shares most of its words. */
export function fact(view: ScriptView): ScriptMove {
  const references = view.references.split("\n").flatMap((line) => {
    const { who, text } = REFERENCE.exec(line)?.groups ?? {};
    return who === "the user" && text !== undefined ? [text] : [];
  });
  // A command tells nothing ("forget that I live in Ghent").
  const here = closest(view.message, [view.summary, ...references, ...view.window.map(({ told }) => told)]);
  const memory = closest(
    view.message,
    view.memories.map(({ text }) => text),
  );
  // Of what was said some is over; what is remembered holds.
  const wanted = contentWords(view.message);
  const holds = memory !== undefined && (here === undefined || sharedPart(wanted, memory) >= sharedPart(wanted, here));
  if (here !== undefined && !holds) return say(`You told me: “${here}”`);
  if (memory !== undefined) return say(`I remember about you: ${memory}.`);
  return say("I don't know that. If you tell me, I can go by it.");
}

/** Of all sentences the one that holds most of the question's words, at least half of them; later ones win ties. Never a question. */
function closest(question: string, texts: readonly string[]): string | undefined {
  const wanted = contentWords(question);
  let best = { sentence: "", score: 0.5 };
  for (const sentence of texts.flatMap((text) => text.split(/\n|(?<=[.!?…])\s+/u))) {
    const score = sentence.trimEnd().endsWith("?") ? 0 : sharedPart(wanted, sentence);
    if (score >= best.score) best = { sentence, score };
  }
  return best.sentence === "" ? undefined : best.sentence.replace(/^[-*•]\s*/, "");
}
