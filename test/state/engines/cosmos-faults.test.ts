import { type AddressInfo, createServer } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { silentLogger } from "../../../src/platform/logger.js";
import { cosmosClient } from "../../../src/state/engines/cosmos/cosmos-client.js";
import { COSMOS_KEY, type CosmosServer, openCosmosServer } from "../../support/cosmos-server.js";
import { freePort } from "../../support/free-port.js";
import { needing } from "../../support/needing.js";
import { startSwitchingProxy } from "../turns/switching-proxy.js";

needing("cosmos")("Cosmos DB, its costs and its failures", () => {
  let server: CosmosServer;
  beforeAll(async () => {
    server = await openCosmosServer();
  });
  afterAll(() => server.close());
  const put = (id: string, key = "k", value = "1") => ({ id, puts: [{ key, value }] });
  const asked = () => server.requests.splice(0).map(({ kind, bytes }) => (kind === "batch" ? `batch of ${bytes.length}` : kind));

  test("a commit on what was just read replaces the head alone; what is read again is a look at the head", async () => {
    const engine = await server.open("costs");
    await engine.commit("o:a", put("1"));
    asked();
    const query = { keys: ["k", "x", "y"], ranges: [{ from: "a", to: "b" }] };
    const first = await engine.read("o:a", query);
    expect(asked()).toEqual(["query", "read"]);
    expect(await engine.read("o:a", query)).toMatchObject({ entries: first.entries, ranges: [[]] });
    expect(asked()).toEqual(["read"]);
    await engine.commit("o:a", { ...put("2"), checks: [{ key: "x", version: null }], deletes: ["y"] });
    expect(asked()).toEqual(["batch of 1"]);
    await engine.commit("o:a", { ...put("3"), deletes: ["k"] });
    expect(asked()).toEqual(["batch of 1"]);
  });

  test.each([
    ["a key that may only read", { status: 403, message: "The given request cannot be authorized." }, "read-write key"],
    ["a key that is none any more", { status: 401, message: "The input authorization token can't serve the request." }, "COSMOS_KEY"],
    ["throughput that is used up", { status: 429, message: "Request rate is large." }, "request units"],
  ])("%s: it is down, refuses commits with what to do, and loses nothing", async (_, refusal, hint) => {
    const engine = await server.open(`refusing-${refusal.status}`, { timeoutMs: 2_000 });
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

  test("a database that is empty, or another installation's, is down", async () => {
    const other = await openCosmosServer();
    const [port, otherPort] = [server, other].map(({ endpoint }) => Number(new URL(endpoint).port));
    const proxy = await startSwitchingProxy(port ?? 0);
    onTestFinished(async () => {
      await proxy.close();
      await other.close();
    });
    const engine = await server.open("replaced", { endpoint: `http://127.0.0.1:${proxy.port}` });
    expect(await engine.health()).toEqual({ status: "ok" });
    proxy.switchTo(otherPort ?? 0);
    expect(await engine.health()).toMatchObject({ status: "down", detail: expect.stringContaining("Cosmos DB") });
    await other.open("replaced");
    expect(await engine.health()).toMatchObject({ status: "down", detail: expect.stringContaining("COSMOS_DATABASE") });
    proxy.switchTo(port ?? 0);
    expect(await engine.health()).toEqual({ status: "ok" });
  });

  test("a start is refused under a consistency by which one process would not see what another wrote", async () => {
    const session = await openCosmosServer({ consistency: "Session" });
    await expect(session.open("session")).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      hint: expect.stringContaining("Strong"),
    });
    await session.close();
  });

  test.each([
    ["of an older version", { layout: 1 }, /version 1, .*knows 5/, "COSMOS_DATABASE"],
    ["of a newer version", { layout: 1_000 }, /version 1000; .* knows 5/, "COSMOS_DATABASE"],
  ])("a start on what was written by a Maitred %s is refused, and says what to do", async (_, { layout }, said, hint) => {
    const name = `layout-${layout}`;
    await server.open(name);
    const client = await cosmosClient({ endpoint: server.endpoint, key: COSMOS_KEY }, 2_000);
    onTestFinished(() => client.dispose());
    const { database } = await client.databases.createIfNotExists({ id: name });
    const { container } = await database.containers.createIfNotExists({ id: "maitred" });
    const { resource } = await container.item("installation", "installation").read();
    await container.items.batch([{ operationType: "Upsert", resourceBody: { ...resource, layout } }], "installation");
    await expect(server.open(name)).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      message: expect.stringMatching(said),
      hint: expect.stringContaining(hint),
    });
  });

  test.each([
    ["without an index of what is looked for", { paths: ["/partition"] }, ["/partition/?"], "/dueAtMs/?"],
    ["with another partition key", { paths: ["/user"] }, ["/*"], "another partition key"],
  ])("a start on a container that somebody made %s is refused, and says what to do", async (_, partitionKey, indexed, said) => {
    const name = `made-${indexed.length}-${partitionKey.paths[0]?.slice(1)}`;
    const client = await cosmosClient({ endpoint: server.endpoint, key: COSMOS_KEY }, 2_000);
    onTestFinished(() => client.dispose());
    const { database } = await client.databases.createIfNotExists({ id: name });
    const indexingPolicy = { includedPaths: indexed.map((path) => ({ path })) };
    await database.containers.createIfNotExists({ id: "maitred", partitionKey, indexingPolicy });
    await expect(server.open(name)).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      message: expect.stringContaining(said),
      hint: expect.stringContaining("partition key /partition"),
    });
  });

  test("a start on one that can't be reached names it and what to check, without the key", async () => {
    const endpoint = `http://127.0.0.1:${await freePort()}`;
    const failure = await server.open("nowhere", { endpoint, key: "c2VjcmV0", timeoutMs: 2_000 }).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      message: expect.stringContaining(new URL(endpoint).host),
      hint: expect.stringContaining("COSMOS_ENDPOINT"),
    });
    expect(JSON.stringify(failure) + String(failure)).not.toContain("c2VjcmV0");
  });

  test("a start waits for one that takes connections and does not answer, says so, and names it when it gives up", async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void silent.close());
    const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const said: string[] = [];
    const logger = { ...silentLogger, warn: (_: object, message?: string) => void said.push(message ?? "") };
    await expect(server.open("silent", { endpoint, timeoutMs: 500, startupWaitMs: 3_000, logger })).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      message: expect.stringContaining("no answer in time"),
      hint: expect.stringContaining("COSMOS_ENDPOINT"),
    });
    expect(said).toEqual([expect.stringContaining("Waiting for Cosmos DB")]);
  });

  test("a value that escaping makes larger is packed, and comes back as it was", async () => {
    const engine = await server.open("packed");
    const value = JSON.stringify(Array.from({ length: 60_000 }, (_, index) => `"${index}"`));
    await engine.commit("o:a", put("1", "k", value));
    server.requests.length = 0;
    expect((await engine.read("o:a", { keys: ["k"] })).entries.get("k")?.value === value).toBe(true);
    await engine.commit("o:a", put("2", "k", value));
    expect(Math.max(...server.requests.flatMap(({ bytes }) => bytes))).toBeLessThan(value.length);
  });
});
