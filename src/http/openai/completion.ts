import { z } from "@hono/zod-openapi";
import type { Usage } from "../../domain/session.js";
import { newId } from "../../platform/ids.js";
import type { ChatAnswer } from "../../ports/resources.js";
import type { StreamForm } from "../chat-stream.js";
import { openAiErrorOf } from "./errors.js";
import { besideOf, besideSchema, secondsOf } from "./turn-route.js";

/** Answers of Chat Completions. */

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

export const completionSchema = z
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

/** `modelName`: where the answer doesn't tell who gave it. */
export function completionOf(answer: ChatAnswer, modelName: string): z.output<typeof completionSchema> {
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
export function completionStream(model: string, { usage }: { readonly usage: boolean }): StreamForm {
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
