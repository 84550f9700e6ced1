import type { ScriptView, WaitingLine } from "../../ports/offline-script.js";
import { readReply } from "./reply.js";

/** What waits for the guest's word: asked about at the end of an answer, and settled by a plain yes or no in the next message. */

export interface SettledAnswer {
  readonly memory_id: string;
  readonly answer: "yes" | "no";
  /** The guest's words. */
  readonly quote: string;
}

/** Longer messages say something else too. */
const MAX_ANSWER_WORDS = 6;
/** How what waits is asked about. */
export const question = (text: string) => `Shall I keep “${text}”?`;

/** What the message settles: only what the answer before it asked about, and only by a plain yes or no. */
export function settledBy(view: ScriptView): readonly SettledAnswer[] {
  const asked = askedIn(view.window.at(-1)?.assistant ?? "", view.waiting);
  if (asked.length === 0 || view.commands.length > 0 || view.message.trim().split(/\s+/).length > MAX_ANSWER_WORDS) return [];
  const { yes, no, order } = readReply(view.message);
  if (order || yes === no) return [];
  return asked.map(({ id }) => ({ memory_id: id, answer: yes ? "yes" : "no", quote: view.message.trim() }));
}

function askedIn(answer: string, waiting: readonly WaitingLine[]): readonly WaitingLine[] {
  return waiting.filter(({ text }) => answer.includes(question(text)));
}
