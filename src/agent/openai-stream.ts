import { z } from "zod";
import type { ModelEvent, ModelToolCall } from "../agent.js";
import { AppError } from "../errors.js";

const chunkSchema = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        delta: z
          .looseObject({
            content: z.string().nullish(),
            refusal: z.string().nullish(),
            tool_calls: z
              .array(
                z.looseObject({
                  index: z.number().int().nonnegative().optional(),
                  id: z.string().nullish(),
                  function: z.looseObject({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
                }),
              )
              .nullish(),
          })
          .nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .default([]),
  usage: z.looseObject({ prompt_tokens: z.number().default(0), completion_tokens: z.number().default(0) }).nullish(),
});

/**
 * Chat Completions chunks → model events. Tool calls come whole, after the text.
 * @throws MODEL_UNAVAILABLE for a chunk of another shape, or a stream that ends before the model has
 */
export async function* toEvents(chunks: AsyncIterable<unknown>): AsyncGenerator<ModelEvent, void, undefined> {
  const calls: { id: string; name: string; arguments: string }[] = [];
  let finish: string | null = null;
  let usage = { input_tokens: 0, output_tokens: 0 };
  for await (const chunk of chunks) {
    const parsed = chunkSchema.safeParse(chunk);
    if (!parsed.success)
      throw new AppError("MODEL_UNAVAILABLE", { detail: "The model's endpoint sent something that is no chat completion." });
    if (parsed.data.usage) usage = { input_tokens: parsed.data.usage.prompt_tokens, output_tokens: parsed.data.usage.completion_tokens };
    const choice = parsed.data.choices[0];
    if (choice === undefined) continue;
    const delta = choice.delta?.content ?? choice.delta?.refusal;
    if (delta) yield { type: "text", delta };
    for (const part of choice.delta?.tool_calls ?? []) {
      // Some endpoints leave the index out and send each call whole.
      const at = part.index ?? calls.length;
      const call = calls[at] ?? { id: "", name: "", arguments: "" };
      calls[at] = call;
      if (part.id) call.id = part.id;
      if (part.function?.name) call.name += part.function.name;
      call.arguments += part.function?.arguments ?? "";
    }
    if (choice.finish_reason) finish = choice.finish_reason;
  }
  if (finish === null) throw new AppError("MODEL_UNAVAILABLE", { detail: "The model's answer broke off." });
  const whole: ModelToolCall[] = calls.filter((call) => call !== undefined && call.name !== "");
  for (const call of whole) yield { type: "tool_call", call };
  yield { type: "end", reason: finish === "length" ? "length" : whole.length > 0 ? "tool_calls" : "stop", usage };
}
