import { describe, expect, test } from "vitest";
import { newId } from "../platform/ids.js";
import { alarmContract } from "./state-engine/alarm-contract.js";
import { commitContract } from "./state-engine/commit-contract.js";
import { EngineWorld, EVERYTHING, type StateEngineFeature, type StateEngineUnderTest } from "./state-engine/engine-world.js";
import { readContract } from "./state-engine/read-contract.js";
import { type ContractOptions, isSupported, optionalTests } from "./supports.js";

export type { StateEngineFeature, StateEngineUnderTest } from "./state-engine/engine-world.js";

const AT = 1_800_000_000_000;

/** What an engine of state is. Takes about five seconds: claims have to end by themselves. */
export function stateEngineContract(
  name: string,
  make: () => Promise<StateEngineUnderTest>,
  { supports }: ContractOptions<StateEngineFeature> = {},
): void {
  const when = optionalTests(supports);
  describe(`state engine: ${name}`, () => {
    const world = new EngineWorld(make);
    readContract(world, when);
    commitContract(world);
    alarmContract(world);

    describe("erasure", () => {
      test("leaves the epoch, one higher, and no entry and no alarm; others are untouched", async () => {
        await world.put("o:a", { a: "1", b: "1" }, { dueAtMs: AT, raisesEpoch: true });
        await world.put("o:a", { c: "1" });
        await world.put("o:ab", { a: "1" }, { dueAtMs: AT });
        const { version, epoch } = await world.head("o:a");
        expect(await world.engine.erase("o:a")).toBe(3);
        const after = await world.engine.read("o:a", { keys: ["a"], ranges: [EVERYTHING] });
        expect(after).toMatchObject({ epoch: epoch + 1, dueAtMs: null, entries: new Map(), ranges: [[]] });
        expect(after.version).toBeGreaterThan(version);
        expect(await world.engine.due(AT, 10, 0)).toEqual([{ partition: "o:ab", dueAtMs: AT, token: "" }]);
        expect(await world.all("o:ab")).toEqual({ a: "1" });
        expect(await world.head("o:ab")).toMatchObject({ epoch: 0 });
      });

      test("again finds nothing, and lowers nothing", async () => {
        await world.put("o:a", { a: "1" });
        expect(await world.engine.erase("o:a")).toBe(1);
        const { epoch } = await world.head("o:a");
        expect(await world.engine.erase("o:a")).toBe(0);
        expect((await world.head("o:a")).epoch).toBeGreaterThanOrEqual(epoch);
      });

      test("shuts out what began before: by epoch, by version, by what was seen, by claim", async () => {
        const version = await world.put("o:a", { a: "1" }, { dueAtMs: AT });
        const [due] = await world.engine.due(AT, 1, 60_000);
        await world.engine.erase("o:a");
        const puts = [{ key: "a", value: "late" }];
        expect(await world.commit("o:a", { epoch: 0, puts })).toMatchObject({ ok: false, refused: "epoch", epoch: 1 });
        expect(await world.commit("o:a", { version, puts })).toMatchObject({ ok: false, refused: "version" });
        expect(await world.commit("o:a", { checks: [{ key: "a", version }], puts })).toMatchObject({ ok: false, refused: "checks" });
        const claim = { token: due?.token ?? "", leaseMs: 60_000 };
        expect(await world.commit("o:a", { claim, puts })).toMatchObject({ ok: false, refused: "claim" });
        expect(await world.all("o:a")).toEqual({});
      });

      test("a commit from before it that is asked for again brings nothing back", async () => {
        const commit = { id: newId(), puts: [{ key: "a", value: "1" }], dueAtMs: AT };
        await world.engine.commit("o:a", { ...commit, epoch: 0 });
        await world.engine.erase("o:a");
        await world.engine.commit("o:a", { ...commit, epoch: 0 });
        await world.engine.commit("o:a", commit);
        expect(await world.all("o:a")).toEqual({});
        expect((await world.head("o:a")).dueAtMs).toBeNull();
      });

      test("of one that was never written shuts out what began before too", async () => {
        expect(await world.engine.erase("o:a")).toBe(0);
        expect(await world.commit("o:a", { epoch: 0, puts: [{ key: "a", value: "late" }] })).toMatchObject({ ok: false, refused: "epoch" });
      });

      test("takes all there is, however much, while others write; then the partition is used anew", async () => {
        const puts = (from: number) => Array.from({ length: 50 }, (_, index) => ({ key: `k${from + index}`, value: "1" }));
        for (let from = 0; from < 1_200; from += 50) await world.write("o:a", { puts: puts(from) });
        const [erased] = await Promise.all([
          world.engine.erase("o:a"),
          ...Array.from({ length: 8 }, (_, index) => world.commit("o:a", { epoch: 0, puts: [{ key: `late${index}`, value: "1" }] })),
        ]);
        expect(erased).toBeGreaterThanOrEqual(1_200);
        expect(await world.all("o:a")).toEqual({});
        await world.put("o:a", { new: "1" }, { epoch: 1, checks: [{ key: "k1", version: null }] });
        expect(await world.all("o:a")).toEqual({ new: "1" });
      });
    });

    test("is healthy", async () => {
      expect(await world.engine.health()).toMatchObject({ status: "ok" });
    });

    test("says of itself what it was declared to support", () => {
      expect(world.engine.manifest.shared).toBe(isSupported(supports, "shared"));
      expect(world.engine.manifest.name).not.toBe("");
    });

    when("shared")("what one process writes the other reads at once", async () => {
      const other = await world.another();
      for (const round of ["1", "2", "3"]) {
        const version = await world.put("o:a", { a: round }, { dueAtMs: AT });
        const read = await other.read("o:a", { keys: ["a"] });
        expect(read).toMatchObject({ version, dueAtMs: AT, entries: new Map([["a", { key: "a", value: round, version }]]) });
      }
      const [due] = await other.due(AT, 1, 60_000);
      expect(await world.engine.due(AT, 1, 60_000)).toEqual([]);
      await world.write("o:a", { claim: { token: due?.token ?? "", leaseMs: 0 } });
      await other.erase("o:a");
      expect(await world.all("o:a")).toEqual({});
      expect(await world.engine.partitions({ limit: 10 })).toEqual(await other.partitions({ limit: 10 }));
    });

    when("shared")("processes measure leases by one clock", async () => {
      const other = await world.another();
      const [one, two] = await Promise.all([world.head("o:a"), other.read("o:a", {})]);
      expect(Math.abs(one.nowMs - two.nowMs)).toBeLessThan(5_000);
    });

    when("durable")("the engine restarted: all that was acknowledged is there, and commits are still known", async () => {
      await world.put("o:gone", { a: "1" });
      await world.engine.erase("o:gone");
      const commit = { id: newId(), puts: [{ key: "a", value: JSON.stringify("é") }], dueAtMs: AT };
      const result = await world.engine.commit("o:a", commit);
      await world.engine.close();
      const restarted = await world.another();
      expect(await restarted.read("o:a", { keys: ["a"] })).toMatchObject({
        version: result.version,
        dueAtMs: AT,
        entries: new Map([["a", { key: "a", value: '"é"', version: result.version }]]),
      });
      expect(await restarted.commit("o:a", commit)).toEqual(result);
      expect((await restarted.read("o:a", {})).version).toBe(result.version);
      expect(await restarted.commit("o:gone", { id: newId(), epoch: 0 })).toMatchObject({ ok: false, refused: "epoch", epoch: 1 });
      expect(await restarted.due(AT, 10, 0)).toEqual([{ partition: "o:a", dueAtMs: AT, token: "" }]);
    });
  });
}
