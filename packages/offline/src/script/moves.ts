import type { JsonValue, Observation, ScriptCall, ScriptMove, ScriptView } from "maitred";

/** What the script can do next. */

/** To a message that says of a cancellation that there is none. */
export const NOTHING_CANCELLED = "Understood, nothing is cancelled.";

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

/** What a tool box tells a model of arguments is for nobody else. */
const OF_ARGUMENTS = "The arguments are not valid";

/** What a tool that failed says to people. */
export function failureOf({ output }: Observation): string | undefined {
  if (typeof output !== "object" || output === null || !("error" in output)) return undefined;
  const { error } = output;
  if (typeof error === "string" && error.startsWith(OF_ARGUMENTS)) return "That did not work. Please say it in other words.";
  return typeof error === "string" ? `That did not work: ${error}` : "That did not work.";
}
