import { z } from "@hono/zod-openapi";
import { EVENT_TYPES } from "../domain/event.js";
import { jsonValue, pageOf } from "./fields.js";

/** Events, as they are listed, streamed and delivered. */
const dataSchema = z
  .object({
    session_id: z.string().optional(),
    turn: z.number().int().optional(),
    message_id: z.string().optional().openapi({ description: "Of a turn: its answer. Of a memory: the user's message behind it." }),
    error_code: z.string().optional(),
    memory_id: z.string().optional(),
    strength: z.enum(["hard", "soft"]).optional(),
    superseded_by: z.string().nullable().optional(),
    receipt_id: z.string().optional(),
    merge_id: z.string().optional(),
    from: z.string().optional().openapi({ description: "Of a merge: the user that became this one." }),
  })
  .openapi("EventData");

export const eventSchema = z
  .object({
    id: z.string().openapi({ format: "uuid", description: "The same however often it is told: drop repeats by it." }),
    type: z.enum(EVENT_TYPES),
    timestamp: z.string().openapi({ format: "date-time" }),
    tenant: z.string(),
    user: z.string(),
    data: dataSchema,
    content: jsonValue.optional().openapi({ description: "Only with EVENTS_CONTENT=true: the words, as they are now; null: gone." }),
  })
  .openapi("Event");

export const undeliveredPage = pageOf(
  z
    .object({
      event: eventSchema,
      attempts: z.number().int(),
      error: z.string().openapi({ description: "How the last try ended: `HTTP_500`, `TIMEOUT`, `UNREACHABLE`." }),
      dead_since: z.string().openapi({ format: "date-time" }),
    })
    .openapi("UndeliveredEvent"),
).openapi("UndeliveredEventPage");

export const eventsPage = pageOf(eventSchema).openapi("EventPage");

/** The stream as a whole, as it travels. */
export const eventStreamSchema = z.string().openapi("EventStream", {
  description:
    "Server-sent events: first `ready`, whose `id` is where the stream goes on, then each event under its own `id` and type, with " +
    "the Event as data; a comment as heartbeat.",
  contentMediaType: "text/event-stream",
  example: 'id: 5d0f…\nevent: memory.added\ndata: {"id":"5d0f…","type":"memory.added","data":{"memory_id":"…"}}\n\n',
} as object);
