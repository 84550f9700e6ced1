import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId } from "../../src/platform/ids.js";
import { silentLogger } from "../../src/platform/logger.js";
import { EncryptedEngine } from "../../src/state/encryption/encrypted-engine.js";
import { keysOfFile } from "../../src/state/encryption/key-file.js";
import { KEYS, Keyring } from "../../src/state/encryption/keyring.js";
import { behind, type StateEngine } from "../../src/state/engine.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { PostgresEngine } from "../../src/state/engines/postgres/postgres-engine.js";
import { SqliteEngine } from "../../src/state/engines/sqlite/sqlite-engine.js";
import { stateEngineContract } from "../../src/testing/state-engine-contract.js";
import { type EngineHome, EVERY_ENGINE } from "../state/engines/every-engine.js";
import { needing } from "../support/needing.js";
import { openPostgresServer } from "../support/postgres-server.js";

const FIRST = "00".repeat(32);
const vault = keysOfFile("key", FIRST);

/** As several processes have one: each with a keyring of its own. */
function shared(engine: MemoryEngine): StateEngine {
  return Object.assign(engine, { manifest: { ...engine.manifest, shared: true } });
}

stateEngineContract(
  "encrypted, with its keys beside the values",
  async () => {
    const inner = shared(new MemoryEngine());
    // Another process, with a keyring of its own.
    const open = async () => new EncryptedEngine(inner, new Keyring(vault, inner));
    return { engine: await open(), open, dispose: () => inner.close() };
  },
  { supports: { durable: "what it encrypts lies in memory" } },
);

stateEngineContract(
  "encrypted, with its keys in a file of their own",
  async () => {
    const dir = mkdtempSync(join(tmpdir(), "encrypted-"));
    const opened: StateEngine[] = [];
    const open = async () => {
      const home = await SqliteEngine.open({ path: join(dir, "keyring.db") });
      const engine = new EncryptedEngine(await SqliteEngine.open({ path: join(dir, "state.db") }), new Keyring(vault, home));
      opened.push(home, engine);
      return engine;
    };
    const dispose = async () => {
      for (const each of opened) await each.close();
      rmSync(dir, { recursive: true });
    };
    return { engine: await open(), open, dispose };
  },
  { supports: { shared: "a file is one process's" } },
);

needing("postgres")("over PostgreSQL", () => {
  let server: Awaited<ReturnType<typeof openPostgresServer>>;
  let schemas = 0;
  beforeAll(async () => {
    server = await openPostgresServer();
  });
  afterAll(() => server.close());
  stateEngineContract("encrypted, by several processes", async () => {
    const schema = `encrypted_${++schemas}`;
    const opened: StateEngine[] = [];
    const open = async () => {
      const inner = await PostgresEngine.open({ url: server.url, schema, connections: 4, logger: silentLogger });
      opened.push(inner);
      return new EncryptedEngine(inner, new Keyring(vault, inner));
    };
    const dispose = async () => {
      for (const each of opened) await each.close();
    };
    return { engine: await open(), open, dispose };
  });
});

/** Text of ASCII that no packing makes shorter, and that grows where it is written as JSON. */
function unpackable(bytes: number): string {
  return Buffer.from(randomBytes(bytes).map((byte) => 32 + (byte % 95))).toString("latin1");
}

/**
 * The whole contract takes minutes on these, under load, and all of it but what stands here goes through to the engine, which passes it by
 * itself: what is sealed is longer, lies beside a row of keys, and brings a check along.
 */
