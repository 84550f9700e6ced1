import { z } from "@hono/zod-openapi";
import { DEFAULT_TENANT } from "../domain/owner.js";
import { MEMORY_STATUSES } from "../domain/session.js";
import { present } from "../platform/present.js";
import { JOB_KINDS, jobSchema, knownUserSchema, type Operator } from "../ports/operator.js";
import type { Studio } from "../ports/studio.js";
import {
  conversationRowSchema,
  conversationSchema,
  guestSchema,
  healthSchema,
  plotStepSchema,
  queuedWriteBackSchema,
  queueSchema,
  studioSchema,
  timelineEntrySchema,
  turnDetailSchema,
  turnReplaySchema,
  waitingMemorySchema,
} from "../ports/studio-views.js";
import {
  cursorQuery,
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
} from "./fields.js";
import { type ApiApp, answer, answers, body, newApi, paged, routesOf } from "./routes.js";

const route = routesOf("Operator");

const usersSchema = pageOf(knownUserSchema).openapi("KnownUsers");

const jobsSchema = pageOf(jobSchema).openapi("Jobs");

const name = z.string().min(1).max(256);
const anyTenant = name.optional().openapi({ description: "Of this tenant alone." });
const jobBody = fieldsOf({
  kind: z.enum(JOB_KINDS).openapi({
    description: "`reindex` brings the list of sessions and history level with the journals; `reindex_memories` memories with their logs.",
  }),
  dry_run: z.boolean().default(false).openapi({ description: "`retention` alone: it says what it would do." }),
}).openapi("NewJob");

const routes = {
  users: route("get", "/v1/operator/users", "listUsers", {
    summary: "Users who have sessions, in an order that stays; no words of theirs",
    request: { query: z.object({ tenant: anyTenant, limit: limitQuery, cursor: cursorQuery }) },
    responses: answers(usersSchema, "A page. One may hold less than `limit` where another follows."),
    fails: ["INVALID_CURSOR", "INVALID_USER_ID"],
  }),
  start: route("post", "/v1/operator/jobs", "startJob", {
    summary: "Begin work over all users, beside their turns: one of a kind at a time",
    request: { body: body(jobBody) },
    responses: answers(jobSchema, "It runs.", 202, ["Location"]),
    fails: ["JOB_RUNNING"],
  }),
  list: route("get", "/v1/operator/jobs", "listJobs", {
    summary: "Jobs, of all processes, newest first",
    responses: answers(jobsSchema, "At most 100 that have ended, and those that run."),
  }),
  get: route("get", "/v1/operator/jobs/{id}", "getJob", {
    summary: "How far a job is, whichever process runs it",
    request: { params: idParam },
    responses: answers(jobSchema, "The job."),
    fails: ["JOB_NOT_FOUND"],
  }),
  stop: route("delete", "/v1/operator/jobs/{id}", "stopJob", {
    summary: "Stop a job; begun again, it goes on where it was",
    request: { params: idParam },
    responses: answers(jobSchema, "It is asked to stop, or has ended.", 202),
    fails: ["JOB_NOT_FOUND"],
  }),
};

/** For whoever runs the server; see {@link operatorDoor}. */
export function operatorRoutes({ users, jobs }: Operator): ApiApp {
  const api = newApi();
  api.openapi(routes.users, async (c) => answer(c, usersSchema, paged(await users(present(c.req.valid("query"))))));
  api.openapi(routes.start, async (c) => {
    const { kind, dry_run: dryRun } = c.req.valid("json");
    const job = await jobs.start(kind, { dryRun });
    c.header("Location", `/v1/operator/jobs/${job.id}`);
    return answer(c, jobSchema, job, 202);
  });
  api.openapi(routes.list, async (c) => answer(c, jobsSchema, { data: await jobs.list(), next_cursor: null }));
  api.openapi(routes.get, async (c) => answer(c, jobSchema, await jobs.get(c.req.valid("param").id)));
  api.openapi(routes.stop, async (c) => answer(c, jobSchema, await jobs.stop(c.req.valid("param").id), 202));
  return api;
}

const conversationsSchema = pageOf(conversationRowSchema).openapi("Conversations");
const timelineSchema = pageOf(timelineEntrySchema).openapi("Timeline");
const waitingSchema = pageOf(waitingMemorySchema).openapi("WaitingMemories");
const writeBacksSchema = pageOf(queuedWriteBackSchema).openapi("QueuedWriteBacks");
const queuesSchema = z.object({ data: z.array(queueSchema) }).openapi("Queues");
const plotsSchema = z.object({ steps: z.array(plotStepSchema) }).openapi("Plots");

const PAGE = 50;

const tenant = name.default(DEFAULT_TENANT).openapi({ description: "Default: `default`." });
const limit = integerQuery(1, 200, PAGE);
const page = { limit, cursor: cursorQuery };
const amount = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,12})?$/, "an amount")
  .transform(Number)
  .optional()
  .openapi({ type: "number", minimum: 0 });
