import { parsedJson } from "../../platform/json.js";
import type { ModelMessage, ModelRequest, ModelToolCall, ToolSpec } from "../../ports/chat-model.js";
import type { Capabilities } from "./capabilities.js";

/** What a caller sent, as every endpoint takes it. */
export interface Shaped {
  /** All that may stand first; the empty string where there is none. */
  readonly system: string;
  /** Users and assistants take turns, calls are followed by their results, and it begins with a user. */
  readonly messages: readonly Exclude<ModelMessage, { role: "system" }>[];
  /** None where the endpoint takes none. */
  readonly tools: readonly ToolSpec[];
  /** Of the answer; undefined where there is no limit, or the endpoint takes none. */
  readonly maxTokens: number | undefined;
}

type Said = Shaped["messages"][number];

const NO_TOOLS = [
  "You have no tools here: you can't search, look anything up, book, change, save or remember anything.",
  "Where that would be needed, say so plainly, and never pretend that it was done.",
].join(" ");
const NO_MORE_CALLS = "(No more tool calls now: answer with what there is.)";

/**
 * System text first and in one message: what comes later in the conversation goes with the next user message. Neighbours of one role become
 * one. Where the model takes no tools, calls and results are told in words. Arguments that are no JSON object become `{}`.
 */
export function shaped(request: ModelRequest, known: Capabilities): Shaped {
  const maxTokens = known.tokenField === "none" ? undefined : request.maxOutputTokens;
  return { ...shapedMessages(request, known), tools: known.tools ? (request.tools ?? []) : [], maxTokens };
}

function shapedMessages(request: ModelRequest, known: Capabilities): Pick<Shaped, "system" | "messages"> {
  const head: string[] = [];
  const said: Said[] = [];
  let aside: string[] = [];
  for (const message of request.messages) {
    if (message.role === "system") {
      if (said.length === 0 && aside.length === 0) head.push(message.content);
      else aside.push(message.content);
    } else if (message.role === "user" && aside.length > 0) {
      add(said, { ...message, content: [...aside, message.content].join("\n\n") });
      aside = [];
    } else for (const each of known.tools ? [readable(message)] : inWords(message)) add(said, each);
  }
  if (aside.length > 0) add(said, { role: "user", content: aside.join("\n\n") });
  if (!known.tools && (request.tools?.length ?? 0) > 0) head.push(NO_TOOLS);
  if (request.json !== undefined && known.json !== "schema") head.push(jsonInWords(request.json.schema));
  if (request.toolChoice === "none" && !known.noToolChoice) endCalls(said);
  const system = head.filter((text) => text !== "").join("\n\n");
  if (known.system === "system") return { system, messages: said };
  const messages: Said[] = [];
  for (const message of system === "" ? said : [{ role: "user", content: system } as const, ...said]) add(messages, message);
  return { system: "", messages };
}

function add(said: Said[], message: Said): void {
  const last = said.at(-1);
  if (last?.role === "user" && message.role === "user") {
    const images = [...(last.images ?? []), ...(message.images ?? [])];
    said[said.length - 1] = { ...last, ...message, content: joined(last, message), ...(images.length > 0 && { images }) };
  } else if (last?.role === "assistant" && message.role === "assistant" && !hasCalls(last))
    said[said.length - 1] = { ...message, content: joined(last, message) };
  else said.push(message);
}

function joined(first: Said, second: Said): string {
  return [first.content, second.content].filter((text) => text !== "").join("\n\n");
}

function hasCalls(message: Said): boolean {
  return message.role === "assistant" && (message.tool_calls?.length ?? 0) > 0;
}

function readable(message: Said): Said {
  if (message.role !== "assistant" || !hasCalls(message)) return message;
  return { ...message, tool_calls: (message.tool_calls ?? []).map((call) => ({ ...call, arguments: objectText(call) })) };
}

function objectText({ arguments: text }: ModelToolCall): string {
  const value = parsedJson(text);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? text : "{}";
}

/** For a model without tools: what was called is what the assistant did, and a result is what came of it. */
function inWords(message: Said): Said[] {
  if (message.role === "tool") return [{ role: "user", content: `(Result: ${message.content})` }];
  if (message.role !== "assistant" || !hasCalls(message)) return [message];
  const calls = (message.tool_calls ?? []).map(({ name, arguments: given }) => `(Called ${name} with ${given})`);
  return [{ role: "assistant", content: [message.content, ...calls].filter((text) => text !== "").join("\n") }];
}

function endCalls(said: Said[]): void {
  const at = said.findLastIndex(({ role }) => role === "tool" || role === "user");
  const last = said[at];
  if (last !== undefined) said[at] = { ...last, content: `${last.content}\n\n${NO_MORE_CALLS}` };
}

function jsonInWords(schema: Readonly<Record<string, unknown>>): string {
  return `Answer with one JSON object of this JSON Schema and nothing else:\n${JSON.stringify(schema)}`;
}