for (const { name, program, home } of EVERY_ENGINE.filter(({ program: each }) => each !== null && each !== "postgres"))
  needing(program ?? "postgres")(`what encryption adds, on ${name}`, () => {
    let at: EngineHome;
    let world: Awaited<ReturnType<EngineHome["fresh"]>>;
    beforeAll(async () => {
      at = await home();
      world = await at.fresh();
    }, 60_000);
    afterAll(async () => {
      await world.dispose();
      await at.close();
    });
    const open = async () => {
      const inner = await world.open();
      return { inner, engine: new EncryptedEngine(inner, new Keyring(vault, inner)) };
    };

    test("[sealed-at-rest] takes what its manifest names, with the keys' own row, of values that do not pack, and no more", async () => {
      const { inner, engine } = await open();
      const { maxOperations, maxCommitBytes, maxValueBytes } = engine.manifest;
      expect([maxOperations >= 98, maxCommitBytes >= 1_480_000, maxValueBytes >= 600_000]).toEqual([true, true, true]);
      const each = Math.floor(Math.min(maxCommitBytes, 4_000_000) / maxOperations) - 3;
      const puts = Array.from({ length: maxOperations }, (_, n) => ({ key: String(n).padStart(3, "0"), value: unpackable(each) }));
      const largest = { key: "a", value: unpackable(Math.min(maxValueBytes, 900 * 1_024)) };
      expect(await engine.commit("o:full", { id: newId(), puts })).toMatchObject({ ok: true });
      expect(await engine.commit("o:large", { id: newId(), puts: [largest] })).toMatchObject({ ok: true });
      const { ranges } = await engine.read("o:full", { ranges: [{ from: "", to: "\u{10FFFF}" }] });
      expect((ranges[0] ?? []).every(({ value }, n) => value === puts[n]?.value) && ranges[0]?.length === maxOperations).toBe(true);
      expect((await engine.read("o:large", { keys: ["a"] })).entries.get("a")?.value === largest.value).toBe(true);
      expect((await inner.read("o:large", { keys: ["a"] })).entries.get("a")?.value).toMatch(/^~e1:/);
      const more = [...puts, { key: "more", value: "" }].map(({ key }) => ({ key, value: "" }));
      await expect(engine.commit("o:full", { id: newId(), puts: more })).rejects.toMatchObject({ code: "COMMIT_TOO_LARGE" });
    });

    test("[sealed-at-rest] keys of any alphabet, pages and checks are as without, and no row of keys is among them", async () => {
      const [{ engine }, { engine: other }] = [await open(), await open()];
      const keys = ["a", "b/é", "b/中", "b/😀", "c"];
      const put = (on: StateEngine, key: string, version: number | null) =>
        on.commit("o:keys", { id: newId(), puts: [{ key, value: `of ${key}` }], checks: [{ key, version }] });
      // Both make the owner's first key: one of them has to take the other's.
      const first = await Promise.all(keys.map((key, n) => put(n % 2 === 0 ? engine : other, key, null)));
      expect(first.map(({ ok }) => ok)).toEqual(keys.map(() => true));
      expect(await put(other, "a", null)).toMatchObject({ ok: false, refused: "checks", keys: ["a"] });
      for (const key of keys) expect((await other.read("o:keys", { keys: [key] })).entries.get(key)?.value).toBe(`of ${key}`);
      const found: string[] = [];
      for (let from = ""; ; ) {
        const [page = []] = (await engine.read("o:keys", { ranges: [{ from, to: "\u{10FFFF}", limit: 2 }] })).ranges;
        found.push(...page.map(({ key }) => key));
        const last = page[1];
        if (last === undefined) break;
        from = behind(last.key);
      }
      expect(found).toEqual(keys);
      const whole = (await engine.read("o:keys", { ranges: [{ from: "", to: "\u{10FFFF}" }] })).ranges[0] ?? [];
      expect(whole.map(({ key }) => key)).toEqual(keys);
      expect((await engine.partitions({ key: "b/é", limit: 9 })).map(({ partition, value }) => [partition, value])).toEqual([
        ["o:keys", "of b/é"],
      ]);
    });
  });

