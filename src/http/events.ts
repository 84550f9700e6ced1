import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { EVENT_TYPES, eventDataSchema } from "../domain/event.js";
import { AppError } from "../platform/errors.js";
import { isId } from "../platform/ids.js";
import { present } from "../platform/present.js";
import { BEGINNING, type EventScope, type Events, type FollowedEvents } from "../ports/events.js";
import type { Streaming } from "./chat-stream.js";
import { idParam, jsonValue, limitQuery, pageOf } from "./fields.js";
import type { HttpEnv } from "./http-env.js";
import { asAppError } from "./problem.js";
import { headerRefs } from "./response-headers.js";
import { type ApiApp, answer, answers, answersAs, newApi, paged, preferredType, routesOf } from "./routes.js";
import { EventStream, streamed } from "./sse.js";

/** Events, as they are listed, streamed and delivered. */
const eventSchema = z
  .object({
    id: z.string().openapi({ format: "uuid", description: "The same however often it is told: drop repeats by it." }),
    type: z.enum(EVENT_TYPES),
    timestamp: z.string().openapi({ format: "date-time" }),
    tenant: z.string(),
    user: z.string(),
    data: eventDataSchema,
    content: jsonValue.optional().openapi({ description: "Only with EVENTS_CONTENT=true: the words, as they are now; null: gone." }),
  })
  .openapi("Event");

const undeliveredPage = pageOf(
  z
    .object({
      event: eventSchema,
      attempts: z.number().int(),
      error: z.string().openapi({ description: "How the last try ended: `HTTP_500`, `TIMEOUT`, `UNREACHABLE`." }),
      dead_since: z.string().openapi({ format: "date-time" }),
    })
    .openapi("UndeliveredEvent"),
).openapi("UndeliveredEventPage");

const eventsPage = pageOf(eventSchema).openapi("EventPage");

/** The stream as a whole, as it travels. */
const eventStreamSchema = z.string().openapi("EventStream", {
  description:
    "Server-sent events: first `ready`, whose `id` is where the stream goes on, then each event under its own `id` and type, with " +
    "the Event as data; a comment as heartbeat.",
  contentMediaType: "text/event-stream",
  example: 'id: 5d0f…\nevent: memory.added\ndata: {"id":"5d0f…","type":"memory.added","data":{"memory_id":"…"}}\n\n',
} as object);

const route = routesOf("Events");

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

/** What is asked and answered where events are listed or followed. */
const listing = {
  request: { query, headers },
  responses: answersAs({ "application/json": eventsPage, "text/event-stream": eventStreamSchema }, "A page of events, or the stream."),
};

const routes = {
  mine: route("get", "/v1/me/events", "listMyEvents", {
    summary: "What happened to the user's sessions and memories, oldest first; with `Accept: text/event-stream` as it happens",
    ...listing,
    fails: ["TOO_MANY_STREAMS"],
  }),
  all: route("get", "/v1/events", "listEvents", {
    summary: "The same of all users of the tenant, for a trusted backend: an API key whose user is null",
    ...listing,
    fails: ["NOT_FOUND", "TOO_MANY_STREAMS"],
  }),
  undelivered: route("get", "/v1/events/dead", "listUndeliveredEvents", {
    summary: "Events that the webhook could not deliver and that are not tried again, for a trusted backend",
    request: { query },
    responses: answers(undeliveredPage, "Oldest first."),
    fails: ["NOT_FOUND"],
  }),
  again: route("post", "/v1/events/dead/{id}/retry", "deliverEventAgain", {
    summary: "Deliver one of them again, behind its user's others, for a trusted backend",
    request: { params: idParam },
    responses: { 202: { description: "It is delivered again.", headers: headerRefs() } },
    fails: ["NOT_FOUND", "EVENT_NOT_FOUND"],
  }),
};

/** `streaming`: of events alone, so that a tab that follows takes no place from a chat. */
export function eventRoutes(events: Events, streaming: Streaming): ApiApp {
  const api = newApi();
  const told = async (c: Context<HttpEnv>, scope: EventScope, { after, limit }: z.output<typeof query>) => {
    if (preferredType(c, ["application/json", "text/event-stream"]) === "text/event-stream")
      return streamEvents(c, scope, after, events, streaming);
    return answer(c, eventsPage, paged(await events.list(scope, present({ after, limit }))));
  };
  api.openapi(routes.mine, (c) => told(c, { owner: c.get("owner") }, c.req.valid("query")));
  api.openapi(routes.all, (c) => told(c, { tenant: c.get("tenant") }, c.req.valid("query")));
  api.openapi(routes.undelivered, async (c) =>
    answer(c, undeliveredPage, paged(await events.undelivered(c.get("tenant"), present(c.req.valid("query"))))),
  );
  api.openapi(routes.again, async (c) => {
    await events.deliverAgain(c.get("tenant"), c.req.valid("param").id);
    return c.body(null, 202);
  });
  return api;
}

/** Events as they happen, from `Last-Event-ID` or `after` on, else from now. */
async function streamEvents(
  c: Context<HttpEnv>,
  scope: EventScope,
  after: string | undefined,
  events: Events,
  { streams, limits }: Streaming,
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
      if (!signal.aborted) c.get("report")(asAppError(error));
    } finally {
      leave();
      stream.close();
    }
  })();
  return streamed(c, stream);
}
