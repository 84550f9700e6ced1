import type { ScriptMove, ScriptView } from "../../ports/offline-script.js";
import { factFor } from "../script/facts.js";
import { say } from "./moves.js";
import * as replies from "./replies.js";

/** Answers from what was said. */

export function fact(view: ScriptView): ScriptMove {
  const here = factFor(view.message, view);
  if (here !== undefined) return say(`You told me: “${here}”`);
  const memory = factFor(view.message, {
    ...view,
    summary: view.memories.map(({ text }) => `${text}.`).join("\n"),
    references: "",
    window: [],
  });
  if (memory !== undefined) return say(`I remember about you: ${memory}`);
  const looked = view.observations.findLast(({ name }) => name === "search_history");
  if (looked === undefined && view.tools.has("search_history"))
    return { type: "call", calls: [{ name: "search_history", arguments: { query: view.message.slice(0, 500) } }] };
  return say((looked && replies.historyReply(looked.output, view.message)) ?? "I don't know that. If you tell me, I can go by it.");
}
