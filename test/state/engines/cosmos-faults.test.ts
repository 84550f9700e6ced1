import { afterAll, beforeAll, expect, test } from "vitest";
import { ownerOf } from "../../../src/domain/owner.js";
import { silentLogger } from "../../../src/platform/logger.js";
import { CosmosEngine, type CosmosEngineOptions } from "../../../src/state/engines/cosmos/cosmos-engine.js";
import { type CosmosServer, openCosmosServer } from "../../support/cosmos-server.js";
import { freePort } from "../../support/free-port.js";
import { needing } from "../../support/needing.js";
import { answering, makeOrchestrator } from "../../support/orchestrator.js";

needing("cosmos")("Cosmos DB, its costs and its failures", () => {
  let server: CosmosServer;
  const engines: CosmosEngine[] = [];
  beforeAll(async () => {
    server = await openCosmosServer();
  });
  afterAll(async () => {
    for (const engine of engines) await engine.close();
    await server.close();
  });
  const open = async (database: string, options: Partial<CosmosEngineOptions> = {}) => {
    const { endpoint } = server;
    const engine = await CosmosEngine.open({ endpoint, key: "a2V5", database, startupWaitMs: 0, logger: silentLogger, ...options });
    engines.push(engine);
    return engine;
  };
  const put = (id: string, key = "k", value = "1") => ({ id, puts: [{ key, value }] });
  const asked = () => server.requests.splice(0).map(({ kind, bytes }) => (kind === "batch" ? `batch of ${bytes.length}` : kind));

  test("a commit on what was just read is one batch; a read is a query, and a look whether the head stayed", async () => {
    const engine = await open("costs");
    await engine.commit("o:a", put("1"));
    asked();
    await engine.read("o:a", { keys: ["k", "x", "y"], ranges: [{ from: "a", to: "b" }] });
    expect(asked()).toEqual(["query", "read"]);
    await engine.commit("o:a", { ...put("2"), checks: [{ key: "x", version: null }], deletes: ["y"] });
    expect(asked()).toEqual(["batch of 2"]);
    await engine.commit("o:a", { ...put("3"), deletes: ["k"] });
    expect(asked()).toEqual(["batch of 2"]);
  });

  test("a turn at 1 KB a message costs less than 150 request units before its answer", async () => {
    const engine = await open("a-turn");
    const ada = ownerOf("default", "ada");
    const text = (word: string) => word.repeat(1_024 / word.length);
    const { chat } = await makeOrchestrator(answering(text("soon"), text("then")), { engine });
    const { session_id: sessionId } = await chat.chat({ owner: ada, message: text("when") });
    let looked = -1;
    const isQuiet = () => {
      const before = looked;
      looked = server.requests.length;
      return looked === before;
    };
    await expect.poll(isQuiet, { timeout: 10_000, interval: 250 }).toBe(true);
    server.requests.length = 0;
    await chat.chat({ owner: ada, sessionId, message: text("why?") });
    const batches = server.requests.filter(({ kind }) => kind === "batch").slice(0, 2);
    const before = server.requests.slice(0, server.requests.indexOf(batches[1] as (typeof batches)[number]) + 1);
    const units = before.reduce((sum, each) => sum + each.units, 0);
    const shape = before.map(({ kind, bytes }) => (kind === "batch" ? `batch of ${bytes.length}` : kind));
    expect(shape).toEqual(["query", "query", "read", "batch of 7", "read", "read", "batch of 10"]);
    expect(units).toBeLessThan(150);
  });

  test.each([
    ["a key that may only read", { status: 403, message: "The given request cannot be authorized." }, "read-write key"],
    ["a key that is none any more", { status: 401, message: "The input authorization token can't serve the request." }, "COSMOS_KEY"],
    ["throughput that is used up", { status: 429, message: "Request rate is large." }, "request units"],
  ])("%s: it is down, refuses commits with what to do, and loses nothing", async (_, refusal, hint) => {
    const engine = await open(`refusing-${refusal.status}`, { timeoutMs: 2_000 });
    await engine.commit("o:a", put("1"));
    server.refuse(refusal);
    const refused = await engine.commit("o:a", put("2", "k", "lost")).catch((error: unknown) => error);
    const health = await engine.health();
    server.refuse(null);
    expect(health).toMatchObject({ status: "down", detail: expect.stringContaining("Cosmos DB") });
    expect(await engine.health()).toEqual({ status: "ok" });
    expect((await engine.read("o:a", { keys: ["k"] })).entries.get("k")?.value).toBe("1");
    expect(refused).toMatchObject({ code: "STORAGE_UNAVAILABLE", hint: expect.stringContaining(hint) });
  });

  test("a start is refused under a consistency by which one process would not see what another wrote", async () => {
    const session = await openCosmosServer({ consistency: "Session" });
    await expect(open("session", { endpoint: session.endpoint })).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      hint: expect.stringContaining("Strong"),
    });
    await session.close();
  });

  test("a start on one that can't be reached names it and what to check, without the key", async () => {
    const endpoint = `http://127.0.0.1:${await freePort()}`;
    const failure = await open("nowhere", { endpoint, key: "c2VjcmV0", timeoutMs: 2_000 }).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      message: expect.stringContaining(new URL(endpoint).host),
      hint: expect.stringContaining("COSMOS_ENDPOINT"),
    });
    expect(JSON.stringify(failure) + String(failure)).not.toContain("c2VjcmV0");
  });

  test("a value that escaping makes larger is packed, and comes back as it was", async () => {
    const engine = await open("packed");
    const value = JSON.stringify(Array.from({ length: 60_000 }, (_, index) => `"${index}"`));
    await engine.commit("o:a", put("1", "k", value));
    server.requests.length = 0;
    expect((await engine.read("o:a", { keys: ["k"] })).entries.get("k")?.value === value).toBe(true);
    await engine.commit("o:a", put("2", "k", value));
    expect(Math.max(...server.requests.flatMap(({ bytes }) => bytes))).toBeLessThan(value.length);
  });
});
