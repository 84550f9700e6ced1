import type { ScriptMove, ScriptView } from "../../ports/offline-script.js";
import { question } from "../script/settle.js";

const MAX_ASKED = 2;

/** An answer that asks nothing else asks about what waits, each once in the window. */
export function asking(move: ScriptMove, view: ScriptView): ScriptMove {
  if (move.type !== "say" || move.text.trimEnd().endsWith("?") || !view.tools.has("settle_memory")) return move;
  const before = view.window.map(({ assistant }) => assistant).join("\n");
  const already = view.observations.some(({ name }) => name === "settle_memory");
  const open = already ? [] : view.waiting.filter(({ text }) => !before.includes(question(text)));
  if (open.length === 0) return move;
  return {
    type: "say",
    text: `${move.text}\n\n${open
      .slice(0, MAX_ASKED)
      .map(({ text }) => question(text))
      .join(" ")}`,
  };
}
