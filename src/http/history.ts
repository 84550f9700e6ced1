import { z } from "@hono/zod-openapi";
import type { Owner } from "../domain/owner.js";
import type { Clock } from "../platform/clock.js";
import { present } from "../platform/present.js";
import type { ConversationHistory, HistorySearch } from "../ports/history.js";
import { historyHitSchema } from "../ports/resources.js";
import { fieldsOf, idField, integerQuery, pageOf, textField, timeField } from "./fields.js";
import { type ApiApp, answer, answers, body, newApi, routesOf } from "./routes.js";

const MAX_QUERY_CHARS = 1_000;
const MAX_CONTEXT = 10;
const route = routesOf("History");

const filters = {
  session_id: idField.optional(),
  from: timeField.optional(),
  to: timeField.optional(),
  role: z.enum(["user", "assistant", "system"]).optional(),
};
export const searchBody = fieldsOf({
  ...filters,
  query: textField(MAX_QUERY_CHARS),
  limit: z.number().int().min(1).max(200).optional(),
  context: z.number().int().min(0).max(MAX_CONTEXT).optional(),
}).openapi("HistorySearch");
const searchQuery = z.strictObject({
  ...filters,
  q: textField(MAX_QUERY_CHARS),
  limit: integerQuery(1, 200, 20),
  context: integerQuery(0, MAX_CONTEXT, 0),
});

const hits = pageOf(historyHitSchema).openapi("HistoryHits");
const responses = answers(hits, "What was said, best first.");
const fails = ["INVALID_SESSION_ID", "HISTORY_DISABLED", "HISTORY_UNAVAILABLE", "EMBEDDING_UNAVAILABLE"] as const;
const routes = {
  post: route("post", "/v1/history/search", "searchHistory", {
    summary: "Search all that was said",
    request: { body: body(searchBody) },
    responses,
    fails,
  }),
  get: route("get", "/v1/history/search", "findInHistory", {
    summary: "The same, for hand use",
    request: { query: searchQuery },
    responses,
    fails,
  }),
};

export function historyRoutes(history: Pick<ConversationHistory, "search">, clock: Clock): ApiApp {
  const api = newApi();
  const search = async (owner: Owner, query: Omit<HistorySearch, "now">) => ({
    data: (await history.search(owner, { ...query, now: clock.now() })).map((hit) => hit),
    next_cursor: null,
  });
  api.openapi(routes.post, async (c) => {
    const { query, ...rest } = c.req.valid("json");
    return answer(c, hits, await search(c.get("owner"), { ...present(rest), query, signal: c.req.raw.signal }));
  });
  api.openapi(routes.get, async (c) => {
    const { q, ...rest } = c.req.valid("query");
    return answer(c, hits, await search(c.get("owner"), { ...present(rest), query: q, signal: c.req.raw.signal }));
  });
  return api;
}
