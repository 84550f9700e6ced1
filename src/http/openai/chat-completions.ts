import { z } from "@hono/zod-openapi";
import type { Usage } from "../../domain/session.js";
import { invalidField } from "../../platform/errors.js";
import { newId } from "../../platform/ids.js";
import type { ChatAnswer } from "../../ports/resources.js";
import type { StreamForm } from "../chat-stream.js";
import { type ApiApp, body, newApi, routesOf } from "../routes.js";
import { type Content, contentField, outputOf, toolChoiceField, toolsField, toolsOf } from "./content.js";
import { askedIn, type Entry, namedSession } from "./conversation.js";
import { openAiErrorOf } from "./errors.js";
import {
  answerTurn,
  besideOf,
  besideSchema,
  OF_A_CLIENTS_TURN,
  type OpenAiParts,
  openAiAnswers,
  openAiErrors,
  secondsOf,
  turnHeaders,
} from "./turn-route.js";

export const COMPLETIONS_PATH = "/v1/chat/completions";
const MAX_MESSAGES = 10_000;

const messageField = z.looseObject({
  role: z.enum(["system", "developer", "user", "assistant", "tool", "function"]),
  content: contentField,
  tool_call_id: z.string().optional(),
  tool_calls: z.array(z.looseObject({ type: z.string().optional() })).nullish(),
});

const callField = z.object({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string() }) });

const completionsBody = z
  .looseObject({
    model: z.string().nullish().openapi({ description: "Passed over: whoever runs this server has chosen the model." }),
    messages: z
      .array(messageField)
      .min(1)
      .max(MAX_MESSAGES)
      .openapi({
        description:
          "The last user message is the turn, of 1 to 8,000 characters; `tool` messages behind it go on with the turn that called. " +
          "System messages are this turn's prompt, in the place of the server's own. What comes before is taken in as the session's " +
          "history where no session has it.",
        example: [{ role: "user", content: "A table for two, please." }],
      }),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    n: z.literal(1, { error: "one answer is all there is" }).nullish(),
    tools: toolsField,
    tool_choice: toolChoiceField,
    metadata: z.looseObject({ session_id: z.string().optional() }).nullish().openapi({ example: {} }),
  })
  .openapi("ChatCompletionRequest", { description: "As OpenAI's; other fields of it are passed over." });

const usageSchema = z.object({
  prompt_tokens: z.number(),
  completion_tokens: z.number(),
  total_tokens: z.number(),
  prompt_tokens_details: z.object({ cached_tokens: z.number() }),
});

const callSchema = z.object({
  id: z.string(),
  type: z.literal("function"),
  function: z.object({ name: z.string(), arguments: z.string() }),
});

const finishSchema = z.enum(["stop", "length", "content_filter", "tool_calls"]);

const completionSchema = z
  .object({
    id: z.string(),
    object: z.literal("chat.completion"),
    created: z.number().int(),
    model: z.string(),
    choices: z.array(
      z.object({
        index: z.number().int(),
        message: z.object({
          role: z.literal("assistant"),
          content: z.string().nullable(),
          refusal: z.null(),
          tool_calls: z.array(callSchema).optional(),
        }),
        logprobs: z.null(),
        finish_reason: finishSchema,
      }),
    ),
    usage: usageSchema,
    maitred: besideSchema,
  })
  .openapi("ChatCompletion");

const route = routesOf("OpenAI")("post", COMPLETIONS_PATH, "createChatCompletion", {
  summary: "One turn, as OpenAI's Chat Completions",
  request: { headers: turnHeaders, body: body(completionsBody) },
  responses: openAiAnswers(completionSchema, "The answer. With `stream: true`: chunks of it, and `[DONE]`."),
  fails: OF_A_CLIENTS_TURN,
  errorContent: openAiErrors,
});

export function completionRoutes(parts: OpenAiParts): ApiApp {
  const api = newApi();
  api.openapi(route, async (c) => {
    const { messages, metadata, tools, tool_choice: choice, stream, stream_options: options } = c.req.valid("json");
    const asked = askedIn(messages.flatMap(entriesOf), { sessionId: namedSession(c, metadata?.session_id), ...toolsOf(tools, choice) });
    const modelName = parts.application.modelOf(c.get("owner")).name;
    return answerTurn(c, parts, asked, {
      form: stream === true ? completionStream(modelName, { usage: options?.include_usage === true }) : null,
      whole: (answer) => completionOf(answer, modelName),
      namedAt: metadata?.session_id === undefined ? undefined : "/metadata/session_id",
    });
  });
  return api;
}

