import { z } from "@hono/zod-openapi";
import { MEMORY_STATES, MEMORY_TYPES, memoryEventSchema, memorySchema } from "../domain/memory.js";
import type { Clock } from "../platform/clock.js";
import { AppError } from "../platform/errors.js";
import { present } from "../platform/present.js";
import type { Application } from "../ports/application.js";
import { foundMemorySchema, whySchema } from "../ports/resources.js";
import { idempotencyHeader, keyed } from "./chat.js";
import {
  cursorQuery,
  endField,
  fieldsOf,
  flagQuery,
  idField,
  idParam,
  integerQuery,
  labelField,
  limitQuery,
  pageOf,
  textField,
  timeField,
  zoneOfDates,
} from "./fields.js";
import { invalidRequest, OF_A_KEY, problemOf, problemSchema } from "./problem.js";
import { type ApiApp, answer, answers, answersNothing, body, newApi, paged, routesOf } from "./routes.js";
import { whyOf } from "./why.js";

const MAX_TEXT_CHARS = 500;
const MAX_QUERY_CHARS = 1_000;
const route = routesOf("Memories");

const subjectField = labelField(74)
  .refine((subject) => /^(self|companion:.{1,64})$/u.test(subject), "`self` or `companion:<name>`")
  .openapi({ example: "companion:Ida" });

const editable = {
  text: textField(MAX_TEXT_CHARS),
  category: labelField(64),
  aspect: labelField(64),
  type: z.enum(MEMORY_TYPES).openapi({ description: "`narrative` is refused: it is told of the others." }),
  strength: z.enum(["hard", "soft"]),
  subject: subjectField,
  scope: z.enum(["standing", "trip"]),
  valid_until: endField.nullable(),
  tags: z.array(labelField(64)).max(32),
};

export const addBody = fieldsOf(editable).partial().required({ text: true }).openapi("NewMemory");
export const patchBody = fieldsOf(editable)
  .partial()
  .refine((patch) => Object.values(patch).some((value) => value !== undefined), "nothing to change")
  .openapi("MemoryPatch");

const filters = {
  category: labelField(64).optional(),
  type: z.enum(MEMORY_TYPES).optional().openapi({ description: "Default: all but `narrative`, which is told of the others." }),
  tag: labelField(64).optional(),
  entity: labelField(200).optional().openapi({ description: "One of its `entities`: the name of a companion, say." }),
  subject: subjectField.optional().openapi({ description: "Whom it is about." }),
  channel: labelField(64).optional(),
  status: z.enum(MEMORY_STATES).optional(),
  as_of: timeField.optional(),
};
export const listQuery = z.strictObject({
  ...filters,
  include_superseded: flagQuery,
  session_id: idField.optional(),
  turn: integerQuery(1, 1_000_000),
  q: textField(MAX_QUERY_CHARS).optional(),
  limit: limitQuery,
  cursor: cursorQuery,
});
export const searchBody = fieldsOf({
  ...filters,
  query: textField(MAX_QUERY_CHARS),
  limit: z.number().int().min(1).max(200).optional(),
  include_superseded: z.boolean().optional(),
}).openapi("MemorySearch");
const confirmQuery = z.strictObject({ confirm: flagQuery });

const memoryPage = pageOf(memorySchema).openapi("MemoryPage");
const foundPage = pageOf(foundMemorySchema).openapi("FoundMemoryPage");
const eventPage = pageOf(memoryEventSchema).openapi("MemoryEventPage");
const forgottenSchema = z.object({ forgotten: z.number().int() }).openapi("Forgotten");

