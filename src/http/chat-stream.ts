import type { Context } from "hono";
import type { Chat, ChatEvent, ChatRequest } from "../ports/application.js";
import type { HttpEnv } from "./http-env.js";
import { asAppError, problemOf } from "./problem.js";
import { EventStream, type EventStreamOptions } from "./sse.js";

export type StreamLimits = EventStreamOptions;

function payloadOf(event: ChatEvent): unknown {
  switch (event.type) {
    case "session":
      return { session_id: event.session_id, turn: event.turn, user_message_id: event.user_message_id, created: event.created };
    case "memory":
      return event.memory;
    case "step":
      return event.step;
    case "token":
      return { delta: event.delta };
    case "retract":
      return { content: event.content };
  }
}

/**
 * A turn as server-sent events. The answer's head waits for the memory event, so that it can carry `X-Memory-Status`, and so that
 * a turn that fails before is an ordinary problem with its status. A client that goes away aborts the turn.
 */
export async function streamTurn(
  c: Context<HttpEnv>,
  chat: Chat,
  request: ChatRequest,
  { leave, limits }: { readonly leave: () => void; readonly limits: StreamLimits },
): Promise<Response> {
  const stream = new EventStream(limits);
  const signal = AbortSignal.any([c.req.raw.signal, stream.gone]);
  let headSent = false;
  let sendHead: (status: string) => void = () => {};
  const memoryStatus = new Promise<string>((resolve) => {
    sendHead = (status) => {
      headSent = true;
      resolve(status);
    };
  });

  const turn = async () => {
    const given = await chat.chat(request, {
      signal,
      onEvent: async (event) => {
        const sent = stream.send(event.type, payloadOf(event));
        if (event.type === "memory") sendHead(event.memory.status);
        await sent;
      },
    });
    sendHead(given.memory.status);
    await stream.send("message", given);
  };
  const finished = turn()
    .catch(async (error: unknown) => {
      if (!headSent) throw error;
      const known = asAppError(error);
      c.get("report")(known);
      if (!signal.aborted) await stream.send("error", problemOf(known, c.get("requestId")));
    })
    .finally(() => {
      leave();
      stream.close();
    });

  const status = await Promise.race([memoryStatus, finished.then(() => memoryStatus)]);
  // From here on the stream tells what goes wrong; a reader that left before it heard is no failure.
  finished.catch(() => {});
  stream.open();
  return c.body(stream.body, 200, {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
    "X-Memory-Status": status,
  });
}
