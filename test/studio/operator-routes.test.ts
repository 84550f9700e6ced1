import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import { EngineOperatorLooks } from "../../src/state/counters/operator-looks.js";
import { prefixRange, type StateEngine } from "../../src/state/engine.js";
import { EngineTurnRecords } from "../../src/state/turn-records/turn-records.js";
import { openWorld, tempDir, type World } from "../e2e/world.js";
import { type EngineHome, EVERY_ENGINE } from "../state/engines/every-engine.js";
import { needing } from "../support/needing.js";
import { TestClock } from "../support/session-world.js";
import { needQuoted, readsNuts, TaskModel } from "../support/task-model.js";

const TOKEN = "operate-0123456789";
const ADA = ownerOf("default", "ada");
const CANARY = "Quetzalcoatl";
const AT = "2026-03-01T09:00:00.000Z";
const OF_ADA = "tenant=default&user=ada";
const SOON = { timeout: 20_000 };
type Json = Record<string, unknown>;

interface Operated {
  readonly world: World;
  readonly model: TaskModel;
  readonly clock: TestClock;
  readonly engine: StateEngine;
  get<T = Json>(path: string): Promise<{ readonly status: number; readonly body: T; readonly text: string }>;
  post(path: string, body: unknown): Promise<number>;
}

async function operated(variables: Readonly<Record<string, string>> = {}, state?: StateEngine): Promise<Operated> {
  const model = new TaskModel();
  model.read = readsNuts;
  const clock = new TestClock(AT);
  const dir = await tempDir();
  const prices = join(dir, "prices.json");
  await writeFile(prices, JSON.stringify({ "by task": { input: 1, output: 10, currency: "EUR" } }));
  let engine = state;
  const around = {
    engine: (it: StateEngine) => {
      engine ??= it;
      return it;
    },
  };
  const all = { OPERATOR_TOKEN: TOKEN, MODEL_PRICES_FILE: prices, EMBEDDING_PROVIDER: "hashing", ...variables };
  const world = await openWorld(dir, all, { model, clock, around, ...(state && { state }) });
  onTestFinished(() => world.application.close({ drainMs: 0 }));
  if (engine === undefined) return expect.fail("there is no engine");
  const headers = { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/json" };
  return {
    world,
    model,
    clock,
    engine,
    get: async <T>(path: string) => {
      const response = await world.app.request(`/v1/operator/${path}`, { headers });
      const text = await response.text();
      return { status: response.status, body: JSON.parse(text) as T, text };
    },
    post: async (path, body) =>
      (await world.app.request(`/v1/operator/${path}`, { method: "POST", headers, body: JSON.stringify(body) })).status,
  };
}

async function recordedTurn({ engine }: Operated, session: string, turn = 1): Promise<void> {
  const records = new EngineTurnRecords(engine);
  await expect.poll(async () => (await records.get(ADA, session, turn)).writeBack, SOON).not.toBeNull();
}

interface Rows {
  readonly data: readonly Json[];
  readonly next_cursor: string | null;
}

const EVERY_ROUTE = (session: string) => [
  "studio",
  "conversations",
  `conversations/${session}?${OF_ADA}`,
  `turns/${session}/1?${OF_ADA}`,
  "guests/ada?tenant=default",
  "guests/ada/timeline?tenant=default",
  "waiting",
  "queues",
  "queues/write-back",
  "plots",
  "health",
];

describe("what an operator sees", () => {
  test("[operator-apart] none of it is there without OPERATOR_TOKEN, nor for anybody without it", async () => {
    const path = "0190f2c0-0000-7000-8000-000000000000";
    const [without, other] = [await operated({ OPERATOR_TOKEN: "" }), await operated()];
    for (const route of EVERY_ROUTE(path)) {
      expect([route, (await without.get(route)).status]).toEqual([route, 404]);
      expect([route, (await other.world.app.request(`/v1/operator/${route}`)).status]).toEqual([route, 401]);
    }
  });

  test("[operator-sees-what-happened] without STUDIO_CONTENT no text is in any answer, and its length is; each look is written down", async () => {
    const operator = await operated();
    const message = `Nut allergies, and ${CANARY} with them.`;
    const { session_id } = await operator.world.as("ada").say(message);
    await recordedTurn(operator, session_id);
    for (const route of EVERY_ROUTE(session_id)) {
      const { status, text } = await operator.get(route);
      expect([route, status]).toEqual([route, 200]);
      for (const words of [CANARY, "Needs: Nut", "Very well"]) expect([route, text.includes(words)]).toEqual([route, false]);
    }
    const { body } = await operator.get(`turns/${session_id}/1?${OF_ADA}`);
    expect(body).toMatchObject({ message: null, message_chars: message.length, answer: null, answer_chars: 10 });
    const { parts } = operator.world.application;
    const trail = await parts.ledger.auditTrail(ADA);
    expect(trail.filter(({ action }) => action === "look").map(({ counts, by }) => [by, ...Object.keys(counts)])).toEqual([
      ["operator", "conversation"],
      ["operator", "turn"],
      ["operator", "guest"],
      ["operator", "timeline"],
      ["operator", "turn"],
    ]);
    const looks = await new EngineOperatorLooks(operator.engine, operator.clock).all();
    expect(looks.map(({ what }) => what).toSorted()).toEqual(["conversations", "health", "plots", "queues", "waiting", "write_back"]);
  });

  test("[operator-sees-what-happened] what was said in private, or off the record, is not shown; what was forgotten isn't either", async () => {
    const operator = await operated({ STUDIO_CONTENT: "true" });
    const client = operator.world.as("ada");
    const secret = await client.post<{ session_id: string }>("/v1/chat", { message: `Only between us: ${CANARY}.`, incognito: true });
    const said = await client.say(`Nut allergies, and ${CANARY} with them.`);
    await recordedTurn(operator, said.session_id);
    const shown = await operator.get<{ proposals: { memory_id: string; text: string; quote: string }[] }>(
      `turns/${said.session_id}/1?${OF_ADA}`,
    );
    expect(shown.body.proposals).toMatchObject([
      { text: "Needs: Nut", quote: "Nut allergies, and Quetzalcoatl with them", outcome: "kept" },
    ]);
    expect((await client.delete(`/v1/memories/${shown.body.proposals[0]?.memory_id}`)).status).toBe(204);
    for (const session of [secret.body.session_id, said.session_id])
      for (const route of [`conversations/${session}?${OF_ADA}`, `turns/${session}/1?${OF_ADA}`]) {
        const { status, text } = await operator.get(route);
        expect([route, status, text.includes("between us"), text.includes("Needs: Nut")]).toEqual([route, 200, false, false]);
        expect([route, /"(?:message|answer|quote)":"/.test(text)]).toEqual([route, false]);
      }
    const timeline = await operator.get<Rows>("guests/ada/timeline");
    expect(timeline.body.data.map(({ event }) => event)).toContain("forgotten");
    expect(timeline.text).not.toContain("Needs: Nut");
  });

  test("[operator-sees-what-happened] what is archived is told as that, what is purged or erased is listed no more", async () => {
    const { world, get } = await operated();
    const say = async (user: string) => (await world.as(user).say("What is on at the opera on Friday?")).session_id;
    const [archived, purged, erased] = [await say("ada"), await say("ada"), await say("ben")];
    const listed = async () => (await get<Rows>("conversations")).body.data.map(({ session_id, status }) => `${session_id} ${status}`);
    expect(await listed()).toHaveLength(3);
    await world.as("ada").request("PATCH", `/v1/sessions/${archived}`, { status: "archived" });
    await world.as("ada").delete(`/v1/sessions/${purged}?purge=true`);
    await world.as("ben").delete("/v1/me?confirm=true");
    expect(await listed()).toEqual([`${archived} archived`]);
    expect((await get("guests/ada")).body).toMatchObject({ sessions: 1 });
    expect((await get(`conversations/${erased}?user=ben`)).status).toBe(404);
    // Of an erased user what the law wants kept is left.
    expect((await get("guests/ben")).body).toMatchObject({ sessions: 0, memories: 0, receipts: [{ verified: true }] });
  });

  test("[operator-sees-what-happened] what a guest said no to is told as that, and held at no time", async () => {
    const { world, model, get, clock } = await operated({ STUDIO_CONTENT: "true" });
    model.read = () => ({ off_record: null, operations: [{ ...needQuoted("Perhaps nuts", "nuts", "no_nuts"), stance: "unsure" }] });
    const client = world.as("ada");
    await client.say("Perhaps nuts, I don't know.");
    const waiting = (await get<Rows>("waiting")).body.data[0]?.memory_id;
    clock.days(1);
    expect((await client.post(`/v1/memories/${waiting}/reject`, {})).status).toBe(200);
    const { data } = (await get<Rows>("guests/ada/timeline")).body;
    expect(data.map(({ event }) => event)).toEqual(["rejected", "waits"]);
    expect((await get<Rows>("guests/ada/timeline?as_of=2026-06-01")).body.data).toEqual([]);
    expect((await get("guests/ada")).body).toMatchObject({ memories: 0, waiting: 0 });
    const confirmed = await client.post<{ id: string }>("/v1/memories", { text: "Prefers the back rows", category: "seating" });
    expect(confirmed.status).toBe(201);
    expect((await get<Rows>("guests/ada/timeline?limit=1")).body.data).toMatchObject([{ event: "added", text: "Prefers the back rows" }]);
  });

  test("[unknown-is-null] what another agent leads, and what was imported, is listed; what that cost isn't known", async () => {
    const { world, get } = await operated();
    const led = await world.as("ada").post<{ id: string }>("/v1/sessions", {});
    const messages = [
      { role: "user", content: "Good evening." },
      { role: "assistant", content: "Good evening!" },
      { role: "user", content: "What is on?" },
    ];
    await world.as("ada").post(`/v1/sessions/${led.body.id}/messages`, { messages });
    const lines = ["user", "assistant"].map((role) => JSON.stringify({ session_id: "of-before", role, content: "Hello." })).join("\n");
    await world.as("ben").request("POST", "/v1/import", lines, { "Content-Type": "application/x-ndjson" });
    const { data } = (await get<Rows>("conversations")).body;
    expect(data).toMatchObject([
      { user: "ben", turns: 1, memory_status: null },
      { user: "ada", turns: 2, memory_status: null },
    ]);
    const { body } = await get<{ turns: Json[] }>(`conversations/${led.body.id}?${OF_ADA}`);
    expect(body.turns).toMatchObject([
      { turn: 2, message_chars: 11, answer_chars: null, outcome: null, cost: null, duration_ms: null },
      { turn: 1, message_chars: 13, answer_chars: 13, cost: null },
    ]);
  });

  test("[unknown-is-null] a turn without a record shows what its journal has, and the rest is null", async () => {
    const operator = await operated({ STUDIO_CONTENT: "true" });
    const { session_id } = await operator.world.as("ada").say("What is on at the opera on Friday?");
    await recordedTurn(operator, session_id);
    await new EngineTurnRecords(operator.engine).erase(ADA);
    const { body } = await operator.get(`turns/${session_id}/1?${OF_ADA}`);
    expect(body).toMatchObject({
      message: "What is on at the opera on Friday?",
      outcome: "completed",
      prompt_blocks: null,
      proposals: null,
      timings: null,
      first_token_ms: null,
      parts: [{ type: "text", text: "Very well." }],
      memory_status: "empty",
      write_back: { state: "done", attempts: 1 },
    });
  });

  test("bad input is refused as what it is", async () => {
    const operator = await operated();
    const { session_id } = await operator.world.as("ada").say("What is on at the opera on Friday?");
    const refused: [string, number, string][] = [
      ["conversations?cursor=x", 400, "INVALID_CURSOR"],
      ["conversations?limit=0", 400, "INVALID_REQUEST"],
      ["conversations?min_cost=-1", 400, "INVALID_REQUEST"],
      ["conversations?from=yesterday", 400, "INVALID_REQUEST"],
      ["conversations?memory_status=good", 400, "INVALID_REQUEST"],
      ["conversations?tenants=acme", 400, "INVALID_REQUEST"],
      ["conversations?user=*", 400, "INVALID_USER_ID"],
      [`conversations/${session_id}`, 400, "INVALID_REQUEST"],
      [`conversations/${session_id}?tenant=acme&user=ada`, 404, "SESSION_NOT_FOUND"],
      [`conversations/${session_id}?${OF_ADA}&cursor=-1`, 400, "INVALID_CURSOR"],
      [`conversations/no-id?${OF_ADA}`, 400, "INVALID_ID"],
      [`turns/${session_id}/0?${OF_ADA}`, 400, "INVALID_ID"],
      [`turns/${session_id}/2?${OF_ADA}`, 404, "NOT_FOUND"],
      [`turns/${session_id}/1?user=ben`, 404, "SESSION_NOT_FOUND"],
      ["guests/nobody", 404, "NOT_FOUND"],
      ["guests/ada/timeline?cursor=zz", 400, "INVALID_CURSOR"],
      ["waiting?cursor=zz", 400, "INVALID_CURSOR"],
      ["queues/write-back?cursor=zz", 400, "INVALID_CURSOR"],
      ["queues/write-back?state=done", 400, "INVALID_REQUEST"],
      ["plots?from=2020-01-01&step=hour", 400, "INVALID_REQUEST"],
      ["plots?from=2026-03-02&to=2026-03-01", 400, "INVALID_REQUEST"],
    ];
    for (const [path, status, code] of refused) {
      const { status: got, body } = await operator.get(path);
      expect([path, got, body.code]).toEqual([path, status, code]);
    }
    expect(await operator.post("queues/write-back/retry", { user: "ben", session_id })).toBe(404);
    expect(await operator.post("queues/write-back/retry", { user: "ada" })).toBe(400);
    expect((await operator.world.application.parts.ledger.auditTrail(ownerOf("default", "nobody"))).length).toBe(0);
  });

  test("[operator-sees-what-happened] dead letters are listed, counted and tried again", async () => {
    const operator = await operated();
    const { model, world, get, post } = operator;
    model.read = () => "no JSON of any kind";
    const { body } = await world.as("ada").post<{ session_id: string }>("/v1/chat", { message: "Nut allergies run in the family." });
    const queue = async () => (await get<Rows>("queues/write-back?state=failed")).body.data;
    await expect.poll(queue, SOON).toHaveLength(1);
    expect(await queue()).toMatchObject([
      { tenant: "default", user: "ada", session_id: body.session_id, turn: 1, state: "failed", error_code: expect.any(String) },
    ]);
    expect((await get("queues")).body).toMatchObject({ data: [{ name: "write_back", due: 0, waiting: 0, failed: 1 }] });
    const listed = async () => (await get<Rows>("conversations?failed=true")).body.data;
    expect((await get<Rows>("conversations")).body.data).toMatchObject([{ failed_turns: 1, pending_turns: 0 }]);
    model.read = readsNuts;
    expect(await post("queues/write-back/retry", { user: "ada", session_id: body.session_id })).toBe(202);
    await expect.poll(async () => (await get<Rows>("queues/write-back")).body.data, SOON).toEqual([]);
    expect(await listed()).toEqual([]);
  });

  test("[operator-sees-what-happened] sums by the hour and by the day; before the first nothing is known", async () => {
    const operator = await operated();
    await operator.world.as("ada").say("Nut allergies run in the family.");
    operator.model.replies.push(new Error("away"));
    await operator.world.as("ben").post("/v1/chat", { message: "What is on?" });
    await operator.world.as("ada").delete("/v1/me?confirm=true");
    const { body } = await operator.get<{ steps: Json[] }>("plots?from=2026-03-01T07:00:00Z&to=2026-03-01T10:00:00Z");
    expect(body.steps).toHaveLength(3);
    expect(body.steps.slice(0, 2)).toMatchObject([
      { at: "2026-03-01T07:00:00.000Z", turns: null, cost: null, recall: null, p50_first_token_ms: null },
      { at: "2026-03-01T08:00:00.000Z", turns: null },
    ]);
    expect(body.steps[2]).toMatchObject({
      at: AT,
      turns: 2,
      failed: 1,
      recall: { empty: 2 },
      proposals: { kept: 1, asked: 0, refused: 0 },
      erasures: 1,
      p50_first_token_ms: expect.any(Number),
      cost: expect.any(Number),
      cost_by_model: { "by task": expect.any(Number) },
      cost_by_tenant: { default: expect.any(Number) },
    });
    const days = await operator.get<{ steps: Json[] }>("plots?step=day&from=2026-03-01&to=2026-03-02");
    expect(days.body.steps).toMatchObject([{ at: "2026-03-01T00:00:00.000Z", turns: 2 }]);
    const other = await operator.get<{ steps: Json[] }>("plots?tenant=acme&from=2026-03-01T09:00:00Z&to=2026-03-01T10:00:00Z");
    expect(other.body.steps).toMatchObject([{ turns: 0, cost: 0, p50_first_token_ms: null }]);
    expect((await operator.get("studio")).body).toMatchObject({ content: false, currency: "EUR", model: "by task", tenants: ["default"] });
  });

  test("health has what it was before, as often as it changed", async () => {
    const operator = await operated({ COST_SOFT_LIMIT_TOKENS: "1" });
    type Health = { now: { status: string }; history: { status: string; parts: Json }[] };
    expect((await operator.get<Health>("health")).body).toMatchObject({
      now: { status: "ok" },
      history: [{ status: "ok", at: expect.stringMatching(/^2026-03-01/u) }],
    });
    await operator.world.as("ada").post("/v1/chat", { message: "Good evening!" });
    await operator.get("health");
    const { body } = await operator.get<Health>("health");
    expect(body.history.map(({ status }) => status)).toEqual(["degraded", "ok"]);
    expect(body.history[0]?.parts).toMatchObject({ cost: "degraded", short_term: "ok" });
  });
});

const SHARED = EVERY_ENGINE.filter(({ name }) => ["memory", "SQLite", "PostgreSQL", "Redis"].includes(name));
for (const { name: engineName, program, home: openHome } of SHARED)
  (program === null ? describe : needing(program))(`Studio over ${engineName}`, () => {
    let home: EngineHome;
    beforeAll(async () => {
      home = await openHome();
    }, 60_000);
    afterAll(() => home.close());

    test("[operator-sees-what-happened] conversations, a turn, a guest and what waits, page by page", async () => {
      const fresh = await home.fresh();
      onTestFinished(() => fresh.dispose());
      const operator = await operated({ STUDIO_CONTENT: "true" }, await fresh.open());
      const { world, model, clock, get } = operator;
      const sessions: string[] = [];
      for (const [user, message] of [
        ["ada", "Nut allergies run in the family."],
        ["ben", "What is on at the opera on Friday?"],
        ["ada", "And is there jazz?"],
      ] as const) {
        sessions.push((await world.as(user).say(message)).session_id);
        clock.days(1);
      }
      model.read = () => ({ off_record: null, operations: [{ ...needQuoted("Perhaps nuts", "nuts", "no_nuts"), stance: "unsure" }] });
      await world.as("ben").say("Perhaps nuts, I don't know.", { session_id: sessions[1] });
      const list = async (query: string) => (await get<Rows>(`conversations?${query}`)).body;
      const ids = ({ data }: Rows) => data.map(({ session_id }) => session_id);
      const first = await list("limit=2");
      expect(ids(first)).toEqual([sessions[1], sessions[2]]);
      expect(ids(await list(`limit=2&cursor=${first.next_cursor}`))).toEqual([sessions[0]]);
      expect(ids(await list("user=ada"))).toEqual([sessions[2], sessions[0]]);
      expect(ids(await list("from=2026-03-02&to=2026-03-04"))).toEqual([sessions[2]]);
      expect(ids(await list("min_cost=0.0008"))).toEqual([sessions[1]]);
      expect(ids(await list("tenant=acme"))).toEqual([]);
      expect(first.data[0]).toMatchObject({ user: "ben", turns: 2, status: "active", failed_turns: 0, cost: expect.any(Number) });
      await recordedTurn(operator, sessions[0] ?? "");
      const conversation = await get<{ turns: Json[]; next_cursor: string | null }>(`conversations/${sessions[1]}?user=ben&limit=1`);
      expect(conversation.body).toMatchObject({ turn_count: 2, turns: [{ turn: 2, message: "Perhaps nuts, I don't know." }] });
      const older = await get<{ turns: Json[]; next_cursor: string | null }>(
        `conversations/${sessions[1]}?user=ben&limit=1&cursor=${conversation.body.next_cursor}`,
      );
      expect(older.body).toMatchObject({ turns: [{ turn: 1, answer: "Very well.", cost: expect.any(Number) }], next_cursor: null });
      const { body: turn } = await get<{ prompt_blocks: { name: string; text: string | null }[]; timings: { name: string }[] }>(
        `turns/${sessions[0]}/1?${OF_ADA}`,
      );
      expect(turn.timings.map(({ name }) => name)).toEqual(["window", "recall", "model", "write_back"]);
      const texts = Object.fromEntries(turn.prompt_blocks.map(({ name, text }) => [name, text]));
      expect(texts).toMatchObject({ question: "Nut allergies run in the family.", prompt: expect.stringContaining("concierge") });
      expect(turn).toMatchObject({ proposals: [{ outcome: "kept", quote: "Nut allergies run in the family" }], usage: { calls: 1 } });
      expect((await get("guests/ada")).body).toMatchObject({ sessions: 2, memories: 1, waiting: 0, bookings: [], receipts: [] });
      const timeline = await get<Rows>("guests/ada/timeline?limit=1");
      expect(timeline.body.data).toMatchObject([{ event: "added", text: "Needs: Nut", session_id: sessions[0], turn: 1 }]);
      const then = async (at: string) => (await get<Rows>(`guests/ada/timeline?as_of=${at}`)).body.data;
      expect(await then("2026-02-01")).toEqual([]);
      expect(await then("2026-03-05")).toMatchObject([{ event: "holds", text: "Needs: Nut" }]);
      const waiting = await get<Rows>("waiting");
      expect(waiting.body.data).toMatchObject([{ user: "ben", reason: "unsure", asked: 0, text: expect.any(String) }]);
      const { ranges } = await operator.engine.read("s:conversations:0", { ranges: [prefixRange("")] });
      expect(JSON.stringify(ranges)).not.toContain("ada");
    });
  });
