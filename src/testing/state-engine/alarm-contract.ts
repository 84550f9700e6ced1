import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Commit, DuePartition } from "../../state/engine.js";
import { type EngineWorld, times } from "./engine-world.js";

const AT = 1_800_000_000_000;
/** Longer than a test. */
const LONG_MS = 60_000;
/** Shorter than one waits for. */
const SHORT_MS = 100;
const WORKERS = 8;

export function alarmContract(world: EngineWorld): void {
  const named = (due: readonly DuePartition[]) => due.map(({ partition }) => partition);
  const claim = async (partition: string, leaseMs: number): Promise<string> => {
    const [due] = await world.engine.due(AT, 1, leaseMs);
    expect(due).toMatchObject({ partition, token: expect.stringMatching(/./) });
    return due?.token ?? "";
  };
  /** Waits for a claim to end by itself. */
  const claimWhenFree = async (partition: string): Promise<string> => {
    await expect.poll(async () => named(await world.engine.due(AT, 1, 0)), { timeout: 10_000, interval: 25 }).toEqual([partition]);
    return claim(partition, LONG_MS);
  };

  describe("alarms", () => {
    const alarmAfter = async (...commits: Omit<Commit, "id">[]) => {
      for (const commit of commits) await world.write("o:a", commit);
      return (await world.head("o:a")).dueAtMs;
    };

    test("`dueByMs` lowers the alarm, `dueAtMs` sets it; others leave it", async () => {
      expect(await alarmAfter({ dueByMs: AT })).toBe(AT);
      expect(await alarmAfter({ dueByMs: AT + 1 })).toBe(AT);
      expect(await alarmAfter({ dueByMs: AT - 1 })).toBe(AT - 1);
      expect(await alarmAfter({ puts: [{ key: "a", value: "1" }] })).toBe(AT - 1);
      expect(await alarmAfter({ dueAtMs: AT + 5 })).toBe(AT + 5);
      expect(await alarmAfter({ dueAtMs: null })).toBeNull();
      expect(await alarmAfter({ deletes: ["a"] })).toBeNull();
      expect(await alarmAfter({ dueAtMs: AT, dueByMs: AT + 1 })).toBe(AT);
      expect(await alarmAfter({ dueAtMs: AT + 2, dueByMs: AT + 1 })).toBe(AT + 1);
      expect(await alarmAfter({ dueAtMs: null, dueByMs: AT + 3 })).toBe(AT + 3);
    });

    test("one that is set by what was read is refused where work came in meanwhile", async () => {
      const version = await world.write("o:a", { dueByMs: AT });
      await world.put("o:a", { "job/2": "1" }, { dueByMs: AT });
      expect(await world.commit("o:a", { version, dueAtMs: null })).toMatchObject({ ok: false, refused: "version" });
      expect((await world.head("o:a")).dueAtMs).toBe(AT);
    });

    test("those that have rung are told, the longest due first, up to a limit", async () => {
      const alarms = { "o:a": AT + 3, "o:b": AT + 1, "o:c": AT + 4, "o:d": AT + 2, "s:e": AT };
      for (const [partition, dueAtMs] of Object.entries(alarms)) await world.write(partition, { dueAtMs });
      await world.put("o:none", { a: "1" });
      expect(await world.engine.due(AT - 1, 10, 0)).toEqual([]);
      expect(await world.engine.due(AT, 10, 0)).toEqual([{ partition: "s:e", dueAtMs: AT, token: "" }]);
      expect(named(await world.engine.due(AT + 3, 10, 0))).toEqual(["s:e", "o:b", "o:d", "o:a"]);
      expect(named(await world.engine.due(AT + 9, 2, 0))).toEqual(["s:e", "o:b"]);
      expect(named(await world.engine.due(AT + 9, 2, LONG_MS))).toEqual(["s:e", "o:b"]);
      expect(named(await world.engine.due(AT + 9, 2, LONG_MS))).toEqual(["o:d", "o:a"]);
    });

    test("a partition whose alarm is put off, or taken away, is due no more", async () => {
      await world.write("o:a", { dueAtMs: AT });
      await world.write("o:a", { dueAtMs: AT + 10 });
      expect(await world.engine.due(AT, 10, 0)).toEqual([]);
      await world.write("o:a", { dueAtMs: null });
      expect(await world.engine.due(AT + 99, 10, 0)).toEqual([]);
    });
  });

  describe("claims", () => {
    test("what was only looked at is given again; what was claimed is not", async () => {
      await world.write("o:a", { dueAtMs: AT });
      expect(named(await world.engine.due(AT, 10, 0))).toEqual(["o:a"]);
      await claim("o:a", LONG_MS);
      expect(await world.engine.due(AT, 10, LONG_MS)).toEqual([]);
      expect(await world.engine.due(AT, 10, 0)).toEqual([]);
    });

    test("are no change: what was read before can be committed on, by anybody", async () => {
      const version = await world.put("o:a", { a: "1" }, { dueAtMs: AT });
      await claim("o:a", LONG_MS);
      expect((await world.head("o:a")).version).toBe(version);
      await world.put("o:a", { b: "1" }, { version });
    });

    test(`of ${WORKERS} workers each partition is one's`, async () => {
      const engines = await world.pair();
      const partitions = times(20, (index) => `o:${String(index).padStart(2, "0")}`);
      await Promise.all(partitions.map((partition) => world.write(partition, { dueAtMs: AT })));
      const taken: DuePartition[] = [];
      await expect
        .poll(
          async () => {
            const given = await Promise.all(times(WORKERS, (worker) => engines[worker % 2 === 0 ? 0 : 1].due(AT, 2, LONG_MS)));
            taken.push(...given.flat());
            return taken.length;
          },
          { timeout: 10_000, interval: 5 },
        )
        .toBeGreaterThanOrEqual(partitions.length);
      expect(named(taken).toSorted()).toEqual(partitions);
      for (const { partition, token } of taken) await world.write(partition, { claim: { token, leaseMs: LONG_MS } });
    });

    test("one ends when the work does; there is nothing more to do", async () => {
      await world.put("o:a", { job: "1" }, { dueAtMs: AT });
      const token = await claim("o:a", LONG_MS);
      await world.write("o:a", { claim: { token, leaseMs: 0 }, deletes: ["job"], dueAtMs: null });
      expect(await world.engine.due(AT, 10, 0)).toEqual([]);
      await world.write("o:a", { dueByMs: AT });
      expect(named(await world.engine.due(AT, 10, 0))).toEqual(["o:a"]);
    });

    test("work that comes in while one holds is due when it is let go", async () => {
      await world.write("o:a", { dueAtMs: AT });
      const token = await claim("o:a", LONG_MS);
      await world.write("o:a", { claim: { token, leaseMs: LONG_MS }, dueAtMs: null });
      await world.put("o:a", { "job/2": "1" }, { dueByMs: AT - 5 });
      expect(await world.engine.due(AT, 10, LONG_MS)).toEqual([]);
      await world.write("o:a", { claim: { token, leaseMs: 0 } });
      expect(await world.engine.due(AT, 10, 0)).toEqual([{ partition: "o:a", dueAtMs: AT - 5, token: "" }]);
    });

    test("one that was let go, or that never was, is refused", async () => {
      await world.write("o:a", { dueAtMs: AT });
      const other = { claim: { token: "00000000-0000-7000-8000-000000000000", leaseMs: LONG_MS } };
      expect(await world.commit("o:a", other)).toMatchObject({ ok: false, refused: "claim" });
      const token = await claim("o:a", LONG_MS);
      await world.write("o:a", { claim: { token, leaseMs: 0 } });
      const late = { claim: { token, leaseMs: LONG_MS }, puts: [{ key: "a", value: "late" }] };
      expect(await world.commit("o:a", late)).toMatchObject({ ok: false, refused: "claim", keys: [] });
      expect(await world.all("o:a")).toEqual({});
    });

    test("one ends by itself, and its holder can't write any more; the next can", async () => {
      await world.write("o:a", { dueAtMs: AT });
      const first = await claim("o:a", SHORT_MS);
      await pause(2 * SHORT_MS);
      const late = { claim: { token: first, leaseMs: LONG_MS }, puts: [{ key: "a", value: "late" }] };
      expect(await world.commit("o:a", late)).toMatchObject({ ok: false, refused: "claim" });
      const second = await claimWhenFree("o:a");
      expect(second).not.toBe(first);
      expect(await world.commit("o:a", late)).toMatchObject({ ok: false, refused: "claim" });
      await world.put("o:a", { a: "2" }, { claim: { token: second, leaseMs: 0 } });
      expect(await world.all("o:a")).toEqual({ a: "2" });
    });

    test("a commit renews one from now on, for longer or shorter", async () => {
      await world.write("o:a", { dueAtMs: AT });
      const token = await claim("o:a", 1_000);
      await world.write("o:a", { claim: { token, leaseMs: LONG_MS } });
      await pause(1_200);
      expect(await world.engine.due(AT, 10, 0)).toEqual([]);
      await world.write("o:a", { claim: { token, leaseMs: SHORT_MS } });
      expect(await claimWhenFree("o:a")).not.toBe(token);
    });

    test("a commit without it leaves it as it is", async () => {
      await world.write("o:a", { dueAtMs: AT });
      const token = await claim("o:a", LONG_MS);
      await world.put("o:a", { a: "1" });
      expect(await world.engine.due(AT, 10, 0)).toEqual([]);
      await world.write("o:a", { claim: { token, leaseMs: LONG_MS } });
    });
  });
}
