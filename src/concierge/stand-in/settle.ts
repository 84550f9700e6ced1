import type { ScriptMove, ScriptView } from "../../ports/offline-script.js";
import { readReply } from "../script/reply.js";
import { callThen } from "./moves.js";

/** What waits for the guest's word: asked about at the end of an answer, and settled by a plain yes or no in the next message. */

const MAX_ASKED = 2;
/** Longer messages say something else too. */
const MAX_ANSWER_WORDS = 6;
const question = (text: string) => `Shall I keep “${text}”?`;

/** Settles only what the answer before it asked about, and only by a plain yes or no. */
export function settle(view: ScriptView): ScriptMove | undefined {
  const answered = view.window.at(-1)?.assistant ?? "";
  const asked = view.waiting.filter(({ text }) => answered.includes(question(text)));
  const quote = view.message.trim();
  const { yes, no, order } = readReply(quote);
  const settles = asked.length > 0 && view.commands.length === 0 && quote.split(/\s+/).length <= MAX_ANSWER_WORDS && yes !== no && !order;
  if (!settles) return undefined;
  const answers = asked.map(({ id }) => ({ memory_id: id, answer: yes ? "yes" : "no", quote }));
  return callThen(view, { name: "settle_memory", arguments: { answers } }, () =>
    yes ? "Thank you. I keep it." : "Understood. I don't keep it.",
  );
}

/** An answer that asks nothing else asks about what waits, each once in the window. */
export function asking(move: ScriptMove, view: ScriptView): ScriptMove {
  const mayAsk = view.tools.has("settle_memory") && !view.observations.some(({ name }) => name === "settle_memory");
  if (move.type !== "say" || move.text.trimEnd().endsWith("?") || !mayAsk) return move;
  const before = view.window.map(({ assistant }) => assistant).join("\n");
  const open = view.waiting.map(({ text }) => question(text)).filter((asked) => !before.includes(asked));
  return open.length === 0 ? move : { type: "say", text: `${move.text}\n\n${open.slice(0, MAX_ASKED).join(" ")}` };
}
