import type { Observation, ScriptCall, ScriptMove, ScriptView } from "../../ports/offline-script.js";

/** What the script can do next. */

export const say = (text: string): ScriptMove => ({ type: "say", text });

/** Calls a tool, then says what came of it. */
export function callThen(view: ScriptView, call: ScriptCall, reply: (seen: Observation) => string): ScriptMove {
  const seen = view.observations.findLast(({ name }) => name === call.name);
  if (seen !== undefined) return say(reply(seen));
  if (!view.tools.has(call.name)) return say("I can't do that here.");
  return { type: "call", calls: [call] };
}

export function isFailure(observation: Observation): boolean {
  return typeof observation.output === "object" && observation.output !== null && "error" in observation.output;
}
