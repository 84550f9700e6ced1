import { type AddressInfo, connect, createServer } from "node:net";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Logger, silentLogger } from "../../../src/platform/logger.js";
import { RedisEngine, type RedisEngineOptions } from "../../../src/state/engines/redis/redis-engine.js";
import { freePort } from "../../support/free-port.js";
import { needing } from "../../support/needing.js";
import { openRedisServer, type RedisServer } from "../../support/redis-server.js";

const UNAVAILABLE = { code: "STORAGE_UNAVAILABLE" };

needing("redis")("a start on Redis", () => {
  let server: RedisServer;
  let admin: Redis;
  let prefixes = 0;
  const opened: RedisEngine[] = [];
  beforeAll(async () => {
    server = await openRedisServer();
    admin = new Redis(server.url);
    admin.on("error", () => {});
  });
  afterAll(async () => {
    admin.disconnect();
    await server.close();
  });
  afterEach(async () => void (await Promise.all(opened.splice(0).map((each) => each.close()))));
  const open = async (options: Partial<RedisEngineOptions> = {}) => {
    const prefix = `start-${prefixes++}`;
    const engine = await RedisEngine.open({
      url: server.url,
      prefix,
      durability: "strict",
      logger: silentLogger,
      startupWaitMs: 0,
      ...options,
    });
    opened.push(engine);
    return engine;
  };
  const warnings = () => {
    const said: string[] = [];
    const logger: Logger = {
      ...silentLogger,
      warn: (fields: object, message: string) => void said.push(`${message}: ${(fields as { reason?: string }).reason}`),
    };
    return { said, logger };
  };

  test("many at once agree on one installation", async () => {
    const engines = await Promise.all(Array.from({ length: 6 }, () => open({ prefix: "many" })));
    for (const engine of engines) expect(await engine.health()).toEqual({ status: "ok" });
  });

  test.each([
    ["a newer", "7", /version 7; .* knows 2\./],
    ["an older", "1", /version 1, .* knows 2\./],
  ])("is refused on a layout of %s version, and names both", async (_, layout, said) => {
    const prefix = `of-${layout}`;
    await open({ prefix });
    await admin.hset(`{${prefix}:installation}`, "layout", layout);
    await expect(open({ prefix })).rejects.toMatchObject({
      ...UNAVAILABLE,
      message: expect.stringMatching(said),
      hint: expect.stringContaining("REDIS_PREFIX"),
    });
  });

  test("is refused on what the version before partitions wrote, and goes on where the new one is there too", async () => {
    await admin.zadd("former:hints:owners", 0, "x:1");
    await expect(open({ prefix: "former" })).rejects.toMatchObject({ ...UNAVAILABLE, hint: expect.stringContaining("REDIS_PREFIX") });
    expect(await admin.keys("*former*")).toEqual(["former:hints:owners"]);
    await open({ prefix: "both" });
    await admin.set("both:installation", "1");
    await open({ prefix: "both" });
  });

  test.each([
    ["appendonly", "no", "none"],
    ["appendfsync", "everysec", "process"],
    ["no-appendfsync-on-rewrite", "yes", "process"],
    ["maxmemory-policy", "allkeys-lru", "none"],
  ])("on %s %s is refused, or accepted and told", async (name, value, durability) => {
    const lossy = await openRedisServer({ settings: { [name]: value } });
    try {
      const message = expect.stringContaining(`${name} is ${value}`);
      await expect(open({ url: lossy.url })).rejects.toMatchObject({ ...UNAVAILABLE, message });
      const engine = await open({ url: lossy.url, durability: "relaxed" });
      expect(engine.manifest.durability).toBe(durability);
      expect(await engine.health()).toEqual({ status: "degraded", detail: message });
      for (const each of opened.splice(0)) await each.close();
    } finally {
      await lossy.close();
    }
  });

  test("on a service that lets nobody read its configuration is refused, or accepted and told", async () => {
    await admin.acl("SETUSER", "app", "on", ">secret", "~*", "&*", "+@all", "-config");
    const url = server.url.replace("redis://", "redis://app:secret@");
    const message = expect.stringContaining("CONFIG is refused");
    await expect(open({ url })).rejects.toMatchObject({ ...UNAVAILABLE, message });
    const engine = await open({ url, durability: "relaxed" });
    expect(engine.manifest.durability).toBe("none");
    expect(await engine.health()).toEqual({ status: "degraded", detail: message });
  });

  test("with a wrong password is refused at once, and names REDIS_URL and not the password", async () => {
    await admin.acl("SETUSER", "app", "on", ">secret", "~*", "&*", "+@all");
    const begun = performance.now();
    const wrong = open({ url: server.url.replace("redis://", "redis://app:wrong-word@"), startupWaitMs: 20_000 });
    const error = await wrong.catch((cause: unknown) => cause);
    expect(error).toMatchObject({
      ...UNAVAILABLE,
      message: expect.stringContaining("password"),
      hint: expect.stringContaining("REDIS_URL"),
    });
    expect((error as Error).message).not.toContain("wrong-word");
    expect(performance.now() - begun).toBeLessThan(3_000);
  });

  test("ends where nobody answers within the wait", async () => {
    const url = `redis://127.0.0.1:${await freePort()}`;
    await expect(open({ url, startupWaitMs: 1_000 })).rejects.toMatchObject({
      ...UNAVAILABLE,
      message: expect.stringContaining("ECONNREFUSED"),
      hint: expect.stringContaining("REDIS_URL"),
    });
  });

  test("waits for a server that hangs, and says so once", async () => {
    const { said, logger } = warnings();
    server.hang();
    const opening = open({ timeoutMs: 500, startupWaitMs: 20_000, logger });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    server.goOn();
    await opening;
    expect(said).toEqual([expect.stringMatching(/^Waiting for Redis .*: Redis is out of reach/)]);
  });

  test("waits for a server that is loading its data, and says so once", async () => {
    let loading = true;
    const front = createServer((client) => {
      client.on("error", () => {});
      if (loading) {
        client.on("data", () => client.write("$9\r\nloading:1\r\n"));
        return;
      }
      const behind = connect(server.port, "127.0.0.1");
      behind.on("error", () => {});
      client.pipe(behind).pipe(client);
    });
    await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
    const { said, logger } = warnings();
    const url = `redis://127.0.0.1:${(front.address() as AddressInfo).port}`;
    await expect(open({ url, startupWaitMs: 300 })).rejects.toMatchObject({ ...UNAVAILABLE, message: expect.stringContaining("LOADING") });
    const opening = open({ url, startupWaitMs: 20_000, logger });
    await new Promise((resolve) => setTimeout(resolve, 700));
    loading = false;
    const engine = await opening;
    expect(said).toEqual([expect.stringMatching(/^Waiting for Redis .*LOADING/)]);
    await engine.close();
    front.close();
  });
});
