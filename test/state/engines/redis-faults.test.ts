import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { newId } from "../../../src/platform/ids.js";
import { silentLogger } from "../../../src/platform/logger.js";
import { committed } from "../../../src/state/durable-commit.js";
import { prefixRange } from "../../../src/state/engine.js";
import { RedisEngine } from "../../../src/state/engines/redis/redis-engine.js";
import { needing } from "../../support/needing.js";
import { openRedisServer, type RedisServer } from "../../support/redis-server.js";
import { type CuttingProxy, startCuttingProxy } from "./cutting-proxy.js";

const UNAVAILABLE = { code: "STORAGE_UNAVAILABLE" };
const AT = 1_800_000_000_000;
const WRITERS = 8;

needing("redis")("Redis that fails", () => {
  let server: RedisServer;
  let proxy: CuttingProxy;
  let admin: Redis;
  let engine: RedisEngine;
  let prefixes = 0;
  const opened: RedisEngine[] = [];
  beforeAll(async () => {
    server = await openRedisServer();
    proxy = await startCuttingProxy({ host: "127.0.0.1", port: server.port });
    admin = new Redis(server.url);
    admin.on("error", () => {});
  });
  afterAll(async () => {
    admin.disconnect();
    await proxy.close();
    await server.close();
  });
  const open = async (prefix: string, url = server.url) => {
    const another = await RedisEngine.open({ url, prefix, durability: "strict", logger: silentLogger, timeoutMs: 2_000 });
    opened.push(another);
    return another;
  };
  beforeEach(async () => {
    prefixes += 1;
    engine = await open(`faults-${prefixes}`, `redis://127.0.0.1:${proxy.port}`);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await Promise.all(opened.splice(0).map((each) => each.close()));
  });
  const until = (status: "ok" | "down", from = engine) => expect.poll(() => from.health(), { timeout: 15_000 }).toMatchObject({ status });
  const untilCommitted = (id: string) =>
    expect
      .poll(() => engine.commit("o:a", { id, puts: [{ key: "again", value: id }] }).catch(() => null), { timeout: 15_000 })
      .toMatchObject({ ok: true });
  const scores = (shardKey: string) => admin.zrange(shardKey, 0, -1, "WITHSCORES");
  const alarmsOf = async (partition: string) => {
    const keys = await admin.keys(`{faults-${prefixes}:index:*}:alarms`);
    const found = await Promise.all(keys.map(async (key) => ((await admin.zscore(key, partition)) === null ? [] : [key])));
    return found.flat()[0] ?? "";
  };

  test("a commit whose reply was lost is told to have happened, and happened once", async () => {
    for (let done = 0; done < 5; done++) {
      const cut = proxy.cutNextReply("o:lost");
      const checks = [{ key: "count", version: done === 0 ? null : done }];
      const commit = { version: done, checks, puts: [{ key: "count", value: String(done) }], dueByMs: AT };
      const [result] = await Promise.all([committed(engine, "o:lost", commit), cut]);
      expect(result).toEqual({ ok: true, version: done + 1, epoch: 0 });
    }
    expect((await engine.read("o:lost", { keys: ["count"] })).entries.get("count")).toEqual({ key: "count", value: "4", version: 5 });
    expect(await engine.due(AT, 10, 0)).toEqual([{ partition: "o:lost", dueAtMs: AT, token: "" }]);
  });

  test("the outcome of a commit whose reply was lost is not known to who does not ask again", async () => {
    const cut = proxy.cutNextReply("o:unknown");
    const lost = engine.commit("o:unknown", { id: "1", puts: [{ key: "k", value: "1" }] });
    await expect(lost).rejects.toMatchObject(UNAVAILABLE);
    await cut;
    await until("ok");
    expect((await engine.read("o:unknown", {})).version).toBe(1);
  });

  test("a connection that came in place of one that was cut under a command is not cut in turn when that one's bound passes", async () => {
    const cut = proxy.cutNextReply("o:cut");
    await expect(engine.commit("o:cut", { id: "1", puts: [{ key: "k", value: "1" }] })).rejects.toMatchObject(UNAVAILABLE);
    await cut;
    await until("ok");
    // Until the bound of 2 s has passed, and somewhat longer.
    for (let n = 0; n < 60; n++) {
      await engine.read("o:cut", {});
      await pause(50);
    }
  });

  test("every commit that was acknowledged is there, and none twice, after the server was killed under 8 writers", async () => {
    const acknowledged: string[] = [];
    let left = 400;
    const writer = async (name: number) => {
      for (let step = 0; left > 0; step++) {
        left -= 1;
        const key = `step/${name}/${String(step).padStart(4, "0")}`;
        for (const commit = { id: newId(), puts: [{ key, value: "1" }], dueByMs: AT }; ; ) {
          const result = await engine.commit("o:killed", commit).catch((error: unknown) => {
            expect(error).toMatchObject(UNAVAILABLE);
            return null;
          });
          if (result !== null) {
            if (result.ok) acknowledged.push(`${key} ${result.version}`);
            break;
          }
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }
    };
    const writers = Promise.all(Array.from({ length: WRITERS }, (_, name) => writer(name)));
    await expect.poll(() => acknowledged.length, { interval: 2 }).toBeGreaterThan(40);
    await server.kill();
    await server.start();
    await writers;
    const { ranges, version } = await engine.read("o:killed", { ranges: [prefixRange("step/")] });
    expect((ranges[0] ?? []).map((entry) => `${entry.key} ${entry.version}`)).toEqual(acknowledged.toSorted());
    expect(version).toBe(acknowledged.length);
  });

  test("a server that is gone for two seconds is used again when it is back", async () => {
    await server.kill();
    expect(await engine.health()).toMatchObject({ status: "down" });
    await expect(engine.commit("o:a", { id: "1" })).rejects.toMatchObject({ ...UNAVAILABLE, retryAfterSeconds: 1 });
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await expect(engine.read("o:a", {})).rejects.toMatchObject(UNAVAILABLE);
    await server.start();
    await untilCommitted("back");
    await until("ok");
  });

  test("a server that hangs is down within its bound, and used again when it goes on", async () => {
    proxy.pause();
    const begun = performance.now();
    expect(await engine.health()).toMatchObject({ status: "down", detail: expect.stringContaining("Redis") });
    expect(performance.now() - begun).toBeLessThan(3_000);
    await expect(engine.commit("o:a", { id: "hung" })).rejects.toMatchObject(UNAVAILABLE);
    proxy.resume();
    await untilCommitted("on");
  });

  describe("that refuses writes", () => {
    test.each([
      ["out of memory", "OOM", () => admin.config("SET", "maxmemory", "1"), () => admin.config("SET", "maxmemory", "0")],
      [
        "without its replicas",
        "NOREPLICAS",
        () => admin.config("SET", "min-replicas-to-write", "1"),
        () => admin.config("SET", "min-replicas-to-write", "0"),
      ],
      ["a replica", "READONLY", () => admin.replicaof("127.0.0.1", 1), () => admin.replicaof("NO", "ONE")],
    ])("%s: is down and takes no part of a commit, until it takes writes again", async (_, code, begin, end) => {
      await engine.commit("o:a", { id: "1", puts: [{ key: "k", value: "1" }] });
      await begin();
      try {
        expect(await engine.health()).toMatchObject({ status: "down", detail: expect.stringContaining(code) });
        const refused = engine.commit("o:a", { id: "2", puts: [{ key: "k", value: "2" }], deletes: ["k"], dueByMs: AT });
        await expect(refused).rejects.toMatchObject({ ...UNAVAILABLE, message: expect.stringContaining(code) });
        const { version, entries } = await engine.read("o:a", { keys: ["k"] });
        expect([version, entries.get("k")?.value]).toEqual([1, "1"]);
        await expect(engine.erase("o:a")).rejects.toMatchObject(UNAVAILABLE);
      } finally {
        await end();
      }
      await until("ok");
      expect(await engine.commit("o:a", { id: "2", dueByMs: AT })).toMatchObject({ ok: true, version: 2 });
    });
  });

  test("one that was emptied is down, also when another installation began in it", async () => {
    await until("ok");
    await admin.flushall();
    expect(await engine.health()).toMatchObject({ status: "down", detail: expect.stringContaining("empty or another installation's") });
    await open(`faults-${prefixes}`);
    expect(await engine.health()).toMatchObject({ status: "down" });
  });

  describe("that may lose what it acknowledges since it was opened", () => {
    afterEach(async () => {
      await admin.config("SET", "appendonly", "yes");
      await admin.config("SET", "maxmemory-policy", "noeviction");
    });

    test.each([
      ["appendonly", "no"],
      ["maxmemory-policy", "allkeys-lru"],
    ])("%s %s: is down after half a minute, with the reason", async (name, value) => {
      await admin.config("SET", name, value);
      expect(await engine.health()).toMatchObject({ status: "ok" });
      const now = performance.now.bind(performance);
      vi.spyOn(performance, "now").mockImplementation(() => now() + 31_000);
      expect(await engine.health()).toMatchObject({ status: "down", detail: expect.stringContaining(`${name} is ${value}`) });
    });

    test("is looked at anew when the connection is", async () => {
      await admin.config("SET", "appendonly", "no");
      await admin.client("KILL", "TYPE", "normal", "SKIPME", "yes");
      await expect.poll(() => engine.health(), { timeout: 15_000 }).toMatchObject({ detail: expect.stringContaining("appendonly is no") });
    });
  });

  test("an error of the server's says nothing of what was to be written", async () => {
    await admin.set(`{faults-${prefixes}:o:a}:values`, "text");
    const failed = await engine.commit("o:a", { id: "1", puts: [{ key: "k", value: "a secret" }] }).catch((error: unknown) => error);
    expect(failed).toMatchObject({ ...UNAVAILABLE, message: expect.stringContaining("Redis answered") });
    expect(JSON.stringify({ cause: { ...((failed as Error).cause as object) } }) + String((failed as Error).cause)).not.toContain("secret");
  });

  describe("alarms", () => {
    test("of 8 writers that set and take them away in turn no commit fails, and what is due in the end is found", async () => {
      const partitions = ["o:a", "o:b"];
      const results: unknown[] = [];
      await Promise.all(
        Array.from({ length: WRITERS }, async (_, writer) => {
          for (let step = 0; step < 1_000 / WRITERS; step++) {
            const alarm = step % 2 === 0 ? { dueByMs: AT } : { dueAtMs: null };
            results.push(await engine.commit(partitions[(writer + step) % 2] ?? "", { id: newId(), ...alarm }));
            if (step % 10 === 0) await engine.due(AT, 10, 0);
          }
        }),
      );
      expect(results).toHaveLength(1_000);
      expect(results.filter((result) => !(result as { ok: boolean }).ok)).toEqual([]);
      const heads = await Promise.all(partitions.map((partition) => engine.read(partition, {})));
      const due = await engine.due(AT, 10, 0);
      expect(due.map(({ partition }) => partition).toSorted()).toEqual(partitions.filter((_, at) => heads[at]?.dueAtMs === AT));
    });

    test("a hint whose commit never came stays for as long as that may come, and is taken away then", async () => {
      await engine.commit("o:a", { id: "1", dueByMs: AT });
      const alarms = await alarmsOf("o:a");
      const announced = alarms.replace(":alarms", ":announced");
      await engine.commit("o:a", { id: "2", dueAtMs: null });
      expect(await engine.due(AT, 10, 60_000)).toEqual([]);
      expect(await scores(alarms)).toEqual(["o:a", String(AT)]);
      await admin.zadd(announced, Date.now() - 31_000, "o:a");
      expect(await engine.due(AT, 10, 60_000)).toEqual([]);
      expect([await scores(alarms), await scores(announced)]).toEqual([[], []]);
    });

    test("a hint that is too early follows its partition, which is found by its real alarm and in its place", async () => {
      await engine.commit("o:a", { id: "1", dueAtMs: AT });
      await engine.commit("o:a", { id: "2", dueAtMs: AT + 30 });
      await engine.commit("o:b", { id: "3", dueAtMs: AT + 20 });
      const alarms = await alarmsOf("o:a");
      await admin.zadd(alarms.replace(":alarms", ":announced"), 0, "o:a");
      expect(await engine.due(AT + 10, 10, 0)).toEqual([]);
      expect(await admin.zscore(alarms, "o:a")).toBe(String(AT + 30));
      expect((await engine.due(AT + 40, 1, 60_000)).map(({ partition }) => partition)).toEqual(["o:b"]);
      expect((await engine.due(AT + 40, 1, 60_000)).map(({ partition }) => partition)).toEqual(["o:a"]);
    });

    test("hundreds that are early, or claimed, hide none that is due behind them", async () => {
      const claimed = Array.from({ length: 300 }, (_, index) => `o:${index}`);
      await Promise.all(claimed.map((partition) => engine.commit(partition, { id: newId(), dueAtMs: AT })));
      expect(await engine.due(AT, 300, 60_000)).toHaveLength(300);
      await engine.commit("o:last", { id: newId(), dueAtMs: AT + 1 });
      expect(await engine.due(AT + 1, 1, 60_000)).toMatchObject([{ partition: "o:last" }]);
    });

    test("a process whose own clock stood still, as on a machine that slept, sets them", async () => {
      const now = performance.now.bind(performance);
      vi.spyOn(performance, "now").mockImplementation(() => now() - 3_600_000);
      expect(await engine.commit("o:a", { id: "1", dueByMs: AT })).toMatchObject({ ok: true, version: 1 });
      expect(await engine.due(AT, 1, 0)).toMatchObject([{ partition: "o:a" }]);
    });
  });
});
