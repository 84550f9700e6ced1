import type { Context } from "hono";
import type { AppError } from "../platform/errors.js";
import type { Chat, ChatEvent } from "../ports/application.js";
import type { ChatAnswer } from "../ports/resources.js";
import type { HttpEnv } from "./http-env.js";
import { asAppError, problemOf } from "./problem.js";
import { EventStream, type EventStreamOptions, streamed } from "./sse.js";
import type { OpenStreams } from "./streams.js";

export type StreamLimits = EventStreamOptions;

function payloadOf({ type: _, ...payload }: ChatEvent): unknown {
  if ("memory" in payload) return payload.memory;
  return "step" in payload ? payload.step : payload;
}

/** The API's own events. */
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

/** What streams are bounded by. */
export interface Streaming {
  /** Those that are open, by user. */
  readonly streams: OpenStreams;
  readonly limits: StreamLimits;
}

/** What a stream is opened with. */
export interface StreamParts {
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
