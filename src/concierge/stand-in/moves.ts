import type { JsonValue } from "../../domain/session.js";
import type { Observation, ScriptCall, ScriptMove, ScriptView } from "../../ports/offline-script.js";

/** What the script can do next. */

export const say = (text: string): ScriptMove => ({ type: "say", text });

/** Calls a tool, then says what came of it: of a failure, why, in the tool's own words. */
export function callThen(
  view: ScriptView,
  { name, arguments: given }: { readonly name: string; readonly arguments: ScriptCall["arguments"] },
  reply: (output: JsonValue) => string,
): ScriptMove {
  const seen = view.observations.findLast((each) => each.name === name);
  if (seen !== undefined) return say(failureOf(seen) ?? reply(seen.output));
  return view.tools.has(name) ? { type: "call", calls: [{ name, arguments: given }] } : say("I can't do that here.");
}

/** What a tool that failed says to people. */
export function failureOf({ output }: Observation): string | undefined {
  if (typeof output !== "object" || output === null || !("error" in output)) return undefined;
  return typeof output.error === "string" ? `That did not work: ${output.error}` : "That did not work.";
}