const session = idField.openapi({ param: { name: "session", in: "path" } });
const user = name.openapi({ param: { name: "user", in: "path" } });
const turn = z
  .string()
  .regex(/^[1-9]\d{0,8}$/, "a whole number from 1")
  .transform(Number)
  .openapi({ type: "integer", minimum: 1, param: { name: "turn", in: "path" } });
const ofOwner = z.strictObject({ tenant, user: name });
const replayBody = fieldsOf({
  tenant,
  user: name,
  model: labelField(256).optional().openapi({ description: "Another model of the same provider. Default: the configured one." }),
  prompt: textField(100_000).optional().openapi({ description: "A prompt in the place of the product's." }),
  memory: z.boolean().default(true).openapi({ description: "Whether memories are recalled." }),
}).openapi("ReplayedTurn");

const views = {
  about: route("get", "/v1/operator/studio", "getStudio", {
    summary: "What the operator is shown, and of which server",
    responses: answers(studioSchema, "The server."),
  }),
  conversations: route("get", "/v1/operator/conversations", "listConversations", {
    summary: "Conversations of all users, newest activity first, a moment behind what is written",
    request: {
      query: z.strictObject({
        tenant: anyTenant,
        user: name.optional().openapi({ description: "Of `tenant`, or of `default`." }),
        from: timeField.optional(),
        to: timeField.optional(),
        memory_status: z.enum(MEMORY_STATUSES).optional(),
        failed: flagQuery,
        min_cost: amount,
        ...page,
      }),
    },
    responses: answers(conversationsSchema, "A page. One may hold less than `limit` where another follows."),
    fails: ["INVALID_CURSOR", "INVALID_USER_ID"],
  }),
  conversation: route("get", "/v1/operator/conversations/{session}", "getConversation", {
    summary: "A conversation with its turns",
    request: { params: z.object({ session }), query: z.strictObject({ tenant, user: name, ...page }) },
    responses: answers(conversationSchema, "The conversation, and a page of its turns."),
    fails: ["SESSION_NOT_FOUND", "INVALID_CURSOR", "INVALID_USER_ID"],
  }),
  turn: route("get", "/v1/operator/turns/{session}/{turn}", "getTurn", {
    summary:
      "How a turn went: what its model was given, what was recalled and why, what became of its reading, and how long each part took",
    request: { params: z.object({ session, turn }), query: ofOwner },
    responses: answers(turnDetailSchema, "What is kept of it; null where something isn't."),
    fails: ["SESSION_NOT_FOUND", "INVALID_USER_ID", "LONG_TERM_MEMORY_UNAVAILABLE"],
  }),
  replay: route("post", "/v1/operator/turns/{session}/{turn}/replay", "replayTurn", {
    summary: "Answer a turn once more, with what was said and known before it, beside the answer of then; nothing is kept of it",
    request: { params: z.object({ session, turn }), body: body(replayBody) },
    responses: answers(turnReplaySchema, "Both answers."),
    fails: [
      "SESSION_NOT_FOUND",
      "INVALID_USER_ID",
      "OWNER_ERASED",
      "JOB_RUNNING",
      "IMAGES_NOT_SUPPORTED",
      "CONTEXT_TOO_LARGE",
      "COST_LIMIT_REACHED",
      "MODEL_CONTENT_FILTER",
      "MODEL_UNAVAILABLE",
      "MODEL_REFUSED_REQUEST",
      "MODEL_QUOTA",
      "MODEL_TIMEOUT",
      "LONG_TERM_MEMORY_UNAVAILABLE",
    ],
  }),
  guest: route("get", "/v1/operator/guests/{user}", "getGuest", {
    summary: "What is kept of a user",
    request: { params: z.object({ user }), query: z.strictObject({ tenant }) },
    responses: answers(guestSchema, "The user."),
    fails: ["INVALID_USER_ID", "OWNER_ERASED"],
  }),
  timeline: route("get", "/v1/operator/guests/{user}/timeline", "getTimeline", {
    summary: "What became of a user's memories, newest first; with `as_of` what held then",
    request: { params: z.object({ user }), query: z.strictObject({ tenant, as_of: timeField.optional(), ...page }) },
    responses: answers(timelineSchema, "A page."),
    fails: ["INVALID_CURSOR", "INVALID_USER_ID", "LONG_TERM_MEMORY_DISABLED", "LONG_TERM_MEMORY_UNAVAILABLE", "OWNER_ERASED"],
  }),
  waiting: route("get", "/v1/operator/waiting", "listWaiting", {
    summary: "Memories that wait for their guest's word, user by user",
    request: { query: z.strictObject({ tenant: anyTenant, ...page }) },
    responses: answers(waitingSchema, "A page: all of some users'. One may be empty where another follows."),
    fails: ["INVALID_CURSOR", "INVALID_USER_ID", "OWNER_ERASED"],
  }),
  queues: route("get", "/v1/operator/queues", "listQueues", {
    summary: "What is to be done behind answers, and what was given up",
    responses: answers(queuesSchema, "The queues."),
  }),
  writeBacks: route("get", "/v1/operator/queues/write-back", "listWriteBacks", {
    summary: "Turns that are not written back, the longest due first",
    request: { query: z.strictObject({ state: z.enum(["pending", "failed"]).optional(), ...page }) },
    responses: answers(writeBacksSchema, "A page."),
    fails: ["INVALID_CURSOR"],
  }),
  retry: route("post", "/v1/operator/queues/write-back/retry", "retryWriteBackAsOperator", {
    summary: "Try the turns of a session again whose write-back was given up",
    request: { body: body(fieldsOf({ tenant, user: name, session_id: idField }).openapi("RetriedSession")) },
    responses: answers(z.object({ retried: z.literal(true) }).openapi("Retried"), "They are tried again.", 202),
    fails: ["SESSION_NOT_FOUND", "INVALID_USER_ID"],
  }),
  plots: route("get", "/v1/operator/plots", "getPlots", {
    summary: "Turns, recall, proposals, costs and erasures by hour or day (UTC), kept for 35 days",
    request: {
      query: z.strictObject({
        from: timeField.optional(),
        to: timeField.optional(),
        step: z.enum(["hour", "day"]).default("hour"),
        tenant: anyTenant,
      }),
    },
    responses: answers(plotsSchema, "The steps, oldest first: at most 1,000. What nobody counted yet is null."),
  }),
  health: route("get", "/v1/operator/health", "getHealthHistory", {
    summary: "How each part does, and how it did",
    responses: answers(healthSchema, "Now, and the last 200 changes."),
  }),
};

