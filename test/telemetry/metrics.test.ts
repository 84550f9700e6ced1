import { describe, expect, onTestFinished, test, vi } from "vitest";
import { compose, type Overrides } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { createHttpApp } from "../../src/http/app.js";
import { listen } from "../../src/http/server.js";
import { createApp } from "../../src/http.js";
import { createMaitred } from "../../src/index.js";
import { systemClock } from "../../src/platform/clock.js";
import { AppError } from "../../src/platform/errors.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { ModelTask } from "../../src/ports/chat-model.js";
import type { MessageReader } from "../../src/ports/extraction.js";
import type { SessionStore } from "../../src/ports/session-store.js";
import { PrometheusMetrics } from "../../src/telemetry/prometheus-metrics.js";
import { ScriptedModel } from "../../src/testing/scripted-model.js";
import { tempDir } from "../e2e/world.js";
import { byWords } from "../support/by-words.js";
import { Scrape } from "../support/scrape.js";
import { TaskModel } from "../support/task-model.js";

const SECRET_WORDS = ["Ada-of-the-lighthouse", "wheelchair-in-row-4"];

interface Server {
  readonly url: string;
  post(path: string, body: unknown): Promise<{ readonly status: number; readonly body: { readonly session_id: string } }>;
  scrape(): Promise<Scrape>;
}

