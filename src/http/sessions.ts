import { z } from "@hono/zod-openapi";
import { IMAGE_TYPES } from "../domain/image.js";
import { type JsonObject, messageSchema, SESSION_STATUSES, type Session } from "../domain/session.js";
import { MAX_TITLE_UNITS, UNTITLED } from "../domain/title.js";
import { AppError } from "../platform/errors.js";
import { present } from "../platform/present.js";
import type { NewSession, Sessions } from "../ports/application.js";
import { sessionSchema, threadSchema, writeBackSchema } from "../ports/resources.js";
import { idempotencyHeader, keyed } from "./chat.js";
import {
  cursorQuery,
  externalIdField,
  fieldsOf,
  flagQuery,
  idParam,
  integerQuery,
  labelField,
  limitQuery,
  messageIdField,
  metadataField,
  pageOf,
} from "./fields.js";
import { OF_A_KEY, OF_MEMORIES } from "./problem.js";
import { type ApiApp, answer, answers, answersAs, answersNothing, body, newApi, orElse, paged, requireAccept, routesOf } from "./routes.js";

const MAX_TOPIC_CHARS = 80;
const route = routesOf("Sessions");

const described = {
  title: labelField(MAX_TITLE_UNITS).optional(),
  topic: labelField(MAX_TOPIC_CHARS).optional(),
  tags: z.array(labelField(64)).max(32).optional(),
  agent_type: labelField(64).optional().openapi({ description: "What kind of agent it is with. Default: the domain's name." }),
  metadata: metadataField.optional(),
};
const expiresInDays = z.number().int().min(1).max(36_500);

export const createBody = fieldsOf({
  external_id: externalIdField.optional(),
  ...described,
  expires_in_days: expiresInDays.optional().openapi({ description: "From now, whatever retention says of others. Default: when it says." }),
}).openapi("NewSession");

export const patchBody = fieldsOf({
  ...described,
  expires_in_days: expiresInDays
    .nullable()
    .optional()
    .openapi({ description: "From now, whatever retention says of others; null: when it says." }),
  status: z.enum(["active", "archived"]).optional(),
})
  .refine((patch) => Object.values(patch).some((value) => value !== undefined), "nothing to change")
  .openapi("SessionPatch");

export const listQuery = z.strictObject({
  status: z.enum(SESSION_STATUSES).optional(),
  tag: labelField(64).optional(),
  title: labelField(MAX_TITLE_UNITS).optional(),
  limit: limitQuery,
  cursor: cursorQuery,
});

export const messagesQuery = z.strictObject({
  limit: integerQuery(1, 200, 50),
  cursor: cursorQuery,
  order: z.enum(["asc", "desc"]).optional(),
});

const deleteQuery = z.strictObject({ purge: flagQuery, keep_memories: flagQuery });
export const flushQuery = z.strictObject({ timeout_ms: integerQuery(0, 60_000, 5_000) });

const imageParams = idParam.extend({
  image_id: z
    .string()
    .regex(/^[0-9a-f]{64}$/, "not an image's id")
    .openapi({ param: { name: "image_id", in: "path" }, example: "0f".repeat(32) }),
});
const imageBytes = z.string().openapi({ format: "binary" });