/** What happened, for whoever runs the server; see {@link operatorDoor}. */
export function studioDataRoutes(studio: Studio): ApiApp {
  const api = newApi();
  const pageQuery = ({ limit = PAGE, cursor }: { readonly limit?: number | undefined; readonly cursor?: string | undefined }) => ({
    limit,
    ...present({ cursor }),
  });
  api.openapi(views.about, async (c) => answer(c, studioSchema, await studio.about()));
  api.openapi(views.conversations, async (c) => {
    const { memory_status: memoryStatus, min_cost: minCost, limit = PAGE, ...query } = c.req.valid("query");
    return answer(c, conversationsSchema, paged(await studio.conversations({ ...present({ ...query, memoryStatus, minCost }), limit })));
  });
  api.openapi(views.conversation, async (c) => {
    const { tenant, user, ...query } = c.req.valid("query");
    const name = { tenant, user, sessionId: c.req.valid("param").session };
    return answer(c, conversationSchema, await studio.conversation(name, pageQuery(query)));
  });
  api.openapi(views.turn, async (c) => {
    const { session: sessionId, turn } = c.req.valid("param");
    return answer(c, turnDetailSchema, await studio.turn({ ...c.req.valid("query"), sessionId }, turn));
  });
  api.openapi(views.replay, async (c) => {
    const { session: sessionId, turn } = c.req.valid("param");
    const { tenant, user, ...otherwise } = c.req.valid("json");
    const name = { tenant, user, sessionId };
    return answer(c, turnReplaySchema, await studio.replay(name, turn, present(otherwise), c.req.raw.signal));
  });
  api.openapi(views.guest, async (c) =>
    answer(c, guestSchema, await studio.guest({ ...c.req.valid("query"), user: c.req.valid("param").user })),
  );
  api.openapi(views.timeline, async (c) => {
    const { tenant, as_of: asOf, ...query } = c.req.valid("query");
    const name = { tenant, user: c.req.valid("param").user };
    return answer(c, timelineSchema, paged(await studio.timeline(name, { ...pageQuery(query), ...present({ asOf }) })));
  });
  api.openapi(views.waiting, async (c) => {
    const { tenant, ...query } = c.req.valid("query");
    return answer(c, waitingSchema, paged(await studio.waiting({ ...pageQuery(query), ...present({ tenant }) })));
  });
  api.openapi(views.queues, async (c) => answer(c, queuesSchema, { data: await studio.queues() }));
  api.openapi(views.writeBacks, async (c) => {
    const { state, ...query } = c.req.valid("query");
    return answer(c, writeBacksSchema, paged(await studio.writeBacks({ ...pageQuery(query), ...present({ state }) })));
  });
  api.openapi(views.retry, async (c) => {
    const { session_id: sessionId, ...owner } = c.req.valid("json");
    await studio.retry({ ...owner, sessionId });
    return answer(c, z.object({ retried: z.literal(true) }), { retried: true }, 202);
  });
  api.openapi(views.plots, async (c) => {
    const { step, ...query } = c.req.valid("query");
    return answer(c, plotsSchema, { steps: await studio.plots({ step, ...present(query) }) });
  });
  api.openapi(views.health, async (c) => answer(c, healthSchema, await studio.health()));
  return api;
}
