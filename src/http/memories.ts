import { z } from "@hono/zod-openapi";
import type { Sessions } from "../application.js";
import { AppError } from "../errors.js";
import { type LongTermMemory, MEMORY_STATES, MEMORY_TYPES } from "../long-term.js";
import type { Clock } from "../platform/clock.js";
import { derivedId } from "../platform/ids.js";
import { idempotencyHeader } from "./chat.js";
import { cursorQuery, flagQuery, idParam, labelField, limitQuery, pageOf, textField, timeField } from "./fields.js";
import { present } from "./present.js";
import { foundMemorySchema, memoryEventSchema, memorySchema, whySchema } from "./resources.js";
import { type ApiApp, answer, answers, answersNothing, body, createRoute, newApi } from "./routes.js";
import { wordsBehind } from "./why.js";

const MAX_TEXT_CHARS = 500;
const MAX_QUERY_CHARS = 1_000;
const tags = ["Memories"];

const editable = {
  text: textField(MAX_TEXT_CHARS),
  category: labelField(64),
  aspect: labelField(64),
  type: z.enum(MEMORY_TYPES),
  strength: z.enum(["hard", "soft"]),
  subject: labelField(74)
    .refine((subject) => /^(self|companion:.{1,64})$/u.test(subject), "`self` or `companion:<name>`")
    .openapi({ example: "companion:Ida" }),
  scope: z.enum(["standing", "trip"]),
  valid_until: timeField.nullable(),
  tags: z.array(labelField(64)).max(32),
};

const addBody = z.object(editable).partial().required({ text: true }).openapi("NewMemory");
const patchBody = z
  .object(editable)
  .partial()
  .refine((patch) => Object.values(patch).some((value) => value !== undefined), "nothing to change")
  .openapi("MemoryPatch");

const filters = {
  category: labelField(64).optional(),
  type: z.enum(MEMORY_TYPES).optional(),
  status: z.enum(MEMORY_STATES).optional(),
  as_of: timeField.optional(),
};
const listQuery = z.strictObject({
  ...filters,
  include_superseded: flagQuery,
  q: textField(MAX_QUERY_CHARS).optional(),
  limit: limitQuery,
  cursor: cursorQuery,
});
const searchBody = z
  .object({
    ...filters,
    query: textField(MAX_QUERY_CHARS),
    limit: z.number().int().min(1).max(200).optional(),
    include_superseded: z.boolean().optional(),
  })
  .openapi("MemorySearch");
const confirmQuery = z.strictObject({ confirm: flagQuery });

const memoryPage = pageOf(memorySchema).openapi("MemoryPage");
const foundPage = pageOf(foundMemorySchema).openapi("FoundMemoryPage");
const eventPage = pageOf(memoryEventSchema).openapi("MemoryEventPage");
const forgottenSchema = z.object({ forgotten: z.number().int() }).openapi("Forgotten");

const one = answers(memorySchema, "The memory.");
const routes = {
  list: createRoute({
    method: "get",
    path: "/v1/memories",
    tags,
    summary: "Memories, newest first; with `q` a search, best first",
    request: { query: listQuery },
    responses: answers(z.union([memoryPage, foundPage]), "A page of memories."),
  }),
  search: createRoute({
    method: "post",
    path: "/v1/memories/search",
    tags,
    summary: "Memories by meaning, best first",
    request: { body: body(searchBody) },
    responses: answers(foundPage, "What was found."),
  }),
  add: createRoute({
    method: "post",
    path: "/v1/memories",
    tags,
    summary: "State a memory by hand; a secret is refused, and what tells the assistant what to do waits for review",
    request: { headers: idempotencyHeader, body: body(addBody) },
    responses: answers(memorySchema, "The memory.", 201),
  }),
  get: createRoute({ method: "get", path: "/v1/memories/{id}", tags, summary: "One memory", request: { params: idParam }, responses: one }),
  patch: createRoute({
    method: "patch",
    path: "/v1/memories/{id}",
    tags,
    summary: "Edit; a changed text is a new memory that supersedes the old one",
    request: { params: idParam, body: body(patchBody) },
    responses: one,
  }),
  forget: createRoute({
    method: "delete",
    path: "/v1/memories/{id}",
    tags,
    summary: "Forget for good",
    request: { params: idParam },
    responses: answersNothing("Forgotten."),
  }),
  forgetAll: createRoute({
    method: "delete",
    path: "/v1/memories",
    tags,
    summary: "Forget everything",
    request: { query: confirmQuery },
    responses: answers(forgottenSchema, "How many were forgotten."),
  }),
  history: createRoute({
    method: "get",
    path: "/v1/memories/{id}/history",
    tags,
    summary: "What happened to a memory, oldest first",
    request: { params: idParam },
    responses: answers(eventPage, "Its events."),
  }),
  approve: createRoute({
    method: "post",
    path: "/v1/memories/{id}/approve",
    tags,
    summary: "Accept a memory that waits for review",
    request: { params: idParam },
    responses: one,
  }),
  why: createRoute({
    method: "get",
    path: "/v1/memories/{id}/why",
    tags,
    summary: "The user's own words that a memory comes from",
    request: { params: idParam },
    responses: answers(whySchema, "The memory and its source; null for one that was added by hand."),
  }),
};