const one = answers(sessionSchema, "The session.");
const made = answers(sessionSchema, "The new session.", 201, ["Location", "Idempotency-Replayed"]);
const routes = {
  create: route("post", "/v1/sessions", "createSession", {
    summary: "Start a session; with `external_id` the one of that name, where there is one",
    request: { headers: idempotencyHeader, body: body(createBody, false) },
    responses: orElse(made, 200, sessionSchema, "The session of that `external_id`, as it is.", ["Location"]),
    fails: [...OF_A_KEY, "SESSION_BUSY", "SESSION_CHANGED", "RECORD_TOO_LARGE"],
  }),
  list: route("get", "/v1/sessions", "listSessions", {
    summary: "Sessions, newest activity first",
    request: { query: listQuery },
    responses: answers(pageOf(sessionSchema).openapi("SessionPage"), "A page of sessions."),
    fails: ["INVALID_CURSOR"],
  }),
  get: route("get", "/v1/sessions/{id}", "getSession", {
    summary: "One session",
    request: { params: idParam },
    responses: one,
  }),
  patch: route("patch", "/v1/sessions/{id}", "updateSession", {
    summary: "Rename, describe, archive",
    request: { params: idParam, body: body(patchBody) },
    responses: one,
    fails: ["SESSION_NOT_ACTIVE", "INVALID_TRANSITION", "RECORD_TOO_LARGE"],
  }),
  delete: route("delete", "/v1/sessions/{id}", "deleteSession", {
    summary: "Delete (recoverable), or purge for good",
    request: { params: idParam, query: deleteQuery },
    responses: answersNothing("Deleted."),
    fails: ["INVALID_TRANSITION", ...OF_MEMORIES],
  }),
  restore: route("post", "/v1/sessions/{id}/restore", "restoreSession", {
    summary: "Back to the status it had",
    request: { params: idParam },
    responses: one,
    fails: ["INVALID_TRANSITION"],
  }),
  empty: route("delete", "/v1/sessions/{id}/messages", "clearMessages", {
    summary: "Take all messages out",
    request: { params: idParam },
    responses: answersNothing("Emptied."),
    fails: ["SESSION_NOT_ACTIVE", ...OF_MEMORIES],
  }),
  messages: route("get", "/v1/sessions/{id}/messages", "listMessages", {
    summary: "Messages of a session",
    request: { params: idParam, query: messagesQuery },
    responses: answers(pageOf(messageSchema).openapi("MessagePage"), "A page of messages."),
    fails: ["INVALID_CURSOR"],
  }),
  thread: route("get", "/v1/sessions/{id}/thread", "getThread", {
    summary: "A session with all its steps and elements, to resume it",
    request: { params: idParam },
    responses: answers(threadSchema, "The thread."),
  }),
  image: route("get", "/v1/sessions/{id}/images/{image_id}", "getImage", {
    summary: "An image of a session that was sent as data",
    request: { params: imageParams },
    responses: answersAs(Object.fromEntries(IMAGE_TYPES.map((type) => [type, imageBytes])), "The image.", ["Content-Disposition"]),
    fails: ["IMAGE_NOT_FOUND"],
  }),
  fork: route("post", "/v1/sessions/{id}/fork", "forkSession", {
    summary: "A new session that shares the past up to a message",
    request: { params: idParam, headers: idempotencyHeader, body: body(fieldsOf({ message_id: messageIdField }).openapi("Fork")) },
    responses: made,
    fails: [...OF_A_KEY, "SESSION_NOT_ACTIVE", "MESSAGE_NOT_FOUND", "RECORD_TOO_LARGE"],
  }),
  flush: route("post", "/v1/sessions/{id}/flush", "flushSession", {
    summary: "Wait until what was said is written to long-term memory",
    request: { params: idParam, query: flushQuery },
    responses: answers(writeBackSchema, "What is left when it is done, or the time is up."),
  }),
  retry: route("post", "/v1/sessions/{id}/write-back/retry", "retryWriteBack", {
    summary: "Try failed write-backs again",
    request: { params: idParam },
    responses: answers(writeBackSchema, "They are pending again.", 202),
  }),
};

/** As clients see it: one that nobody named yet, and in which nothing was said, has the name of such. */
function titled(session: Session): Session & { readonly title: string } {
  return { ...session, title: session.title ?? UNTITLED };
}

type Given = Omit<z.output<typeof createBody>, "external_id">;

export function settingsOf({ metadata, agent_type: agentType, expires_in_days: expiresInDays, ...given }: Given): NewSession {
  return { ...present({ ...given, agentType, expiresInDays }), ...(metadata !== undefined && { metadata: metadata as JsonObject }) };
}

