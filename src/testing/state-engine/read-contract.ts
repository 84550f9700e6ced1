import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { newId } from "../../platform/ids.js";
import { behind, prefixRange } from "../../state/engine.js";
import type { optionalTests } from "../supports.js";
import { type EngineWorld, EVERYTHING, type StateEngineFeature, times } from "./engine-world.js";

const KIB = 1024;

/** Values that an engine has to give back as they were. */
const TEXTS: Readonly<Record<string, string>> = {
  "an empty one": "",
  "no JSON": "just text",
  "an object": JSON.stringify({ b: 1, a: [1.5, 1e30, null, true], "": "" }),
  "white space and an order of its own": '{ "b" : 1 ,\n\t"a": 1.0, "b": 2 }',
  "an escaped NUL": JSON.stringify("a\u0000b"),
  "a lone surrogate, escaped": JSON.stringify("a\ud83d"),
  "emoji, accents as they are composed": JSON.stringify("👩‍👩‍👧 é e\u0301 \u{10FFFF} \ufffd \ufeff"),
  "quotes and backslashes": JSON.stringify("'\"\\`$1 $a %s ? :a \u2028"),
  "white space around it": '\t {"a":1} \n',
  "a large number": "123456789012345678901234567890",
};

export function readContract(world: EngineWorld, when: ReturnType<typeof optionalTests<StateEngineFeature>>): void {
  describe("reads", () => {
    test("a partition that was never written is empty", async () => {
      const read = await world.engine.read("o:nobody", { keys: ["a"], ranges: [EVERYTHING] });
      expect(read).toMatchObject({ version: 0, epoch: 0, dueAtMs: null, entries: new Map(), ranges: [[]] });
      expect(read.nowMs).toBeGreaterThan(0);
      expect(await world.engine.partitions({ limit: 10 })).toEqual([]);
    });

    test("gives those of the keys that are there, with the version that put them", async () => {
      const first = await world.put("o:a", { a: "1", b: "1" });
      const second = await world.put("o:a", { b: "2", c: "2" });
      expect(second).toBeGreaterThan(first);
      const read = await world.engine.read("o:a", { keys: ["a", "b", "missing"] });
      expect(Object.fromEntries(read.entries)).toEqual({
        a: { key: "a", value: "1", version: first },
        b: { key: "b", value: "2", version: second },
      });
      expect(read).toMatchObject({ version: second, ranges: [] });
    });

    test("partitions know nothing of each other", async () => {
      await world.put("o:a", { a: "1" });
      await world.put("o:ab", { a: "2" });
      expect(await world.all("o:a")).toEqual({ a: "1" });
      expect(await world.all("o:ab")).toEqual({ a: "2" });
      expect((await world.head("o:")).version).toBe(0);
    });

    test("a range begins with its first key and ends before its last, either way round, up to its limit", async () => {
      await world.put("o:a", { a: "1", b: "2", c: "3", d: "4" });
      const range = { from: "b", to: "d" };
      const { ranges, entries } = await world.engine.read("o:a", {
        keys: ["d"],
        ranges: [
          range,
          { ...range, reverse: true },
          { ...EVERYTHING, limit: 2 },
          { ...EVERYTHING, limit: 2, reverse: true },
          { from: "bb", to: "cc" },
          { from: "c", to: "c" },
          { from: "d", to: "a" },
          { from: "x", to: "z" },
        ],
      });
      expect(ranges.map((found) => found.map(({ key, value }) => key + value).join(" "))).toEqual([
        "b2 c3",
        "c3 b2",
        "a1 b2",
        "d4 c3",
        "c3",
        "",
        "",
        "",
      ]);
      expect([...entries.keys()]).toEqual(["d"]);
    });

    const inOrder = async (keys: readonly string[]) => {
      await world.write("o:a", { puts: keys.map((key) => ({ key, value: key })) });
      const sorted = keys.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
      const { ranges } = await world.engine.read("o:a", { ranges: [EVERYTHING, { ...EVERYTHING, reverse: true }] });
      expect(ranges.map((found) => found.map(({ key }) => key))).toEqual([sorted, sorted.toReversed()]);
    };

    test("keys are in the order of their bytes", () =>
      inOrder(["b", "a", "B", "_", "a/b", "a-b", "a", "a~0001", "a0", "a:", "10", "9", "a b", "a/B", "%", "a%2F", "a*"].filter(isFirst)));

    when("unicodeKeys")("keys beyond ASCII are in the order of their UTF-8 bytes", () =>
      inOrder(["z", "é", "\uffee", "😀", "e\u0301", "中"]),
    );

    test("a prefix's range holds what begins with it, and nothing else", async () => {
      await world.put("o:a", { "job/": "1", "job/~": "2", "job/x/y": "3", job: "4", job0: "5", "jobs/": "6", "job-": "7" });
      const { ranges } = await world.engine.read("o:a", { ranges: [prefixRange("job/")] });
      expect(ranges[0]?.map(({ value }) => value)).toEqual(["1", "3", "2"]);
    });

    test("a range that goes on behind a key is told page by page, each key once", async () => {
      const keys = ["a/1", "a/1-b", "a/10", "a/2", "a/2/b", "b"];
      await world.put("o:a", Object.fromEntries(keys.map((key) => [key, key])));
      const told: string[] = [];
      for (let from = "a"; ; ) {
        const [page = []] = (await world.engine.read("o:a", { ranges: [{ from, to: "c", limit: 2 }] })).ranges;
        told.push(...page.map(({ key }) => key));
        const last = page[1];
        if (last === undefined) break;
        from = behind(last.key);
      }
      expect(told).toEqual(keys);
    });

    test("a range without a limit is whole, however much it is", async () => {
      const keys = times(1_250, (index) => String(index).padStart(6, "0"));
      for (let from = 0; from < keys.length; from += 50)
        await world.write("o:a", { puts: keys.slice(from, from + 50).map((key) => ({ key, value: `"${key}"` })) });
      const { ranges } = await world.engine.read("o:a", { ranges: [EVERYTHING, { from: "000100", to: "001200", limit: 1_050 }] });
      expect(ranges[0]?.map(({ key }) => key)).toEqual(keys);
      expect(ranges[1]?.map(({ key }) => key)).toEqual(keys.slice(100, 1_150));
    });

    test.each(Object.entries(TEXTS))("a value comes back as it was: %s", async (_, value) => {
      await world.put("o:a", { a: value });
      expect((await world.engine.read("o:a", { keys: ["a"] })).entries.get("a")?.value).toBe(value);
      expect(await world.all("o:a")).toEqual({ a: value });
    });

    test("the largest value comes back as it was", async () => {
      const bytes = Math.min(world.engine.manifest.maxValueBytes, 900 * KIB);
      const value = JSON.stringify("x".repeat(bytes - 2));
      await world.put("o:a", { a: value });
      expect((await world.all("o:a")).a === value).toBe(true);
    });

    test("sees a commit whole or not at all, keys and ranges alike", async () => {
      const [writer, reader] = await world.pair();
      let writing = true;
      const writes = (async () => {
        for (const round of times(40, String)) {
          const puts = ["a", "b", "c"].map((key) => ({ key, value: round }));
          await writer.commit("o:a", { id: newId(), puts, deletes: ["d"] });
          await writer.commit("o:a", { id: newId(), puts: [...puts, { key: "d", value: round }] });
        }
        writing = false;
      })();
      while (writing) {
        const { version, entries, ranges } = await reader.read("o:a", { keys: ["a", "b"], ranges: [EVERYTHING, { from: "b", to: "d" }] });
        const seen = [...entries.values(), ...ranges.flat()];
        expect(new Set(seen.map(({ value }) => value)).size).toBeLessThanOrEqual(1);
        expect(seen.every((entry) => entry.version === version)).toBe(true);
        await nextTurn();
      }
      await writes;
    });

    test("an aborted read is rejected", async () => {
      await world.put("o:a", { a: "1" });
      await expect(world.engine.read("o:a", { keys: ["a"] }, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "ABORTED" });
    });
  });

  describe("partitions", () => {
    const pages = async (limit: number, key?: string, between: () => Promise<unknown> = async () => {}) => {
      const found: (readonly [string, string])[] = [];
      for (let after: string | undefined; ; await between()) {
        const page = await world.engine.partitions({ limit, ...(key !== undefined && { key }), ...(after !== undefined && { after }) });
        expect(page.length).toBeLessThanOrEqual(limit);
        found.push(...page.map(({ partition, value }) => [partition, value] as const));
        expect(new Set(found.map(([partition]) => partition)).size).toBe(found.length);
        after = page.at(-1)?.partition;
        if (page.length < limit) break;
      }
      return new Map(found);
    };

    test("are told page by page, each once: those that hold a key, or all that were ever written", async () => {
      const owners = times(7, (index) => `o:${(index * 3) % 7}`);
      for (const owner of owners) await world.put(owner, { owner: `"${owner}"`, other: "1" });
      await world.put("s:locks", { other: "1" });
      await world.write("o:3", { deletes: ["owner"] });
      await world.engine.erase("o:5");
      const named = new Map(owners.filter((owner) => owner !== "o:3" && owner !== "o:5").map((owner) => [owner, `"${owner}"`]));
      for (const limit of [1, 2, 5, 100]) {
        expect(await pages(limit, "owner")).toEqual(named);
        expect(await pages(limit)).toEqual(new Map([...owners, "s:locks"].map((name) => [name, ""])));
      }
      expect(await pages(3, "nothing")).toEqual(new Map());
    });

    test("those that stay are told while others come and go", async () => {
      const staying = times(6, (index) => `o:${index}`);
      for (const owner of staying) await world.put(owner, { owner: "1" });
      let count = 0;
      const found = await pages(2, "owner", async () => {
        count += 1;
        await world.put(`o:${count}5`, { owner: "1" });
        if (count > 1) await world.engine.erase(`o:${count - 1}5`);
      });
      expect([...found.keys()]).toEqual(expect.arrayContaining(staying));
    });
  });
}

function isFirst(item: string, index: number, all: readonly string[]): boolean {
  return all.indexOf(item) === index;
}