const one = answers(memorySchema, "The memory.");
const routes = {
  list: route("get", "/v1/memories", "listMemories", {
    summary: "Memories, newest first; with `q` a search, best first; with `session_id` (and `turn`) what came from there",
    request: { query: listQuery },
    responses: answers(z.union([memoryPage, foundPage]), "A page of memories."),
    fails: ["INVALID_SESSION_ID", "INVALID_CURSOR"],
  }),
  search: route("post", "/v1/memories/search", "searchMemories", {
    summary: "Memories by meaning, best first",
    request: { body: body(searchBody) },
    responses: answers(foundPage, "What was found."),
  }),
  add: route("post", "/v1/memories", "addMemory", {
    summary: "State a memory by hand; a secret is refused",
    request: { headers: idempotencyHeader, body: body(addBody) },
    responses: answers(memorySchema, "The memory.", 201, ["Location", "Idempotency-Replayed"]),
    fails: [...OF_A_KEY, "MEMORY_REFUSED"],
  }),
  get: route("get", "/v1/memories/{id}", "getMemory", {
    summary: "One memory",
    request: { params: idParam },
    responses: one,
  }),
  patch: route("patch", "/v1/memories/{id}", "updateMemory", {
    summary: "Edit; a changed text is a new memory that supersedes the old one",
    request: { params: idParam, body: body(patchBody) },
    responses: one,
    fails: ["MEMORY_REFUSED"],
  }),
  forget: route("delete", "/v1/memories/{id}", "forgetMemory", {
    summary: "Forget for good",
    request: { params: idParam },
    responses: answersNothing("Forgotten."),
  }),
  forgetAll: route("delete", "/v1/memories", "forgetAllMemories", {
    summary: "Forget everything",
    request: { query: confirmQuery },
    responses: answers(forgottenSchema, "How many were forgotten."),
    fails: ["CONFIRMATION_REQUIRED"],
  }),
  history: route("get", "/v1/memories/{id}/history", "getMemoryHistory", {
    summary: "What happened to a memory, oldest first",
    request: { params: idParam },
    responses: answers(eventPage, "Its events."),
  }),
  approve: route("post", "/v1/memories/{id}/approve", "approveMemory", {
    summary: "The user's yes: a memory that waits for their word is used from now on, a change that waits is made",
    request: { params: idParam },
    responses: one,
  }),
  reject: route("post", "/v1/memories/{id}/reject", "rejectMemory", {
    summary: "The user's no: a memory that waits for their word goes, a change that waits is dropped",
    request: { params: idParam },
    responses: one,
  }),
  why: route("get", "/v1/memories/{id}/why", "getMemorySource", {
    summary: "The user's own words that a memory comes from",
    request: { params: idParam },
    responses: answers(whySchema, "The memory and its source; null for one that was added by hand."),
  }),
};

/**
 * Memories by hand: the user's own, so no guard asks whether they were meant. Strength and type that are left out are the category's
 * (a dietary need must hold); where that is left out too, the text is read for it. A secret is refused with 422 MEMORY_REFUSED, in a new
 * memory as in an edit.
 */
export function memoryRoutes({ memories, sessions, user }: Pick<Application, "memories" | "sessions" | "user">, clock: Clock): ApiApp {
  const api = newApi();
  api.openapi(routes.list, async (c) => {
    const { q, include_superseded, cursor, session_id, turn, ...query } = c.req.valid("query");
    if (turn !== undefined && session_id === undefined)
      throw new AppError("INVALID_REQUEST", { errors: [{ pointer: "/turn", detail: "Turns are counted within a session: name it too." }] });
    const signal = c.req.raw.signal;
    const filter = present({ ...query, includeSuperseded: include_superseded, sessionId: session_id, turn });
    if (q !== undefined) {
      if (cursor !== undefined) throw new AppError("INVALID_CURSOR", { detail: "A search has one page." });
      const found = await memories.search(c.get("owner"), { ...filter, text: q, signal });
      return answer(c, foundPage, { data: found, next_cursor: null });
    }
    return answer(c, memoryPage, paged(await memories.list(c.get("owner"), { ...filter, ...present({ cursor }), signal })));
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
    const { text, ...said } = c.req.valid("json");
    const key = c.req.valid("header")["Idempotency-Key"];
    const request = keyed(c, key, { route: "memories", key, body: c.get("body") });
    const memory = await memories.add(
      owner,
      { ...present(said), text },
      { ...present({ request }), now: clock.now(), ...(await zoneOfDates(c, user, [said.valid_until])) },
    );
    c.header("Location", `/v1/memories/${memory.id}`);
    return answer(c, memorySchema, memory, 201);
  });
  api.openapi(routes.get, async (c) =>
    answer(c, memorySchema, await memories.get(c.get("owner"), c.req.valid("param").id, { signal: c.req.raw.signal })),
  );
  api.openapi(routes.patch, async (c) => {
    const patch = c.req.valid("json");
    const at = { now: clock.now(), ...(await zoneOfDates(c, user, [patch.valid_until])) };
    return answer(c, memorySchema, await memories.patch(c.get("owner"), c.req.valid("param").id, present(patch), at));
  });
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
  api.openapi(routes.reject, async (c) =>
    answer(c, memorySchema, await memories.reject(c.get("owner"), c.req.valid("param").id, { now: clock.now() })),
  );
  api.openapi(routes.why, async (c) => {
    const why = await whyOf({ memories, sessions }, c.get("owner"), c.req.valid("param").id, c.req.raw.signal);
    return answer(c, whySchema, why);
  });
  return api;
}

