import { afterAll, beforeAll, expect, test } from "vitest";
import { migrate } from "../../src/operations/migrate.js";
import { halfMovedFrom, leasesIn } from "../../src/operations/migration-checks.js";
import type { MovableState } from "../../src/ports/transfer.js";
import { committed } from "../../src/state/durable-commit.js";
import type { StateEngine } from "../../src/state/engine.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { ownerPartition, systemPartition } from "../../src/state/partition.js";
import { sessionKey } from "../../src/state/sessions/keys.js";
import { NO_INDEX, NO_JOURNAL, rowKeys } from "../../src/state/sessions/session-row.js";
import { FaultyEngine } from "../state/faulty-engine.js";
import { needing } from "../support/needing.js";
import { ENGINES, type EngineServer, movable } from "./engines.js";
import { arriving, contentsOf, ERASED, fill, ownerNumber, POOR, RICH, SESSION } from "./sample-state.js";

const NOW = new Date("2026-03-01T10:00:00.000Z");
const move = (source: MovableState, target: MovableState, signal = new AbortController().signal) =>
  migrate(source, target, { signal, now: NOW });
const write = (engine: StateEngine, partition: string, key: string, value: string) =>
  committed(engine, partition, { puts: [{ key, value }] });

for (const kind of ENGINES)
  needing(...kind.needs)(`moving state to ${kind.name} and back`, () => {
    let server: EngineServer;
    beforeAll(async () => {
      server = await kind.start();
    }, 60_000);
    afterAll(() => server.close());

    test("everything arrives, of 300 owners, of erased ones and of the installation, and comes back the same", async () => {
      const [source, between, back] = [new MemoryEngine(), await server.open(), new MemoryEngine()];
      await fill(source, { owners: 300 });
      const [before, expected] = [await contentsOf(source), arriving(await contentsOf(source))];
      const report = await move(movable(source), movable(between));
      expect(report).toMatchObject({ differences: [], left_behind: { damaged_records: 0, damaged_journals: 0 } });
      expect(report.source).toEqual({
        users: 300,
        sessions: 1,
        messages: 2,
        images: 0,
        memory_log_entries: 1_300 + 299,
        ledgers: 301,
        rows: expect.objectContaining({ bookings: 1, jobs: 1, "tokens by day": 1 }),
      });
      expect(report.target).toEqual(report.source);
      expect(await contentsOf(between)).toEqual(expected);
      expect(await contentsOf(source)).toEqual(before);
      expect(await move(movable(between), movable(back))).toMatchObject({ differences: [], target: report.source });
      expect(await contentsOf(back)).toEqual(expected);
      expect(expected.get(ownerPartition(ERASED))?.epoch).toBe(2);
      expect([...expected.values()].filter(({ dueAtMs }) => dueAtMs !== null)).toHaveLength(100);
      expect(await move(movable(source), movable(between))).toMatchObject({ moved: 0, differences: [] });
    }, 120_000);

    test("broken off anywhere, the same again goes on: nothing is there twice, and nothing is missing", async () => {
      const [source, engine] = [new MemoryEngine(), await server.open()];
      await fill(source, { owners: 20 });
      const target = new FaultyEngine(engine);
      for (const at of [2, 7, 19]) {
        target.crashBefore(at);
        await expect(move(movable(source), movable(target))).rejects.toThrow("crashed");
        expect(await halfMovedFrom(engine)).toBe("memory");
        target.heal();
      }
      target.loseReply(4);
      expect(await move(movable(source), movable(target))).toMatchObject({ differences: [] });
      expect(await halfMovedFrom(engine)).toBeNull();
      expect(await contentsOf(engine)).toEqual(arriving(await contentsOf(source)));
    }, 60_000);
  });

test("what is there already is not written again by a run that goes on", async () => {
  const [source, engine] = [new MemoryEngine(), new MemoryEngine()];
  await fill(source, { owners: 20 });
  const target = new FaultyEngine(engine);
  target.crashBefore(19);
  await expect(move(movable(source), movable(target))).rejects.toThrow("crashed");
  const [rest, all] = [await move(movable(source), movable(target)), await move(movable(source), movable(new MemoryEngine()))];
  expect(rest.moved).toBeGreaterThan(0);
  expect(rest.moved).toBeLessThan(all.moved);
});

test("more partitions than a page are moved", async () => {
  const [source, target] = [new MemoryEngine(), new MemoryEngine()];
  await fill(source, { owners: 1_200 });
  expect(await move(movable(source), movable(target))).toMatchObject({ differences: [], target: { users: 1_200 } });
  expect(await contentsOf(target)).toEqual(arriving(await contentsOf(source)));
});