/** A server as `main.ts` puts it together, with a port. */
async function serve(overrides: Overrides = {}, variables: Record<string, string> = {}): Promise<Server> {
  const config = parseConfig(byWords({ MEMORY_STORAGE_DIR: await tempDir(), RECALL_DEADLINE_MS: "10000", ...variables }));
  const metrics = new PrometheusMetrics({ process: true });
  const application = await compose(config, { metrics, ...overrides });
  onTestFinished(() => application.close({ drainMs: 0 }));
  const app = await createHttpApp({ application, config, logger: silentLogger, clock: systemClock, metrics });
  const server = await listen(app, { host: "127.0.0.1", port: 0 });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const { url } = server.address;
  return {
    url,
    post: async (path, body) => {
      const headers = { "Content-Type": "application/json", "X-User-Id": SECRET_WORDS[0] ?? "" };
      const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      return { status: response.status, body: (await response.json()) as { session_id: string } };
    },
    scrape: async () => {
      const response = await fetch(`${url}/metrics`);
      expect([response.status, response.headers.get("Content-Type")]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
      return new Scrape(await response.text());
    },
  };
}

test("[no-text-in-logs] a scrape tells turns by outcome and memory, their times, tokens by task, requests by route and what is left to write back", async () => {
  const model = new TaskModel();
  model.replies.push({ name: "search_events", arguments: { text: "jazz" } }, "There is jazz on Friday.", new AppError("MODEL_UNAVAILABLE"));
  const { post, scrape } = await serve({ model });
  const before = await scrape();
  expect([before.value("maitred_write_back_pending_turns"), before.value("maitred_write_back_lag_seconds")]).toEqual([0, 0]);
  const answered = await post("/v1/chat", { message: `What is on for me? ${SECRET_WORDS[1]}` });
  const { session_id: session } = answered.body;
  expect((await post("/v1/chat", { message: "And tomorrow?", session_id: session })).status).toBe(502);
  expect((await post("/v1/chat", { message: "And in May?", session_id: session, stream: false })).status).toBe(200);
  expect((await post("/v1/chat", { message: "a", session_id: "none" })).status).toBe(400);
  expect((await post("/nowhere/ada", {})).status).toBe(404);
  await post(`/v1/sessions/${session}/flush?timeout_ms=20000`, {});
  // The title comes behind what is written back.
  await expect.poll(async () => (await scrape()).value("maitred_model_calls_total", { task: "title" }), { timeout: 20_000 }).toBe(1);

  const scraped = await scrape();
  expect(scraped.value("maitred_turns_total", { outcome: "completed" })).toBe(2);
  expect(scraped.value("maitred_turns_total", { outcome: "failed" })).toBe(1);
  expect(scraped.value("maitred_turn_failures_total", { code: "MODEL_UNAVAILABLE" })).toBe(1);
  const statuses = ["ok", "empty"].map((status) => scraped.value("maitred_turn_memory_total", { status }) ?? 0);
  expect(statuses.reduce((sum, each) => sum + each, 0)).toBe(3);
  for (const part of ["duration", "first_token", "recall", "model"])
    expect([part, scraped.count(`maitred_turn_${part}_seconds`)]).toEqual([part, 2]);
  const [whole, first] = [scraped.sum("maitred_turn_duration_seconds"), scraped.sum("maitred_turn_first_token_seconds")];
  expect(first).toBeGreaterThan(0);
  expect(whole).toBeGreaterThanOrEqual(first);
  const calledFor = (task: ModelTask) => model.of(task).length;
  // The call that failed is told by nobody.
  for (const [task, calls] of [
    ["chat", calledFor("chat") - 1],
    ["extraction", calledFor("extraction")],
    ["title", calledFor("title")],
  ] as const) {
    expect([task, calls]).not.toEqual([task, 0]);
    expect([task, scraped.value("maitred_model_calls_total", { task })]).toEqual([task, calls]);
    const tokens = (kind: string) => scraped.value("maitred_tokens_total", { task, kind });
    expect([tokens("input"), tokens("cached"), tokens("output")]).toEqual([calls * 100, calls * 40, calls * 10]);
  }
  expect(scraped.value("maitred_write_backs_total", { outcome: "done" })).toBe(3);
  expect(scraped.value("maitred_write_back_pending_turns")).toBe(0);
  const requests = (labels: Record<string, string>) => scraped.value("maitred_http_requests_total", { method: "POST", ...labels });
  expect(requests({ route: "/v1/chat", status: "2xx" })).toBe(2);
  expect(requests({ route: "/v1/chat", status: "4xx" })).toBe(1);
  expect(requests({ route: "/v1/chat", status: "5xx" })).toBe(1);
  expect(scraped.count("maitred_http_request_duration_seconds", { route: "/v1/chat", method: "POST", status: "2xx" })).toBe(2);
  expect(scraped.names).toEqual(expect.arrayContaining(["process_cpu_seconds_total", "nodejs_eventloop_lag_seconds", "maitred_info"]));
  const told = [...scraped.labelValues()].join("\n");
  for (const word of [...SECRET_WORDS, session, "nowhere"]) expect(told).not.toContain(word);
});

test("a write-back that fails is told by its code, and how long the turn has waited; what is out of reach is left out", async () => {
  let now = Date.now();
  const clock = { now: () => new Date(now) };
  const reader: MessageReader = {
    name: "broken",
    read: async () => {
      throw new AppError("MODEL_QUOTA");
    },
  };
  let reachable = true;
  const unreachable = (store: SessionStore): SessionStore => {
    const counts = async () => {
      if (!reachable) throw new AppError("STORAGE_UNAVAILABLE");
      return store.turns.counts();
    };
    return Object.assign(Object.create(store), { turns: Object.assign(Object.create(store.turns), { counts }) });
  };
  const { post, scrape } = await serve({ model: new TaskModel(), reader, clock, around: { sessions: unreachable } });
  const { status } = await post("/v1/chat", { message: "I'm allergic to nuts, whatever I eat." });
  expect(status).toBe(200);
  const failed = async () => {
    const scraped = await scrape();
    expect(scraped.value("maitred_write_back_failures_total", { code: "MODEL_QUOTA" })).toBeGreaterThan(0);
    return scraped;
  };
  await vi.waitFor(failed, 20_000);
  now += 90_000;
  const scraped = await failed();
  expect(scraped.value("maitred_write_back_pending_turns")).toBe(1);
  expect(scraped.value("maitred_write_back_failed_turns")).toBe(0);
  expect(scraped.value("maitred_write_back_lag_seconds")).toBeGreaterThanOrEqual(90);
  reachable = false;
  const without = await scrape();
  expect(without.value("maitred_write_back_pending_turns")).toBeUndefined();
  expect(without.value("maitred_turns_total", { outcome: "completed" })).toBe(1);
});

test("/metrics is for this machine, or for who has the token; to others it is a page that isn't there", async () => {
  const { url } = await serve({ model: new TaskModel() }, { METRICS_TOKEN: "scrape-me-0123456789" });
  const status = async (headers: Record<string, string>, path = "/metrics") => (await fetch(`${url}${path}`, { headers })).status;
  expect(await status({})).toBe(200);
  for (const header of ["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"]) {
    expect([header, await status({ [header]: "for=203.0.113.9" })]).toEqual([header, 404]);
    expect(await status({ [header]: "for=203.0.113.9", Authorization: "Bearer scrape-me-0123456789" })).toBe(200);
  }
  const passedOn = { Via: "1.1 proxy" };
  for (const Authorization of [
    "Bearer scrape-me-012345678",
    "Bearer scrape-me-01234567890",
    "Bearer",
    "Basic scrape-me-0123456789",
    "Bearer ",
  ])
    expect([Authorization, await status({ ...passedOn, Authorization })]).toEqual([Authorization, 404]);
  const [hidden, nowhere] = await Promise.all(
    ["/metrics", "/nowhere"].map(async (path) => (await fetch(`${url}${path}`, { headers: passedOn })).json() as Promise<object>),
  );
  expect(hidden).toEqual({ ...nowhere, request_id: expect.any(String) });
});

test("numbers that are none, as a provider or an agent of one's own may tell them, count as nothing and break nothing", async () => {
  const odd = [Number.NaN, -1, Number.POSITIVE_INFINITY, "7" as never, undefined as never];
  for (const number of odd) {
    const metrics = new PrometheusMetrics();
    const timing = { totalMs: number, firstTokenMs: null, recallMs: number, modelMs: number };
    metrics.turnEnded({ outcome: "completed", memory: "ok", timing });
    metrics.tokensUsed("chat", { calls: number, input: number, cached: number, output: number });
    metrics.requestEnded({ method: "BREW", route: "/pot", status: 418, ms: number });
    const scraped = new Scrape(await metrics.text());
    expect(scraped.value("maitred_tokens_total", { task: "chat", kind: "input" })).toBe(0);
    expect(scraped.sum("maitred_turn_duration_seconds")).toBe(0);
    expect(scraped.value("maitred_http_requests_total", { route: "/pot", method: "other", status: "4xx" })).toBe(1);
  }
});

describe("in the library", () => {
  test("`metrics: true` counts what this Maitred does and no other, and an app over it has the route", async () => {
    const model = new ScriptedModel([{ text: "Very well." }]);
    const open = (metrics: boolean) =>
      createMaitred({ shortTermBackend: "memory", mem0Enabled: false, embeddingProvider: "hashing", model, metrics });
    const [counted, other, silent] = await Promise.all([open(true), open(true), open(false)]);
    onTestFinished(async () => void (await Promise.all([counted, other, silent].map((each) => each.close({ drainMs: 0 })))));
    await counted.for({ user: "ada" }).chat("Good evening.");
    const completed = async (maitred: typeof counted) =>
      new Scrape(await maitred.metrics()).value("maitred_turns_total", { outcome: "completed" });
    expect([await completed(counted), await completed(other)]).toEqual([1, undefined]);
    await expect(silent.metrics()).rejects.toMatchObject({ code: "INVALID_CONFIG", hint: expect.stringContaining("metrics: true") });
    const get = async (maitred: typeof counted, host: string, identify?: () => null) => {
      const app = await createApp(maitred, identify && { identify });
      return (await app.fetch(new Request(`http://${host}/metrics`))).status;
    };
    expect(await get(counted, "127.0.0.1")).toBe(200);
    expect(await get(silent, "127.0.0.1")).toBe(404);
    // A host that is named proves nothing where somebody in front has signed the user in.
    expect(await get(counted, "127.0.0.1", () => null)).toBe(404);
  });
});
