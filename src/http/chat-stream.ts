import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { shownPartSchema } from "../domain/session.js";
import type { AppError } from "../platform/errors.js";
import type { Chat, ChatEvent } from "../ports/application.js";
import { answerSchema, type ChatAnswer, elementSchema, stepSchema, turnMemorySchema } from "../ports/resources.js";
import type { HttpEnv } from "./http-env.js";
import { asAppError, problemOf, problemSchema } from "./problem.js";
import { EventStream, type EventStreamOptions, streamed } from "./sse.js";
import type { OpenStreams } from "./streams.js";

type StreamLimits = EventStreamOptions;

function payloadOf({ type: _, ...payload }: ChatEvent): unknown {
  if ("memory" in payload) return payload.memory;
  return "step" in payload ? payload.step : payload;
}

const OWN_FORM: StreamForm = {
  onEvent: (stream, event) => stream.send(event.type, payloadOf(event)),
  onAnswer: (stream, answer) => stream.send("message", answer),
  onError: (stream, error, requestId, keptIn) => stream.send("error", problemOf(error, requestId, keptIn)),
};

/** How a turn is told as server-sent events. */
export interface StreamForm {
  onEvent(stream: EventStream, event: ChatEvent): Promise<void>;
  onAnswer(stream: EventStream, answer: ChatAnswer): Promise<void>;
  /** Of a turn that fails once the stream is open; `keptIn`: the session that holds its message. */
  onError(stream: EventStream, error: AppError, requestId: string, keptIn?: string): Promise<void>;
  /** Of the answer's head, beside those of every stream. Default: none. */
  headers?(sessionId: string): Readonly<Record<string, string>>;
}

export interface Streaming {
  /** Those that are open, by user. */
  readonly streams: OpenStreams;
  readonly limits: StreamLimits;
}

interface StreamParts {
  /** Called when it has ended. */
  readonly leave: () => void;
  readonly limits: StreamLimits;
  /** Default: the API's own events. */
  readonly form?: StreamForm;
}

type TurnOptions = NonNullable<Parameters<Chat["chat"]>[1]>;

/**
 * A turn as server-sent events. The answer's head waits for the memory event, so that it can carry `X-Memory-Status`, and so that
 * a turn that fails before is an ordinary problem with its status. A client that goes away aborts the turn.
 */
export async function streamTurn(
  c: Context<HttpEnv>,
  run: (options: TurnOptions) => Promise<ChatAnswer>,
  { leave, limits, form = OWN_FORM }: StreamParts,
): Promise<Response> {
  const stream = new EventStream(limits);
  const signal = AbortSignal.any([c.req.raw.signal, stream.gone]);
  let headSent = false;
  const noted = noteKept(c);
  let sendHead: (status: string) => void = () => {};
  const memoryStatus = new Promise<string>((resolve) => {
    sendHead = (status) => {
      headSent = true;
      resolve(status);
    };
  });

  const turn = async () => {
    const given = await run({
      signal,
      onEvent: async (event) => {
        noted(event);
        const sent = form.onEvent(stream, event);
        if (event.type === "memory") sendHead(event.memory.status);
        await sent;
      },
    });
    sendHead(given.memory.status);
    await form.onAnswer(stream, given);
  };
  const finished = turn()
    .catch(async (error: unknown) => {
      if (!headSent) throw error;
      const known = asAppError(error);
      c.get("report")(known);
      if (!signal.aborted) await form.onError(stream, known, c.get("requestId"), c.get("keptIn"));
    })
    .finally(() => {
      leave();
      stream.close();
    });

  const status = await Promise.race([memoryStatus, finished.then(() => memoryStatus)]);
  // From here on the stream tells what goes wrong; a reader that left before it heard is no failure.
  finished.catch(() => {});
  return streamed(c, stream, { "X-Memory-Status": status, ...form.headers?.(c.get("keptIn") ?? "") });
}

/** Leaves for the error handler which session holds the message, from the event on that tells it. */
export function noteKept(c: Context<HttpEnv>): (event: ChatEvent) => void {
  return (event) => {
    if (event.type === "session") c.set("keptIn", event.session_id);
  };
}

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