const MAX_MEMORIES = 100;

/** Each is looked at by itself, so that one that is wrong doesn't stop the others. */
const batchBody = fieldsOf({
  memories: z
    .array(z.record(z.string(), z.unknown()))
    .min(1)
    .max(MAX_MEMORIES)
    .openapi({ type: "array", items: { $ref: "#/components/schemas/NewMemory" }, minItems: 1, maxItems: MAX_MEMORIES }),
}).openapi("NewMemories");

const outcomeSchema = z
  .object({
    status: z.number().int().openapi({ description: "As an answer to this memory alone would have it: 201, 400, 422, 503." }),
    memory: memorySchema.optional(),
    problem: problemSchema.optional(),
  })
  .openapi("NewMemoryOutcome");
const outcomes = z.object({ data: z.array(outcomeSchema) }).openapi("NewMemoryOutcomes");
type Outcome = z.output<typeof outcomeSchema>;

const batchRoute = route("post", "/v1/memories/batch", "addMemories", {
  summary: "State many memories by hand, each with its own outcome",
  request: { headers: idempotencyHeader, body: body(batchBody) },
  responses: answers(outcomes, "What became of each, in the order given.", 201, ["Idempotency-Replayed"]),
  fails: OF_A_KEY,
});

/** Many memories by hand. The same Idempotency-Key makes a retry harmless: what is there is not added again. */
export function memoryBatchRoutes({ memories, user }: Pick<Application, "memories" | "user">, clock: Clock): ApiApp {
  const api = newApi();
  api.openapi(batchRoute, async (c) => {
    const owner = c.get("owner");
    const key = c.req.valid("header")["Idempotency-Key"];
    const failed = (error: AppError): Outcome => ({ status: error.status, problem: problemOf(error, c.get("requestId")) });
    const given = c.req.valid("json").memories.map((each, place) => ({ place, parsed: addBody.safeParse(each) }));
    const fit = given.flatMap(({ place, parsed }) => (parsed.success ? [{ place, said: parsed.data }] : []));
    const added = await memories.addAll(
      owner,
      fit.map(({ said: { text, ...said } }) => ({ ...present(said), text })),
      {
        ...present({ request: keyed(c, key, { route: "memories/batch", key, body: c.get("body") }) }),
        now: clock.now(),
        ...(await zoneOfDates(
          c,
          user,
          fit.map(({ said }) => said.valid_until),
        )),
      },
    );
    const outcomeOf = new Map<number, Outcome>();
    for (const [index, { place }] of fit.entries()) {
      const outcome = added[index];
      if (outcome === undefined) continue;
      outcomeOf.set(place, "memory" in outcome ? { status: 201, memory: memorySchema.parse(outcome.memory) } : failed(outcome.error));
    }
    const data = given.flatMap(({ place, parsed }) => {
      if (!parsed.success) return [failed(invalidRequest(parsed.error, "json", c.req.path))];
      return outcomeOf.get(place) ?? [];
    });
    return answer(c, outcomes, { data }, 201);
  });
  return api;
}
