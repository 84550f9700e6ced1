import { z } from "@hono/zod-openapi";
import type { Usage } from "../../domain/session.js";
import { isId, newId } from "../../platform/ids.js";
import type { ChatAnswer } from "../../ports/resources.js";
import { besideOf, besideSchema, secondsOf } from "./turn-route.js";

/** Answers of Responses. */

const statusSchema = z.enum(["in_progress", "completed", "incomplete", "failed"]);

const messageSchema = z.object({
  id: z.string(),
  type: z.literal("message"),
  role: z.literal("assistant"),
  status: statusSchema,
  content: z.array(
    z.object({ type: z.literal("output_text"), text: z.string(), annotations: z.array(z.unknown()), logprobs: z.array(z.unknown()) }),
  ),
});
export type MessageItem = z.output<typeof messageSchema>;

const callSchema = z.object({
  id: z.string(),
  type: z.literal("function_call"),
  status: statusSchema,
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
});
export type CallItem = z.output<typeof callSchema>;

export const responseSchema = z
  .object({
    id: z.string(),
    object: z.literal("response"),
    created_at: z.number().int(),
    status: statusSchema,
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    incomplete_details: z.object({ reason: z.enum(["max_output_tokens", "content_filter"]) }).nullable(),
    instructions: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()),
    model: z.string(),
    output: z.array(z.union([messageSchema, callSchema])),
    parallel_tool_calls: z.boolean(),
    previous_response_id: z.string().nullable(),
    conversation: z.object({ id: z.string() }).nullable(),
    temperature: z.null(),
    top_p: z.null(),
    tool_choice: z.literal("auto"),
    tools: z.array(z.unknown()),
    usage: z
      .object({
        input_tokens: z.number(),
        input_tokens_details: z.object({ cached_tokens: z.number() }),
        output_tokens: z.number(),
        output_tokens_details: z.object({ reasoning_tokens: z.number() }),
        total_tokens: z.number(),
      })
      .nullable(),
    maitred: besideSchema.optional().openapi({ description: "Once it is answered." }),
  })
  .openapi("Response");
export type ResponseBody = z.output<typeof responseSchema>;

/** What a response repeats of its request. */
export interface Echoed {
  readonly instructions: string | null;
  readonly previousResponseId: string | null;
  readonly metadata: Record<string, unknown>;
  readonly conversation: string | null;
}

/** A response that has only begun. */
export function begunResponse(sessionId: string, model: string, echoed: Echoed, at: string | Date): ResponseBody {
  return {
    id: responseIdOf(sessionId),
    object: "response",
    created_at: secondsOf(at),
    status: "in_progress",
    error: null,
    incomplete_details: null,
    instructions: echoed.instructions,
    metadata: echoed.metadata,
    model,
    output: [],
    parallel_tool_calls: true,
    previous_response_id: echoed.previousResponseId,
    conversation: echoed.conversation === null ? null : { id: echoed.conversation },
    temperature: null,
    top_p: null,
    tool_choice: "auto",
    tools: [],
    usage: null,
  };
}

/** The same once its turn was answered. */
export function endedResponse(begun: ResponseBody, answer: ChatAnswer, messageId: string): ResponseBody {
  const { message, usage, calls = [] } = answer;
  const finish = message.metadata?.finish;
  const said = message.content === "" ? [] : [messageItem(messageId, message.content)];
  return {
    ...begun,
    status: finish === undefined ? "completed" : "incomplete",
    incomplete_details: finish === undefined ? null : { reason: finish === "length" ? "max_output_tokens" : "content_filter" },
    model: message.metadata?.model ?? begun.model,
    output: [...said, ...calls.map(callItem)],
    usage: usageOf(usage),
    maitred: besideOf(answer),
  };
}

export function responseOf(answer: ChatAnswer, modelName: string, echoed: Echoed): ResponseBody {
  const begun = begunResponse(answer.session_id, modelName, echoed, answer.message.created_at);
  return endedResponse(begun, answer, messageItemId(answer.message.id));
}

export function messageItemId(id: string): string {
  return `msg_${id.replaceAll("-", "")}`;
}

/** Null: no text of it is there yet. */
export function messageItem(id: string, text: string | null): MessageItem {
  const content = text === null ? [] : [textPart(text)];
  return { id, type: "message", role: "assistant", status: text === null ? "in_progress" : "completed", content };
}

export function textPart(text: string): MessageItem["content"][number] {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

export function callItem({ id, name, arguments: given }: NonNullable<ChatAnswer["calls"]>[number]): CallItem {
  return { id: `fc_${id}`, type: "function_call", status: "completed", call_id: id, name, arguments: given };
}

function usageOf({ input_tokens, output_tokens, cached_tokens = 0 }: Usage): NonNullable<ResponseBody["usage"]> {
  return {
    input_tokens,
    input_tokens_details: { cached_tokens },
    output_tokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input_tokens + output_tokens,
  };
}

/** Ids of responses and conversations, as OpenAI's look: each tells its session. */

const HEX_OF_ID = 32;

function responseIdOf(sessionId: string): string {
  return `resp_${bare(sessionId)}${bare(newId())}`;
}

export function conversationIdOf(sessionId: string): string {
  return `conv_${bare(sessionId)}`;
}

/** The session that a response or a conversation belongs to; an id of a session is its own. Null for what can't be any of them. */
export function sessionOf(id: string): string | null {
  if (isId(id)) return id;
  const [, hex = ""] = /^(?:resp|conv)_([0-9a-f]{32})(?:[0-9a-f]{32})?$/.exec(id) ?? [];
  if (hex.length !== HEX_OF_ID) return null;
  const sessionId = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
  return isId(sessionId) ? sessionId : null;
}

function bare(id: string): string {
  return id.replaceAll("-", "");
}
