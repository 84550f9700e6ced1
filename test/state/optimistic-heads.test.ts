import { beforeEach, describe, expect, test } from "vitest";
import { type HeadStore, OptimisticHeads } from "../../src/state/optimistic-heads.js";
import { EMPTY_HEAD, type PartitionHead } from "../../src/state/partition-head.js";

describe("commits over a head that another process has replaced", () => {
  let head: PartitionHead;
  let keys: Map<string, number>;
  let asked: string[];
  beforeEach(() => {
    [head, keys, asked] = [EMPTY_HEAD, new Map(), []];
  });

  /** As one of several processes sees the same database. */
  const opened = () => {
    const store: HeadStore<number> = {
      name: "a database",
      keysToKnow: ({ checks = [] }) => checks.map(({ key }) => key),
      look: async (_, wanted) => {
        asked.push("look");
        return { head, tag: head.version, versions: new Map(wanted.map((key) => [key, keys.get(key) ?? null])), whole: [], nowMs: 0 };
      },
      write: async (_, { tag = 0 }, next, { puts = [] }) => {
        asked.push(tag === head.version ? "write" : "conflict");
        if (tag !== head.version) return null;
        head = next;
        for (const { key } of puts) keys.set(key, next.version);
        return next.version;
      },
    };
    const heads = new OptimisticHeads(store, { timeoutMs: 1_000 });
    return {
      put: (id: string, names: readonly string[], version?: number | null) => {
        const checks = version === undefined ? [] : names.map((key) => ({ key, version }));
        return heads.commit("o:a", { id, checks, puts: names.map((key) => ({ key, value: "v" })) });
      },
    };
  };
  const asksOf = () => asked.splice(0);

  test("who was refused by a look commits on what it saw", async () => {
    const [one, other] = [opened(), opened()];
    await one.put("1", ["a"]);
    await other.put("2", ["a"]);
    asksOf();
    expect(await one.put("3", ["a"], 1)).toMatchObject({ ok: false, refused: "checks" });
    expect(asksOf()).toEqual(["conflict", "look"]);
    expect(await one.put("4", ["b"])).toMatchObject({ ok: true });
    expect(asksOf()).toEqual(["write"]);
  });

  test("who wrote more keys than are remembered looks, instead of writing on what was before", async () => {
    const one = opened();
    await one.put("1", ["a"]);
    const many = Array.from({ length: 1_100 }, (_, index) => `many/${index}`);
    await one.put("2", many);
    asksOf();
    await one.put("3", ["b"]);
    expect(asksOf()).toEqual(["look", "write"]);
  });
});

test("of heads only so many characters are held, what lies in them included", async () => {
  const [long, short] = [4_500_000, 10];
  const opened = (characters: number) =>
    new OptimisticHeads<number>(
      {
        name: "a database",
        keysToKnow: () => [],
        charactersOf: () => characters,
        look: async () => ({ head: EMPTY_HEAD, tag: 0, versions: new Map(), whole: [], nowMs: 0 }),
        write: async () => 0,
      },
      { timeoutMs: 1_000 },
    );
  const held: Record<number, readonly string[]> = {};
  for (const characters of [long, short]) {
    const heads = opened(characters);
    const partitions = ["o:a", "o:b", "o:c"];
    for (const partition of partitions) await heads.commit(partition, { id: partition, puts: [{ key: "a", value: "v" }] });
    held[characters] = partitions.filter((partition) => heads.last(partition) !== undefined);
  }
  expect(held).toEqual({ [long]: ["o:c"], [short]: ["o:a", "o:b", "o:c"] });
});