/**
 * Memories by hand: the user's own, so no guard asks whether they were meant. Strength and type that are left out are the category's
 * (a dietary need must hold). A secret is refused with 422 MEMORY_REFUSED, in a new memory as in an edit; an instruction to the
 * assistant is put to review as a new memory, where it is seen and not used until it is approved, and refused as an edit.
 */
export function memoryRoutes({
  memories,
  sessions,
  clock,
}: {
  readonly memories: LongTermMemory;
  readonly sessions: Sessions;
  readonly clock: Clock;
}): ApiApp {
  const api = newApi();
  api.openapi(routes.list, async (c) => {
    const { q, include_superseded, cursor, ...query } = c.req.valid("query");
    const signal = c.req.raw.signal;
    const filter = present({ ...query, includeSuperseded: include_superseded });
    if (q !== undefined) {
      if (cursor !== undefined) throw new AppError("INVALID_CURSOR", { detail: "A search has one page." });
      const found = await memories.search(c.get("owner"), { ...filter, text: q, signal });
      return answer(c, foundPage, { data: found, next_cursor: null });
    }
    const { data, nextCursor } = await memories.list(c.get("owner"), { ...filter, ...present({ cursor }), signal });
    return answer(c, memoryPage, { data, next_cursor: nextCursor });
  });
  api.openapi(routes.search, async (c) => {
    const { query: text, include_superseded, ...filter } = c.req.valid("json");
    const found = await memories.search(c.get("owner"), {
      ...present({ ...filter, includeSuperseded: include_superseded }),
      text,
      signal: c.req.raw.signal,
    });
    return answer(c, foundPage, { data: found, next_cursor: null });
  });
  api.openapi(routes.add, async (c) => {
    const owner = c.get("owner");
    const { text, category = "other", ...said } = c.req.valid("json");
    const key = c.req.valid("header")["Idempotency-Key"];
    const id = key === undefined ? {} : { id: derivedId("memory", owner, "by hand", key) };
    const memory = await memories.add(owner, { ...present(said), text, category }, { ...id, now: clock.now() });
    c.header("Location", `/v1/memories/${memory.id}`);
    return answer(c, memorySchema, memory, 201);
  });
  api.openapi(routes.get, async (c) =>
    answer(c, memorySchema, await memories.get(c.get("owner"), c.req.valid("param").id, { signal: c.req.raw.signal })),
  );
  api.openapi(routes.patch, async (c) =>
    answer(
      c,
      memorySchema,
      await memories.patch(c.get("owner"), c.req.valid("param").id, present(c.req.valid("json")), { now: clock.now() }),
    ),
  );
  api.openapi(routes.forget, async (c) => {
    await memories.forget(c.get("owner"), c.req.valid("param").id, { now: clock.now() });
    return c.body(null, 204);
  });
  api.openapi(routes.forgetAll, async (c) => {
    if (!c.req.valid("query").confirm) throw new AppError("CONFIRMATION_REQUIRED");
    return answer(c, forgottenSchema, { forgotten: await memories.forgetAll(c.get("owner"), { now: clock.now() }) });
  });
  api.openapi(routes.history, async (c) => {
    const events = await memories.history(c.get("owner"), c.req.valid("param").id);
    return answer(c, eventPage, { data: events, next_cursor: null });
  });
  api.openapi(routes.approve, async (c) =>
    answer(c, memorySchema, await memories.approve(c.get("owner"), c.req.valid("param").id, { now: clock.now() })),
  );
  api.openapi(routes.why, async (c) => {
    const owner = c.get("owner");
    const memory = await memories.get(owner, c.req.valid("param").id, { signal: c.req.raw.signal });
    const source = memory.source && { ...memory.source, message: await wordsBehind(sessions, owner, memory.source) };
    return answer(c, whySchema, { memory, source });
  });
  return api;
}