test("what was begun is brought to what the source is by now, also where the target was changed", async () => {
  const [source, engine] = [new MemoryEngine(), new MemoryEngine()];
  await fill(source, { owners: 20 });
  const target = new FaultyEngine(engine);
  target.crashBefore(19);
  await expect(move(movable(source), movable(target))).rejects.toThrow("crashed");
  await write(engine, ownerPartition(POOR), "memory-log/000000000001", '"changed"');
  await write(engine, ownerPartition(POOR), "memory-log/000000000002", '"added"');
  await write(source, ownerPartition(RICH), "memory-log/000000009999", '"grown"');
  await source.erase(ownerPartition(ownerNumber(3)));
  expect(await move(movable(source), movable(target))).toMatchObject({ differences: [] });
  expect(await contentsOf(engine)).toEqual(arriving(await contentsOf(source)));
});

test("a target that holds anything else is refused, and stays as it was", async () => {
  const source = new MemoryEngine();
  await fill(source, { owners: 3 });
  const refused = async (target: MemoryEngine) => {
    const before = await contentsOf(target);
    await expect(move(movable(source), movable(target))).rejects.toMatchObject({
      code: "TARGET_NOT_EMPTY",
      hint: expect.stringContaining("DATABASE_SCHEMA"),
    });
    expect(await contentsOf(target)).toEqual(before);
  };
  const others = new MemoryEngine();
  await write(others, ownerPartition(ownerNumber(99)), "owner", '"default:user-99"');
  await refused(others);
  const counted = new MemoryEngine();
  await write(counted, systemPartition("tokens"), "count/2026-03-02/x", "1");
  await refused(counted);

  const used = new MemoryEngine();
  await move(movable(source), movable(used));
  await write(used, ownerPartition(POOR), "memory-log/000000000001", '"what was said since"');
  await refused(used);

  const half = new FaultyEngine(new MemoryEngine());
  half.crashAfter(3);
  await expect(move(movable(new MemoryEngine(), { name: "another" }), movable(half))).resolves.toMatchObject({ differences: [] });
  half.crashAfter(3);
  await expect(move(movable(source, { name: "another" }), movable(half))).rejects.toThrow("crashed");
  await expect(move(movable(source), movable(half))).rejects.toMatchObject({ message: expect.stringContaining("a move from another") });
});

test("a target on which a server was started once, and nobody used, takes all; also which installation it is", async () => {
  const [source, target] = [new MemoryEngine(), new MemoryEngine()];
  await fill(source, { owners: 3 });
  await write(target, systemPartition("installation"), "installation", '"another"');
  await write(target, systemPartition("locks"), "lock/p", '{"untilMs":0}');
  await write(target, systemPartition("limits", "60-0b"), "limit/1/k", "1");
  await target.erase(ownerPartition(ownerNumber(77)));
  expect(await move(movable(source), movable(target))).toMatchObject({ differences: [] });
  expect((await contentsOf(target)).get("s:installation")?.entries).toEqual({ installation: '"the one"' });

  const [without, agreed] = [new MemoryEngine(), new MemoryEngine()];
  await write(agreed, systemPartition("installation"), "installation", '"another"');
  await write(without, ownerPartition(POOR), "owner", JSON.stringify(POOR));
  expect(await move(movable(without), movable(agreed))).toMatchObject({ differences: [] });
  expect((await contentsOf(agreed)).get("s:installation")?.entries).toEqual({ installation: '"another"' });
});

test("an epoch is never lowered", async () => {
  const [source, target] = [new MemoryEngine(), new MemoryEngine()];
  for (let times = 0; times < 3; times += 1) await target.erase(ownerPartition(POOR));
  await source.erase(ownerPartition(POOR));
  await write(source, ownerPartition(POOR), "owner", JSON.stringify(POOR));
  expect(await move(movable(source), movable(target))).toMatchObject({ differences: [] });
  expect((await target.read(ownerPartition(POOR), {})).epoch).toBe(3);
});

test("a session's row that is over the engine's limit stays whole, and takes fewer parts when it is shorter", async () => {
  const [source, engine] = [new MemoryEngine(), new MemoryEngine()];
  const target = new FaultyEngine(engine);
  const partition = ownerPartition(POOR);
  const text = (rewinds: number) =>
    JSON.stringify({ v: 2, ...NO_JOURNAL, ...NO_INDEX, fence: 7, rewinds: Array.from({ length: rewinds }, (_, at) => [at, 1]) });
  const keep = async (parts: readonly string[]) =>
    void (await committed(source, partition, {
      puts: rowKeys(SESSION, parts.length).map((key, at) => ({ key, value: parts[at] ?? "" })),
      deletes: rowKeys(SESSION, 3).slice(parts.length),
    }));
  const long = text(150_000);
  await keep([long.slice(0, 800_000), long.slice(800_000)]);
  target.crashAfter(2);
  await expect(move(movable(source), movable(target))).rejects.toThrow("crashed");
  target.heal();
  const rowIn = async () => Object.entries((await contentsOf(engine)).get(partition)?.entries ?? {});
  expect((await rowIn()).map(([key]) => key)).toEqual(rowKeys(SESSION, (await rowIn()).length));
  expect((await rowIn()).map(([, value]) => value).join("")).toBe(long.replace('"fence":7', '"fence":0'));

  await committed(engine, systemPartition("move"), { puts: [{ key: "begun", value: JSON.stringify({ v: 1, from: "memory" }) }] });
  await keep([text(1)]);
  expect(await move(movable(source), movable(engine))).toMatchObject({ differences: [] });
  expect(await rowIn()).toEqual([[sessionKey(SESSION), text(1).replace('"fence":7', '"fence":0')]]);
});

