import { describe, expect, test } from "vitest";
import { newId } from "../../platform/ids.js";
import type { Commit } from "../../state/engine.js";
import { type EngineWorld, times } from "./engine-world.js";

const RACERS = 8;
const ROUNDS = 8;
const AT = 1_800_000_000_000;

export function commitContract(world: EngineWorld): void {
  describe("commits", () => {
    test("put and delete; a key that is not there is passed over", async () => {
      await world.put("o:a", { a: "1", b: "1" });
      await world.write("o:a", {
        puts: [
          { key: "a", value: "2" },
          { key: "c", value: "2" },
        ],
        deletes: ["b", "missing"],
      });
      expect(await world.all("o:a")).toEqual({ a: "2", c: "2" });
      await world.write("o:a", { deletes: ["missing"] });
      await world.write("o:a", {});
      expect(await world.all("o:a")).toEqual({ a: "2", c: "2" });
    });

    test("each raises the partition's version; entries that it does not put keep theirs", async () => {
      const first = await world.put("o:a", { a: "1" });
      const second = await world.write("o:a", {});
      expect(second).toBeGreaterThan(first);
      const read = await world.engine.read("o:a", { keys: ["a"] });
      expect([read.version, read.entries.get("a")?.version]).toEqual([second, first]);
    });

    test("go ahead where each key is as it was seen, also one that was not there", async () => {
      const version = await world.put("o:a", { a: "1" });
      const checks = [
        { key: "a", version },
        { key: "b", version: null },
      ];
      await world.put("o:a", { b: "1" }, { checks });
      await world.write("o:a", { deletes: ["a"] });
      await world.put("o:a", { a: "2" }, { checks: [{ key: "a", version: null }] });
      expect(await world.all("o:a")).toEqual({ a: "2", b: "1" });
    });

    test("are refused with the keys that are not as they were seen, and then change nothing", async () => {
      const first = await world.put("o:a", { a: "1", b: "1", c: "1" });
      const version = await world.put("o:a", { b: "2" }, { dueAtMs: AT });
      const result = await world.commit("o:a", {
        checks: [
          { key: "a", version: first },
          { key: "b", version: first },
          { key: "c", version: null },
          { key: "missing", version: first },
          { key: "missing too", version: null },
        ],
        puts: [
          { key: "a", value: "lost" },
          { key: "d", value: "lost" },
        ],
        deletes: ["c"],
        dueAtMs: 1,
        raisesEpoch: true,
      });
      expect(result).toEqual({ ok: false, refused: "checks", keys: expect.any(Array), version, epoch: 0 });
      expect(!result.ok && result.keys.toSorted()).toEqual(["b", "c", "missing"]);
      expect(await world.all("o:a")).toEqual({ a: "1", b: "2", c: "1" });
      expect(await world.head("o:a")).toMatchObject({ version, epoch: 0, dueAtMs: AT });
    });

    test("that put a value again as it is are a change", async () => {
      const version = await world.put("o:a", { a: "1" });
      await world.put("o:a", { a: "1" });
      expect(await world.commit("o:a", { checks: [{ key: "a", version }] })).toMatchObject({ ok: false, refused: "checks" });
    });

    test("with a version are refused where anything at all was written since", async () => {
      const version = await world.put("o:a", { a: "1" });
      await world.put("o:b", { a: "1" });
      const next = await world.put("o:a", { b: "1" }, { version });
      expect(await world.commit("o:a", { version, deletes: ["a"] })).toEqual({
        ok: false,
        refused: "version",
        keys: [],
        version: next,
        epoch: 0,
      });
      expect(await world.commit("o:new", { version: 1 })).toMatchObject({ ok: false, refused: "version", version: 0 });
      await world.write("o:new", { version: 0 });
    });

    test("that raise the epoch shut out what began before", async () => {
      await world.put("o:a", { a: "1" }, { epoch: 0 });
      const raised = await world.commit("o:a", { epoch: 0, raisesEpoch: true, puts: [{ key: "b", value: "1" }] });
      expect(raised).toMatchObject({ ok: true, epoch: 1 });
      expect(await world.commit("o:a", { epoch: 0, deletes: ["a"] })).toEqual({
        ok: false,
        refused: "epoch",
        keys: [],
        version: raised.version,
        epoch: 1,
      });
      expect(await world.commit("o:a", { epoch: 1, puts: [{ key: "c", value: "1" }] })).toMatchObject({ ok: true, epoch: 1 });
      expect(await world.all("o:a")).toEqual({ a: "1", b: "1", c: "1" });
      expect(await world.commit("o:new", { epoch: 1 })).toMatchObject({ ok: false, refused: "epoch", version: 0, epoch: 0 });
    });

    test("tell the first of what they are refused for: epoch, claim, version, checks", async () => {
      const version = await world.put("o:a", { a: "1" }, { dueAtMs: AT });
      const [due] = await world.engine.due(AT, 1, 60_000);
      const claim = { token: due?.token ?? "", leaseMs: 60_000 };
      const checks = [{ key: "a", version: null }];
      const wrong = { epoch: 7, claim: { ...claim, token: newId() }, version: version + 7, checks };
      const refused = async (commit: Omit<Commit, "id">) => {
        const result = await world.commit("o:a", commit);
        return result.ok ? "none" : result.refused;
      };
      expect(await refused(wrong)).toBe("epoch");
      expect(await refused({ ...wrong, epoch: 0 })).toBe("claim");
      expect(await refused({ ...wrong, epoch: 0, claim })).toBe("version");
      expect(await refused({ ...wrong, epoch: 0, claim, version })).toBe("checks");
      expect(await refused({ epoch: 0, claim, version, checks: [{ key: "a", version }] })).toBe("none");
    });
  });

  describe("commits at the same time", () => {
    test(`of ${RACERS} that saw the same one wins, round after round`, async () => {
      const engines = await world.pair();
      for (const round of times(ROUNDS, (index) => index)) {
        const version = (await world.engine.read("o:a", { keys: ["a"] })).entries.get("a")?.version ?? null;
        const racing = await Promise.all(
          times(RACERS, (racer) =>
            engineOf(engines, racer).commit("o:a", {
              id: newId(),
              checks: [{ key: "a", version }],
              puts: [
                { key: "a", value: `${round} ${racer}` },
                { key: `${round}/${racer}`, value: "won" },
              ],
            }),
          ),
        );
        const lost = racing.filter((result) => !result.ok);
        expect(lost).toHaveLength(RACERS - 1);
        expect(lost).toEqual(lost.map(() => expect.objectContaining({ refused: "checks", keys: ["a"] })));
        const { a: value, ...all } = await world.all("o:a");
        expect(Object.keys(all).filter((key) => key.startsWith(`${round}/`))).toEqual([value?.replace(" ", "/")]);
      }
    });

    test("a counter that all raise counts each once", async () => {
      const engines = await world.pair();
      let attempts = 0;
      const raise = async (racer: number): Promise<void> => {
        attempts += 1;
        expect(attempts).toBeLessThan(10_000);
        const engine = engineOf(engines, racer);
        const { version, entries } = await engine.read("o:a", { keys: ["n"] });
        const puts = [{ key: "n", value: String(Number(entries.get("n")?.value ?? 0) + 1) }];
        if (!(await engine.commit("o:a", { id: newId(), version, puts })).ok) await raise(racer);
      };
      await Promise.all(
        times(RACERS, async (racer) => {
          for (let round = 0; round < 4; round++) await raise(racer);
        }),
      );
      expect(await world.all("o:a")).toEqual({ n: String(RACERS * 4) });
    });

    test("of keys that have nothing to do with each other all go ahead, each with a version of its own", async () => {
      const engines = await world.pair();
      const results = await Promise.all(
        times(24, (index) =>
          engineOf(engines, index).commit("o:a", {
            id: newId(),
            epoch: 0,
            checks: [{ key: `k${index}`, version: null }],
            puts: [{ key: `k${index}`, value: String(index) }],
          }),
        ),
      );
      expect(results.filter(({ ok }) => ok)).toHaveLength(24);
      expect(new Set(results.map(({ version }) => version)).size).toBe(24);
      expect(Object.keys(await world.all("o:a"))).toHaveLength(24);
      expect((await world.head("o:a")).version).toBe(Math.max(...results.map(({ version }) => version)));
    });
  });

  describe("a commit's id", () => {
    test("the same again is answered as the first time and changes nothing", async () => {
      const commit: Commit = {
        id: newId(),
        checks: [{ key: "a", version: null }],
        puts: [{ key: "a", value: "1" }],
        dueAtMs: AT,
        version: 0,
      };
      const first = await world.engine.commit("o:a", commit);
      expect(first).toMatchObject({ ok: true });
      expect(await world.engine.commit("o:a", commit)).toEqual(first);
      await world.put("o:a", { a: "2" }, { dueAtMs: null, raisesEpoch: true });
      const { version } = await world.head("o:a");
      expect(await world.engine.commit("o:a", { ...commit, epoch: 0 })).toEqual(first);
      expect(await world.all("o:a")).toEqual({ a: "2" });
      expect(await world.head("o:a")).toMatchObject({ version, dueAtMs: null, epoch: 1 });
    });

    test("the last 16 of a partition are known, one that raised the epoch among them", async () => {
      const commits = times(16, (index): Commit => ({ id: newId(), puts: [{ key: "a", value: String(index) }], raisesEpoch: index === 3 }));
      const results = [];
      for (const commit of commits) results.push(await world.engine.commit("o:a", commit));
      for (const [index, commit] of commits.entries()) expect(await world.engine.commit("o:a", commit)).toEqual(results[index]);
      expect(await world.all("o:a")).toEqual({ a: "15" });
    });

    test("of another partition is another", async () => {
      const commit: Commit = { id: newId(), puts: [{ key: "a", value: "1" }] };
      await world.engine.commit("o:a", commit);
      await world.engine.commit("o:b", commit);
      expect(await world.all("o:b")).toEqual({ a: "1" });
    });

    test("that is asked for several times at once is done once", async () => {
      const engines = await world.pair();
      for (const round of times(ROUNDS, String)) {
        const before = (await world.head("o:a")).version;
        const commit: Commit = { id: newId(), checks: [{ key: round, version: null }], puts: [{ key: round, value: round }] };
        const results = await Promise.all(times(RACERS, (racer) => engineOf(engines, racer).commit("o:a", commit)));
        expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
        expect(results[0]).toMatchObject({ ok: true, version: (await world.head("o:a")).version });
        expect(results[0]?.version).toBeGreaterThan(before);
      }
      expect(Object.keys(await world.all("o:a"))).toHaveLength(ROUNDS);
    });
  });

  describe("limits", () => {
    const refused = async (commit: Omit<Commit, "id">) => {
      await expect(world.commit("o:a", { ...commit, dueAtMs: AT })).rejects.toMatchObject({ code: "COMMIT_TOO_LARGE" });
      expect(await world.head("o:a")).toMatchObject({ version: 0, dueAtMs: null });
      expect(await world.all("o:a")).toEqual({});
    };

    test("a hundred operations with the engine's own, and two megabytes are taken at once", async () => {
      const { maxOperations, maxCommitBytes, maxValueBytes } = world.engine.manifest;
      expect([maxOperations >= 99, maxCommitBytes >= 2_000_000, maxValueBytes >= 100_000]).toEqual([true, true, true]);
      const puts = times(50, (index) => ({ key: `put/${String(index).padStart(2, "0")}`, value: "x".repeat(39_000) }));
      await world.write("o:a", { puts, deletes: times(49, (index) => `delete/${index}`), checks: [{ key: "put/00", version: null }] });
      expect(Object.values(await world.all("o:a")).join("").length).toBe(50 * 39_000);
    });

    test("more operations than the manifest names are refused", async () => {
      const { maxOperations } = world.engine.manifest;
      if (maxOperations > 10_000) return;
      await refused({ puts: times(maxOperations, (index) => ({ key: String(index), value: "1" })), deletes: ["x"] });
    });

    test("a larger value is refused, whatever its number of characters", async () => {
      const { maxValueBytes } = world.engine.manifest;
      if (maxValueBytes > 20_000_000) return;
      await refused({
        puts: [
          { key: "a", value: "1" },
          { key: "b", value: "é".repeat(Math.ceil((maxValueBytes + 1) / 2)) },
        ],
      });
    });

    test("a larger commit is refused", async () => {
      const { maxValueBytes, maxCommitBytes } = world.engine.manifest;
      if (maxCommitBytes > 20_000_000) return;
      const bytes = Math.min(maxValueBytes, 100_000);
      await refused({
        puts: times(Math.ceil((maxCommitBytes + 1) / bytes), (index) => ({ key: String(index), value: "x".repeat(bytes) })),
      });
    });
  });
}

function engineOf<T>(engines: readonly [T, T], index: number): T {
  return engines[index % 2 === 0 ? 0 : 1];
}
