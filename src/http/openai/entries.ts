import type { GivenMessage, GivenStep } from "../../domain/given-messages.js";
import type { JsonValue } from "../../domain/session.js";
import { invalidField } from "../../platform/errors.js";
import type { CallResult } from "../../ports/application.js";
import { type Content, outputOf, textOf } from "./content.js";
import { MAX_CHARS } from "./going-on.js";

/** What a conversation consists of as a client sends it, whichever of the two APIs it came by. */

/** All that a client's prompts may hold together, in characters. */
const MAX_PROMPT_CHARS = 32_000;
/** Of what a client's tool gave elsewhere: as much as is kept of one that gives it here, in characters of JSON. */
const MAX_OUTPUT_CHARS = 16_000;

/** `pointer`: where its content stands in the body. */
export type Entry =
  | { readonly kind: "prompt" | "user" | "assistant"; readonly content: Content; readonly pointer: string }
  | { readonly kind: "call"; readonly callId: string; readonly name: string; readonly arguments: string; readonly pointer: string }
  | { readonly kind: "result"; readonly result: CallResult; readonly pointer: string }
  | { readonly kind: "other"; readonly pointer: string };

export function isUsers(entry: Entry): entry is Extract<Entry, { readonly content: Content }> {
  return entry.kind === "user";
}

/** The client's prompts, one behind the other, as they stand. @throws INVALID_REQUEST where together they are too long */
export function promptIn(entries: readonly Entry[]): string | undefined {
  let prompt: string | undefined;
  for (const entry of entries) {
    const text = entry.kind === "prompt" ? textOf(entry.content) : "";
    if (text.trim() === "") continue;
    prompt = prompt === undefined ? text : `${prompt}\n\n${text}`;
    if (prompt.length > MAX_PROMPT_CHARS) throw invalidField(entry.pointer, `prompts of more than ${MAX_PROMPT_CHARS} characters together`);
  }
  return prompt;
}

/** What was said, with the calls of tools before it and what came of them. Of calls without an answer behind them nothing is left. */
export function givenIn(entries: readonly Entry[]): GivenMessage[] {
  const messages: GivenMessage[] = [];
  const calls = new Map<string, Pick<GivenStep, "name" | "input">>();
  let steps: GivenStep[] = [];
  for (const entry of entries) {
    if (entry.kind === "call") calls.set(entry.callId, { name: entry.name, input: outputOf(entry.arguments) });
    else if (entry.kind === "result") {
      const call = calls.get(entry.result.callId);
      if (call !== undefined) steps.push({ ...call, output: bounded(entry.result.output) });
    } else if (entry.kind === "user" || entry.kind === "assistant") {
      if (entry.kind === "user") steps = [];
      const content = textOf(entry.content).slice(0, MAX_CHARS[entry.kind]);
      if (content.trim() === "") continue;
      messages.push({ role: entry.kind, content, ...(steps.length > 0 && { steps }) });
      steps = [];
    }
  }
  return messages;
}

function bounded(output: JsonValue): JsonValue {
  const text = typeof output === "string" ? output : JSON.stringify(output);
  return text.length <= MAX_OUTPUT_CHARS ? output : text.slice(0, MAX_OUTPUT_CHARS);
}
