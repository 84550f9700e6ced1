import { z } from "@hono/zod-openapi";
import { shownPartSchema } from "../domain/session.js";
import { answerSchema, elementSchema, stepSchema, turnMemorySchema } from "../ports/resources.js";
import { problemSchema } from "./problem.js";

/** One event of a stream: its `event:`, its `id:` (from 1), and its `data:`, parsed. */
function eventOf<const Name extends string, Data extends z.ZodType>(event: Name, schema: string, data: Data) {
  return z.object({ id: z.string(), event: z.literal(event), data }).openapi(schema);
}

const started = z
  .object({ session_id: z.string(), turn: z.number().int(), user_message_id: z.string(), created: z.boolean() })
  .openapi("TurnStarted");

/** The events of a chat that is streamed, in their order; tokens, steps and parts as often as they come. */
export const chatEventSchema = z
  .discriminatedUnion("event", [
    eventOf("session", "ChatSessionEvent", started),
    eventOf("memory", "ChatMemoryEvent", turnMemorySchema),
    eventOf("step", "ChatStepEvent", stepSchema),
    eventOf("token", "ChatTokenEvent", z.object({ delta: z.string() }).openapi("Token")),
    eventOf(
      "retract",
      "ChatRetractEvent",
      z.object({ content: z.string().openapi({ description: "Stands in place of the tokens so far. Rare." }) }).openapi("Retraction"),
    ),
    eventOf(
      "part",
      "ChatPartEvent",
      z
        .object({
          index: z
            .number()
            .int()
            .openapi({ description: "Its place among the answer's parts, from 0; an earlier one of that place goes." }),
          part: shownPartSchema,
          elements: z.array(elementSchema),
        })
        .openapi("PlacedPart"),
    ),
    eventOf("message", "ChatMessageEvent", answerSchema),
    eventOf("error", "ChatErrorEvent", problemSchema),
  ])
  .openapi("ChatEvent");

/** The stream as a whole, as it travels. */
export const chatStreamSchema = z.string().openapi("ChatStream", {
  description:
    "With `stream: true`: server-sent events, `session`, `memory`, then `step`, `part` and `token`, last `message` or `error`; " +
    "a comment as heartbeat. A replay by idempotency key has `session`, `memory` and `message`.",
  contentMediaType: "text/event-stream",
  contentSchema: { type: "array", items: { $ref: "#/components/schemas/ChatEvent" } },
  example: 'id: 3\nevent: token\ndata: {"delta":"Good evening"}\n\n',
} as object);
