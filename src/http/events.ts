import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { AppError } from "../platform/errors.js";
import { isId } from "../platform/ids.js";
import { BEGINNING, type EventScope } from "../ports/event-log.js";
import type { Events, FollowedEvents } from "../ports/events.js";
import { eventStreamSchema, eventsPage } from "./event-resources.js";
import { limitQuery } from "./fields.js";
import type { HttpEnv } from "./http-env.js";
import { preferredType } from "./negotiate.js";
import { present } from "./present.js";
import { type ApiApp, answer, answersAs, createRoute, newApi } from "./routes.js";
import { EventStream, type EventStreamOptions } from "./sse.js";
import type { OpenStreams } from "./streams.js";

const tags = ["Events"];

const afterField = z
  .string()
  .refine((id) => id === BEGINNING || isId(id), "the id of an event")
  .optional()
  .openapi({
    format: "uuid",
    description: "The id of the last event that you have; one that is not kept any more stands for the oldest that is.",
  });
const query = z.strictObject({ after: afterField, limit: limitQuery });
const headers = z.object({
  "Last-Event-ID": z.string().max(256).optional().openapi({ description: "Of a stream that goes on: instead of `after`." }),
});

const routes = {
  mine: createRoute({
    method: "get",
    path: "/v1/me/events",
    operationId: "listMyEvents",
    tags,
    summary: "What happened to the user's sessions and memories, oldest first; with `Accept: text/event-stream` as it happens",
    request: { query, headers },
    responses: answersAs({ "application/json": eventsPage, "text/event-stream": eventStreamSchema }, "A page of events, or the stream."),
    fails: ["TOO_MANY_STREAMS"],
  }),
};

export interface EventRoutesParts {
  readonly events: Events;
  /** Of events alone: a tab that follows takes no place from a chat. */
  readonly streams: OpenStreams;
  readonly limits: EventStreamOptions;
}

export function eventRoutes(parts: EventRoutesParts): ApiApp {
  const api = newApi();
  api.openapi(routes.mine, async (c) => {
    const owner = c.get("owner");
    const { after, limit } = c.req.valid("query");
    if (preferredType(c, ["application/json", "text/event-stream"]) === "text/event-stream")
      return streamEvents(c, { owner }, after, parts);
    const { data, nextCursor } = await parts.events.list({ owner }, present({ after, limit }));
    return answer(c, eventsPage, { data, next_cursor: nextCursor });
  });
  return api;
}

/** Events as they happen, from `Last-Event-ID` or `after` on, else from now. */
async function streamEvents(
  c: Context<HttpEnv>,
  scope: EventScope,
  after: string | undefined,
  { events, streams, limits }: EventRoutesParts,
): Promise<Response> {
  const lastId = c.req.header("Last-Event-ID");
  if (lastId !== undefined && lastId !== BEGINNING && !isId(lastId))
    throw new AppError("INVALID_REQUEST", { errors: [{ pointer: "/Last-Event-ID", detail: "not the id of an event" }] });
  const leave = streams.enter(c.get("owner"));
  const stream = new EventStream(limits);
  const signal = AbortSignal.any([c.req.raw.signal, stream.gone]);
  let followed: FollowedEvents;
  try {
    const from = lastId ?? after;
    followed = await events.follow(scope, { signal, ...(from !== undefined && { after: from }) });
  } catch (error) {
    leave();
    stream.close();
    throw error;
  }
  void (async () => {
    try {
      await stream.send("ready", { from: followed.from }, followed.from);
      for await (const event of followed.events) await stream.send(event.type, event, event.id);
    } catch (error) {
      // The reader comes back, and goes on behind the last that it has.
      if (!signal.aborted) c.get("report")(error instanceof AppError ? error : new AppError("INTERNAL", { cause: error }));
    } finally {
      leave();
      stream.close();
    }
  })();
  stream.open();
  return c.body(stream.body, 200, {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
  });
}
