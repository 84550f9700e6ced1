import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import type { Job } from "../../src/ports/operator.js";
import { startWorld, tempDir, type World } from "../e2e/world.js";
import { TaskModel } from "../support/task-model.js";

const TOKEN = "operate-0123456789";
const OPERATOR = { Authorization: `Bearer ${TOKEN}` };
const GUEST_KEY = "guest-key-0123456789";
const ROUTES = [
  ["GET", "/v1/operator/users"],
  ["GET", "/v1/operator/jobs"],
  ["POST", "/v1/operator/jobs"],
  ["GET", "/v1/operator/jobs/0190f2c0-0000-7000-8000-000000000000"],
  ["DELETE", "/v1/operator/jobs/0190f2c0-0000-7000-8000-000000000000"],
  ["PUT", "/v1/operator/users"],
  ["GET", "/v1/operator/anything"],
] as const;

const open = (variables: Readonly<Record<string, string>> = {}) =>
  tempDir().then((dir) => startWorld(dir, { EMBEDDING_PROVIDER: "hashing", ...variables }, { model: new TaskModel() }));
const asOperator = ({ app }: World, method: string, path: string, body?: unknown) =>
  app.request(path, {
    method,
    headers: { ...OPERATOR, "Content-Type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
const SOON = { timeout: 20_000 };
const read = async <T>(answer: Response | Promise<Response>) => (await (await answer).json()) as T;

async function ran(world: World, body: object): Promise<Job> {
  const { id } = await read<Job>(asOperator(world, "POST", "/v1/operator/jobs", body));
  await expect.poll(async () => (await read<Job>(asOperator(world, "GET", `/v1/operator/jobs/${id}`))).ended_at, SOON).not.toBeNull();
  return read<Job>(asOperator(world, "GET", `/v1/operator/jobs/${id}`));
}

describe("the operator's door", () => {
  test("[operator-apart] without OPERATOR_TOKEN it isn't there, whoever asks for what", async () => {
    const world = await open();
    for (const [method, path] of ROUTES) expect([path, (await asOperator(world, method, path)).status]).toEqual([path, 404]);
  });

  test("[operator-apart] opens to the token alone: no user's credentials are good for it, in any mode", async () => {
    const keys = join(await tempDir(), "keys.json");
    const sha256 = createHash("sha256").update(GUEST_KEY).digest("hex");
    await writeFile(keys, JSON.stringify([{ sha256, user: "ada" }]));
    const modes = [
      { AUTH_MODE: "local" },
      { AUTH_MODE: "header", AUTH_HEADER: "X-User-Id" },
      { AUTH_MODE: "api-key", API_KEYS_FILE: keys },
      { AUTH_MODE: "jwt", JWT_SECRET: "a secret that is long enough for HS256" },
    ];
    const credentials = [{}, { "X-User-Id": "ada" }, { Authorization: `Bearer ${GUEST_KEY}` }, { Authorization: `Bearer ${TOKEN}0` }];
    for (const mode of modes) {
      const { app } = await open({ ...mode, OPERATOR_TOKEN: TOKEN });
      for (const headers of credentials) {
        const response = await app.request("/v1/operator/users", { headers });
        expect([mode.AUTH_MODE, response.status, response.headers.has("WWW-Authenticate")]).toEqual([mode.AUTH_MODE, 401, true]);
      }
      expect((await app.request("/v1/operator/users", { headers: OPERATOR })).status).toBe(200);
    }
  });

  test("[operator-apart] its token opens no user's door: no chat, no memory, no metrics", async () => {
    for (const mode of [{ AUTH_MODE: "local" }, { AUTH_MODE: "header", AUTH_HEADER: "X-User-Id" }]) {
      const { app } = await open({ ...mode, OPERATOR_TOKEN: TOKEN, METRICS_TOKEN: "scrape-me-0123456789" });
      const headers = {
        ...OPERATOR,
        "X-User-Id": "ada",
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
      };
      const asked = (method: string, path: string, body?: object) =>
        app.request(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
      const answers = await Promise.all([
        asked("POST", "/v1/chat", { message: "Good evening." }),
        asked("POST", "/v1/chat/completions", { model: "any", messages: [{ role: "user", content: "Good evening." }] }),
        asked("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }),
        asked("GET", "/v1/memories"),
        asked("GET", "/v1/sessions"),
        asked("GET", "/v1/me/export"),
        asked("DELETE", "/v1/me?confirm=true"),
      ]);
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 401));
      expect((await asked("GET", "/metrics")).status).toBe(404);
    }
  });

  test("is limited as users are, by a count of its own", async () => {
    const world = await open({ AUTH_MODE: "header", AUTH_HEADER: "X-User-Id", RATE_LIMIT_PER_MINUTE: "1", OPERATOR_TOKEN: TOKEN });
    const statuses = [];
    for (let count = 0; count < 2; count++) statuses.push((await asOperator(world, "GET", "/v1/operator/users")).status);
    expect(statuses).toEqual([200, 429]);
    expect((await world.as("ada").get("/v1/sessions")).status).toBe(200);
  });
});

describe("users", () => {
  test("are listed page by page, by tenant, without a word of theirs, and not after their erasure", async () => {
    const world = await open({ OPERATOR_TOKEN: TOKEN });
    for (const name of ["ada", "bob", "carl"]) await world.as(name).say(`I am ${name} and like oysters.`);
    const page = async (query: string) => {
      const response = await asOperator(world, "GET", `/v1/operator/users${query}`);
      const text = await response.text();
      expect(text).not.toContain("oysters");
      return JSON.parse(text) as {
        data: { tenant: string; user: string; sessions: number; last_active_at: string }[];
        next_cursor: string;
      };
    };
    const first = await page("?limit=2&tenant=default");
    const second = await page(`?limit=2&tenant=default&cursor=${first.next_cursor}`);
    const all = [...first.data, ...second.data];
    expect([all.map(({ user }) => user).sort(), second.next_cursor]).toEqual([["ada", "bob", "carl"], null]);
    expect(all[0]).toEqual({ tenant: "default", user: all[0]?.user, sessions: 1, last_active_at: expect.stringMatching(/Z$/) });
    expect((await page("?tenant=harbour")).data).toEqual([]);
    await world.as("bob").delete("/v1/me?confirm=true");
    expect((await page("")).data.map(({ user }) => user).sort()).toEqual(["ada", "carl"]);
  });

  test("[hostile-input] a cursor, a limit or a tenant that is none is refused", async () => {
    const world = await open({ OPERATOR_TOKEN: TOKEN });
    for (const query of ["cursor=nowhere", "limit=0", "limit=1000", "tenant=", "tenant=a%20b", "cursor=%00"])
      expect([query, (await asOperator(world, "GET", `/v1/operator/users?${query}`)).status]).toEqual([query, 400]);
  });
});

describe("jobs", () => {
  test("are begun, followed and found again; what they did is told in counts", async () => {
    const world = await open({ OPERATOR_TOKEN: TOKEN });
    await world.as("ada").say("Good evening.");
    const response = await asOperator(world, "POST", "/v1/operator/jobs", { kind: "retention", dry_run: true });
    const job = (await response.json()) as Job;
    expect([response.status, response.headers.get("Location"), job.state]).toEqual([202, `/v1/operator/jobs/${job.id}`, "running"]);
    expect((await ran(world, { kind: "reindex" })).result).toEqual({
      sessions: 0,
      sessions_searched: 1,
      messages_added_to_history: 0,
      sessions_failed: 0,
    });
    expect((await ran(world, { kind: "reindex_memories" })).state).toBe("succeeded");
    expect((await ran(world, { kind: "promote" })).result).toMatchObject({ messages: 0, failed_sessions: 0 });
    expect((await ran(world, { kind: "retention" })).result).toMatchObject({ dry_run: false, deleted: 0, purged: 0 });
    const { data } = await read<{ data: Job[] }>(asOperator(world, "GET", "/v1/operator/jobs"));
    expect(data.map(({ kind, dry_run }) => [kind, dry_run])).toEqual([
      ["retention", false],
      ["promote", false],
      ["reindex_memories", false],
      ["reindex", false],
      ["retention", true],
    ]);
  });

  test("promote makes memories of what was imported, beside a server that runs", async () => {
    const world = await open({ OPERATOR_TOKEN: TOKEN });
    const line = { session_id: "old", role: "user", content: "I am allergic to nuts.", created_at: "2025-01-01T10:00:00Z" };
    await world.as("ada").request("POST", "/v1/import", JSON.stringify(line), { "Content-Type": "application/x-ndjson" });
    expect((await ran(world, { kind: "promote" })).result).toMatchObject({ sessions: 1, messages: 1, failed_sessions: 0 });
    expect((await ran(world, { kind: "promote" })).result).toMatchObject({ sessions: 0, messages: 0 });
  });

  test("[hostile-input] one that isn't known, and what is no job, are refused", async () => {
    const world = await open({ OPERATOR_TOKEN: TOKEN });
    const unknown = await asOperator(world, "GET", "/v1/operator/jobs/0190f2c0-0000-7000-8000-000000000000");
    expect([unknown.status, await unknown.json()]).toEqual([404, expect.objectContaining({ code: "JOB_NOT_FOUND" })]);
    const bodies = [
      {},
      { kind: "migrate" },
      { kind: "reindex", dry_run: true },
      { kind: "retention", days: 1 },
      { kind: "retention", dry_run: "yes" },
    ];
    for (const body of bodies) expect([body, (await asOperator(world, "POST", "/v1/operator/jobs", body)).status]).toEqual([body, 400]);
  });
});

test("[reindex-beside-turns] a reindex beside turns leaves nothing out of history, and has nothing twice", async () => {
  const world = await open({ OPERATOR_TOKEN: TOKEN });
  const guests = ["ada", "bob", "carl"];
  const sessions = new Map(
    await Promise.all(guests.map(async (name) => [name, (await world.as(name).say(`Turn 1 of ${name}.`)).session_id] as const)),
  );
  let talking = true;
  const talk = guests.map(async (name) => {
    for (let turn = 2; turn <= 12; turn++) {
      const body = { message: `Turn ${turn} of ${name}.`, session_id: sessions.get(name) };
      expect((await world.as(name).post("/v1/chat", body)).status).toBe(200);
    }
  });
  const jobs = (async () => {
    const results: Job[] = [];
    while (talking) for (const kind of ["reindex", "reindex_memories", "retention"]) results.push(await ran(world, { kind }));
    return results;
  })();
  const [results] = await Promise.all([
    jobs,
    Promise.all(talk).finally(() => {
      talking = false;
    }),
  ]);
  expect(results.map(({ state }) => state)).toEqual(results.map(() => "succeeded"));
  for (const name of guests) {
    const id = sessions.get(name) ?? "";
    const guest = world.as(name);
    expect((await guest.post(`/v1/sessions/${id}/flush?timeout_ms=20000`)).body).toMatchObject({ pending_turns: 0, failed_turns: 0 });
    const { data } = (await guest.get<{ data: { id: string }[] }>(`/v1/sessions/${id}/messages?limit=200`)).body;
    expect(data).toHaveLength(24);
    const { history } = world.application;
    const found = await history.search(ownerOf("default", name), { query: `Turn of ${name}`, session_id: id, limit: 200 });
    const said = found.filter(({ role }) => role !== "system");
    expect(said.map((hit) => hit.id).sort()).toEqual(data.map((message) => message.id).sort());
    const { summary } = (await guest.get<{ summary: string | null }>(`/v1/sessions/${id}`)).body;
    expect(await history.count(ownerOf("default", name), id)).toBe(24 + (summary === null ? 0 : 1));
  }
});
