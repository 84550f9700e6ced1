import { z } from "zod";
import type { Observation, ScriptCall, ScriptMove, ScriptView } from "../../ports/offline-script.js";
import { contentWords } from "../script/facts.js";
import { memoryChangeReply } from "./replies.js";

const CHANGES: ReadonlySet<string> = new Set(["forget", "no_longer_true", "remember"]);
const whichSchema = z.looseObject({
  status: z.literal("which_one"),
  memories: z.array(z.looseObject({ memory_id: z.string(), text: z.string() })).min(1),
});
const inputSchema = z.looseObject({ what: z.string(), memory_id: z.undefined().optional() });

/**
 * Makes the changes; where a tool gives several that could be meant and the words name one of them, that one. Then says what came
 * of it.
 */
export function changeMemories(view: ScriptView, calls: readonly ScriptCall[]): ScriptMove {
  const seen = view.observations.filter(({ name }) => CHANGES.has(name));
  if (seen.length === 0) {
    const known = calls.filter(({ name }) => view.tools.has(name));
    return known.length === 0 ? { type: "say", text: "I can't do that here." } : { type: "call", calls: known };
  }
  const chosen = new Map(seen.map((observation) => [observation, choiceIn(observation)]));
  const next = [...chosen.values()].filter((call) => call !== null);
  const done = seen.some(({ input }) => typeof input === "object" && input !== null && "memory_id" in input);
  if (next.length > 0 && !done && next.every(({ name }) => view.tools.has(name))) return { type: "call", calls: next };
  const told = seen.filter((observation) => !done || chosen.get(observation) === null);
  return { type: "say", text: told.map(memoryChangeReply).join("\n") };
}

/** The same call with the id of the one memory that has most of the words, and at least half of them. */
function choiceIn({ name, input, output }: Observation): ScriptCall | null {
  const asked = whichSchema.safeParse(output);
  const said = inputSchema.safeParse(input);
  if (!asked.success || !said.success) return null;
  const wanted = contentWords(said.data.what);
  const scored = asked.data.memories.map(({ memory_id, text }) => {
    const held = contentWords(text);
    return { memory_id, part: wanted.filter((word) => held.includes(word)).length / Math.max(1, wanted.length) };
  });
  const best = Math.max(...scored.map(({ part }) => part));
  const [only, another] = scored.filter(({ part }) => part === best);
  if (only === undefined || another !== undefined || best < 0.5) return null;
  return { name, arguments: { ...said.data, memory_id: only.memory_id } as ScriptCall["arguments"] };
}