describe("[sealed-at-rest] values at rest", () => {
  const inner = new MemoryEngine();
  const keyring = new Keyring(vault, inner);
  const engine = new EncryptedEngine(inner, keyring);
  const other = new EncryptedEngine(inner, new Keyring(vault, inner));
  const put = (on: StateEngine, partition: string, values: Readonly<Record<string, string>>) =>
    on.commit(partition, { id: newId(), puts: Object.entries(values).map(([key, value]) => ({ key, value })) });
  const value = async (on: StateEngine, partition: string, key: string) =>
    (await on.read(partition, { keys: [key] })).entries.get(key)?.value;

  test("one that was moved to another key, or to another owner, or changed, is refused", async () => {
    await put(engine, "o:moved", { a: "a gluten allergy", b: "none" });
    await put(engine, "o:other", { a: "none" });
    const sealed = (await value(inner, "o:moved", "a")) ?? "";
    expect(sealed).not.toContain("gluten");
    for (const [partition, key, changed] of [
      ["o:moved", "b", sealed],
      ["o:moved", "a", `${sealed.slice(0, 60)}AAAA${sealed.slice(64)}`],
    ] as const) {
      await put(inner, partition, { [key]: changed });
      await expect(value(engine, partition, key)).rejects.toMatchObject({ code: "STORAGE_DAMAGED" });
    }
    // Another owner's keyring doesn't even have the key.
    await put(inner, "o:other", { a: sealed });
    await expect(value(engine, "o:other", "a")).rejects.toThrow(sealed.slice(4, 16));
  });

  test("[erased-by-key] a key that is destroyed takes all that it sealed along, and a page is still whole", async () => {
    await put(engine, "o:gone", { a: "1", "ledger/audit/1": "who did what", z: "2" });
    const before = await engine.read("o:gone", { keys: ["a"] });
    expect(await keyring.destroy("o:gone")).toContain((await value(inner, "o:gone", "a"))?.slice(4, 16));
    expect(before.entries.size).toBe(1);
    expect(await value(other, "o:gone", "a")).toBeUndefined();
    expect(await value(other, "o:gone", "ledger/audit/1")).toBe("who did what");
    expect((await other.read("o:gone", { ranges: [{ from: "", to: "~", limit: 1 }] })).ranges).toMatchObject([[{ key: "ledger/audit/1" }]]);
  });

  test("[erased-by-key] a process that still holds a destroyed key writes nothing under it", async () => {
    await put(engine, "o:late", { a: "1" });
    expect(await value(other, "o:late", "a")).toBe("1");
    const destroyed = await keyring.destroy("o:late");
    expect(await put(other, "o:late", { b: "2" })).toMatchObject({ ok: true });
    expect(destroyed).not.toContain((await value(inner, "o:late", "b"))?.slice(4, 16));
    expect(await value(new EncryptedEngine(inner, new Keyring(vault, inner)), "o:late", "b")).toBe("2");
  });

  test("a commit whose reply was lost is asked for again, and what it wrote reads", async () => {
    const commit = { id: newId(), puts: [{ key: "a", value: "1" }] };
    const first = await engine.commit("o:again", commit);
    expect(await other.commit("o:again", commit)).toEqual(first);
    expect(await value(other, "o:again", "a")).toBe("1");
    await put(other, "o:again", { b: "2" });
    expect(await value(engine, "o:again", "b")).toBe("2");
  });

  test("no listing shows keys, and none is among what is read by ranges", async () => {
    await put(engine, "o:listed", { a: "1" });
    expect((await engine.read("o:listed", { ranges: [{ from: "", to: "\u{10FFFF}" }] })).ranges).toMatchObject([[{ key: "a" }]]);
    expect((await engine.partitions({ limit: 100 })).map(({ partition }) => partition)).not.toContain("s:encryption");
    expect(await value(inner, "o:listed", KEYS)).toContain('"by"');
  });

  test("of an owner of whom nothing was kept there is nothing to renew, and words are hashed by a key that does not seal", async () => {
    expect(await keyring.renew("o:new")).toBeNull();
    await put(engine, "o:new", { a: "1" });
    const { words } = await keyring.of("o:new");
    expect(words).not.toBeNull();
    expect((await value(inner, "o:new", "a"))?.slice(4, 16)).not.toBe(words?.id);
  });

  test("master keys are rotated without a value being written, and the one before is not needed any more", async () => {
    await put(engine, "o:rotated", { a: "1" });
    const sealed = await value(inner, "o:rotated", "a");
    const both = new Keyring(keysOfFile("key", `${"11".repeat(32)}\n${FIRST}`), inner);
    expect(await both.rewrap("o:rotated")).toBe(true);
    expect(await both.rewrap("o:rotated")).toBe(false);
    const second = new EncryptedEngine(inner, new Keyring(keysOfFile("key", "11".repeat(32)), inner));
    expect(await value(second, "o:rotated", "a")).toBe("1");
    expect(await value(inner, "o:rotated", "a")).toBe(sealed);
    await expect(new Keyring(vault, inner).of("o:rotated")).rejects.toThrow(/master key [0-9a-f]{12}; key holds [0-9a-f]{12}/);
  });
});
