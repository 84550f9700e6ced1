import { z } from "@hono/zod-openapi";
import { present } from "../platform/present.js";
import { JOB_KINDS, jobSchema, knownUserSchema, type Operator } from "../ports/operator.js";
import { cursorQuery, fieldsOf, idParam, limitQuery, pageOf } from "./fields.js";
import { type ApiApp, answer, answers, body, newApi, paged, routesOf } from "./routes.js";

const route = routesOf("Operator");

const usersSchema = pageOf(knownUserSchema).openapi("KnownUsers");

const jobsSchema = pageOf(jobSchema).openapi("Jobs");

const tenantQuery = z.string().min(1).max(256).optional().openapi({ description: "Of this tenant alone." });
const jobBody = fieldsOf({
  kind: z.enum(JOB_KINDS).openapi({
    description: "`reindex` brings the list of sessions and history level with the journals; `reindex_memories` memories with their logs.",
  }),
  dry_run: z.boolean().default(false).openapi({ description: "`retention` alone: it says what it would do." }),
}).openapi("NewJob");

const routes = {
  users: route("get", "/v1/operator/users", "listUsers", {
    summary: "Users who have sessions, in an order that stays; no words of theirs",
    request: { query: z.object({ tenant: tenantQuery, limit: limitQuery, cursor: cursorQuery }) },
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