export function sessionRoutes(sessions: Sessions): ApiApp {
  const api = newApi();
  api.openapi(routes.create, async (c) => {
    const { external_id: externalId, ...given } = c.req.valid("json");
    const owner = c.get("owner");
    const key = keyed(c, c.req.valid("header")["Idempotency-Key"], { route: "sessions", body: c.get("body") });
    const { session, created } =
      externalId === undefined
        ? { session: await sessions.create(owner, settingsOf(given), key), created: true }
        : await sessions.findOrCreate(owner, externalId, settingsOf(given), key);
    c.header("Location", `/v1/sessions/${session.id}`);
    return answer(c, sessionSchema, titled(session), created ? 201 : 200);
  });
  api.openapi(routes.list, async (c) => {
    const { data, nextCursor } = await sessions.list(c.get("owner"), present(c.req.valid("query")));
    return answer(c, pageOf(sessionSchema), { data: data.map(titled), next_cursor: nextCursor });
  });
  api.openapi(routes.get, async (c) => answer(c, sessionSchema, titled(await sessions.get(c.get("owner"), c.req.valid("param").id))));
  api.openapi(routes.patch, async (c) => {
    const { status, expires_in_days: days, ...given } = c.req.valid("json");
    const change = { ...settingsOf(given), ...present({ status, expiresInDays: days }) };
    return answer(c, sessionSchema, titled(await sessions.patch(c.get("owner"), c.req.valid("param").id, change)));
  });
  api.openapi(routes.delete, async (c) => {
    const { purge = false, keep_memories: keepMemories = false } = c.req.valid("query");
    const { id } = c.req.valid("param");
    if (keepMemories && !purge)
      throw new AppError("INVALID_REQUEST", {
        detail: "keep_memories goes with purge=true; without it nothing is taken from the memories.",
      });
    if (purge) await sessions.purge(c.get("owner"), id, { keepMemories, by: "user" });
    else await sessions.delete(c.get("owner"), id);
    return c.body(null, 204);
  });
  api.openapi(routes.restore, async (c) =>
    answer(c, sessionSchema, titled(await sessions.restore(c.get("owner"), c.req.valid("param").id))),
  );
  api.openapi(routes.empty, async (c) => {
    await sessions.empty(c.get("owner"), c.req.valid("param").id);
    return c.body(null, 204);
  });
  api.openapi(routes.messages, async (c) => {
    const { limit = 50, ...query } = c.req.valid("query");
    const page = await sessions.messages(c.get("owner"), c.req.valid("param").id, { limit, ...present(query) });
    return answer(c, pageOf(messageSchema), paged(page));
  });
  api.openapi(routes.thread, async (c) => {
    const { session, steps, elements } = await sessions.thread(c.get("owner"), c.req.valid("param").id);
    return answer(c, threadSchema, { ...titled(session), steps, elements });
  });
  api.openapi(routes.image, async (c) => {
    const { id, image_id: imageId } = c.req.valid("param");
    const { mediaType, data } = await sessions.image(c.get("owner"), id, imageId);
    requireAccept(c, mediaType);
    return c.body(new Uint8Array(data), 200, {
      "Content-Type": mediaType,
      "Content-Disposition": `inline; filename="${imageId.slice(0, 12)}.${mediaType.slice("image/".length)}"`,
      "Content-Security-Policy": "default-src 'none'; sandbox",
      "Cache-Control": "private, max-age=3600",
    });
  });
  api.openapi(routes.fork, async (c) => {
    const { id } = c.req.valid("param");
    const key = keyed(c, c.req.valid("header")["Idempotency-Key"], { route: "fork", id, body: c.get("body") });
    const session = await sessions.fork(c.get("owner"), id, c.req.valid("json").message_id, key);
    c.header("Location", `/v1/sessions/${session.id}`);
    return answer(c, sessionSchema, titled(session), 201);
  });
  api.openapi(routes.flush, async (c) => {
    const { timeout_ms: timeoutMs = 5_000 } = c.req.valid("query");
    return answer(c, writeBackSchema, await sessions.flush(c.get("owner"), c.req.valid("param").id, timeoutMs));
  });
  api.openapi(routes.retry, async (c) =>
    answer(c, writeBackSchema, await sessions.retryWriteBack(c.get("owner"), c.req.valid("param").id), 202),
  );
  return api;
}