function entriesOf(message: z.output<typeof messageField>, at: number): Entry[] {
  const calls = message.role === "assistant" ? (message.tool_calls ?? []) : [];
  return [entryOf(message, at), ...calls.flatMap((call, place) => callsOf(call, `/messages/${at}/tool_calls/${place}`))];
}

/** None for what is no call of a function. */
function callsOf(call: unknown, pointer: string): Entry[] {
  const { data } = callField.safeParse(call);
  return data === undefined ? [] : [{ kind: "call", callId: data.id, ...data.function, pointer }];
}

function entryOf(message: z.output<typeof messageField>, at: number): Entry {
  const { role, tool_call_id: callId } = message;
  const content = message.content as Content;
  const pointer = `/messages/${at}/content`;
  switch (role) {
    case "system":
    case "developer":
      return { kind: "prompt", content, pointer };
    case "user":
    case "assistant":
      return { kind: role, content, pointer };
    case "tool":
      if (callId === undefined) throw invalidField(`/messages/${at}/tool_call_id`, "the id of the call that this is the result of");
      return { kind: "result", result: { callId, output: outputOf(content) }, pointer };
    default:
      return { kind: "other", pointer };
  }
}

/** `modelName`: where the answer doesn't tell who gave it. */
function completionOf(answer: ChatAnswer, modelName: string): z.output<typeof completionSchema> {
  const { message, usage, calls } = answer;
  const { content } = message;
  const toolCalls = calls === undefined ? {} : { tool_calls: calls.map(toolCallOf) };
  return {
    id: `chatcmpl-${message.id}`,
    object: "chat.completion",
    created: secondsOf(message.created_at),
    model: message.metadata?.model ?? modelName,
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: content === "" ? null : content, refusal: null, ...toolCalls },
        logprobs: null,
        finish_reason: finishOf({ message, calls }),
      },
    ],
    usage: usageOf(usage),
    maitred: besideOf(answer),
  };
}

function toolCallOf({ id, name, arguments: given }: NonNullable<ChatAnswer["calls"]>[number]): z.output<typeof callSchema> {
  return { id, type: "function", function: { name, arguments: given } };
}

function finishOf({ message, calls }: Pick<ChatAnswer, "message"> & { readonly calls: ChatAnswer["calls"] | undefined }) {
  return calls === undefined ? (message.metadata?.finish ?? "stop") : "tool_calls";
}

function usageOf({ input_tokens, output_tokens, cached_tokens = 0 }: Usage): z.output<typeof usageSchema> {
  return {
    prompt_tokens: input_tokens,
    completion_tokens: output_tokens,
    total_tokens: input_tokens + output_tokens,
    prompt_tokens_details: { cached_tokens },
  };
}

/**
 * Chunks, the last of the answer with its parts, and `[DONE]`. What a model takes back can't be taken back here. `usage`: a chunk of it
 * comes before the end.
 */
function completionStream(model: string, { usage }: { readonly usage: boolean }): StreamForm {
  const head = { id: `chatcmpl-${newId()}`, object: "chat.completion.chunk", created: secondsOf(new Date()), model };
  const chunk = (delta: object, finish: string | null = null, beside: object = {}) => {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
    return JSON.stringify({ ...head, choices, ...(usage && { usage: null }), ...beside });
  };
  let streamed = false;
  return {
    async onEvent(stream, event) {
      if (event.type === "session") await stream.sendData(chunk({ role: "assistant", content: "" }));
      if (event.type !== "token") return;
      streamed = true;
      await stream.sendData(chunk({ content: event.delta }));
    },
    async onAnswer(stream, answer) {
      // One that was given before comes whole.
      if (!streamed && answer.message.content !== "") await stream.sendData(chunk({ content: answer.message.content }));
      for (const [index, call] of (answer.calls ?? []).entries())
        await stream.sendData(chunk({ tool_calls: [{ index, ...toolCallOf(call) }] }));
      const finish = finishOf({ message: answer.message, calls: answer.calls });
      await stream.sendData(chunk({}, finish, { maitred: besideOf(answer) }));
      if (usage) await stream.sendData(JSON.stringify({ ...head, choices: [], usage: usageOf(answer.usage) }));
      await stream.sendData("[DONE]");
    },
    onError: (stream, error) => stream.sendData(JSON.stringify(openAiErrorOf(error))),
  };
}