test("a value that the target can't keep is refused by name", async () => {
  const [source, engine] = [new MemoryEngine(), new MemoryEngine()];
  await fill(source, { owners: 1 });
  const small = new Proxy(engine, {
    get: (it, name) => {
      const value: unknown = Reflect.get(it, name, it);
      if (name === "manifest") return { ...it.manifest, maxValueBytes: 500_000 };
      return typeof value === "function" ? value.bind(it) : value;
    },
  });
  await expect(move(movable(source), movable(small))).rejects.toMatchObject({
    code: "COMMIT_TOO_LARGE",
    message: expect.stringContaining(`image-part/${SESSION}/i/0`),
  });
});

test("not while somebody uses either store: a lease that is renewed or a write meanwhile ends it", async () => {
  const [source, target] = [new MemoryEngine(), new MemoryEngine()];
  await fill(source, { owners: 3 });
  let untilMs = Date.now() + 60_000;
  const renewed = async () => {
    untilMs += 1;
    return new Map([["lock/p", untilMs]]);
  };
  await expect(move(movable(source, { leases: renewed }), movable(target))).rejects.toMatchObject({ code: "STORAGE_IN_USE" });
  let looks = 0;
  const killed = async () => {
    looks += 1;
    return looks < 3 ? new Map([["lock/p", untilMs]]) : new Map<string, number>();
  };
  const busy = new FaultyEngine(target);
  const held = busy.holdBefore(3);
  const moving = move(movable(source), movable(busy, { leases: killed }));
  await held.reached;
  for (const { partition } of await source.partitions({ limit: 100 })) await write(target, partition, "event/1", "1");
  held.release();
  await expect(moving).rejects.toMatchObject({ code: "STORAGE_IN_USE" });
  expect(looks).toBe(3);
});

test("leases are held by the engine's clock, and the caller's own is none of others", async () => {
  const engine = new MemoryEngine({ clock: { now: () => NOW } });
  const locks = systemPartition("locks");
  const rows = { own: 5_000, other: 5_000, over: -1 };
  for (const [key, ms] of Object.entries(rows))
    await write(engine, locks, `lock/${key}`, JSON.stringify({ v: 1, fence: 1, holder: "h", untilMs: NOW.getTime() + ms }));
  expect(await leasesIn(engine, "lock/own")).toEqual(new Map([["lock/other", NOW.getTime() + 5_000]]));
});

test("tells how far it is, and stops when it is told to", async () => {
  const [source, target] = [new MemoryEngine(), new MemoryEngine()];
  await fill(source, { owners: 40 });
  const told: (readonly [number, number])[] = [];
  const stop = new AbortController();
  const onProgress = (done: number, total: number) => {
    told.push([done, total]);
    if (done === 30) stop.abort(new Error("stopped"));
  };
  await expect(migrate(movable(source), movable(target), { signal: stop.signal, now: NOW, onProgress })).rejects.toThrow();
  expect(told.length).toBeLessThan(45);
  told.length = 0;
  const { signal } = new AbortController();
  await migrate(movable(source), movable(target), { signal, now: NOW, onProgress: (...step) => told.push(step) });
  const total = (40 + 3) * 2;
  expect(told).toEqual(Array.from({ length: total }, (_, at) => [at + 1, total]));
});

test("a difference is seen, by the user's name, or by the partition", async () => {
  const [source, target] = [new MemoryEngine(), new MemoryEngine()];
  await fill(source, { owners: 3 });
  const careless = new Proxy(target, {
    get: (it, name) => {
      const value: unknown = Reflect.get(it, name, it);
      if (name !== "commit") return typeof value === "function" ? value.bind(it) : value;
      return (partition: string, { puts = [], ...commit }: Parameters<StateEngine["commit"]>[1]) => {
        const isLost = (key: string) => key === "ledger/receipt/r" || (key === "ledger/user" && partition === ownerPartition(POOR));
        return it.commit(partition, { ...commit, puts: puts.map((put) => (isLost(put.key) ? { ...put, value: "null" } : put)) });
      };
    },
  });
  const report = await move(movable(source), movable(careless));
  expect(report.differences).toEqual([`partition ${ownerPartition(ERASED)}`, `user ${POOR}`]);
  expect(await halfMovedFrom(target)).toBe("memory");
});
