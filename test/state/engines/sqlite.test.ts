import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { open, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { newId } from "../../../src/platform/ids.js";
import { silentLogger } from "../../../src/platform/logger.js";
import { openDatabase, openSqlite } from "../../../src/platform/sqlite.js";
import { NotCommitted } from "../../../src/state/durable-commit.js";
import type { Commit } from "../../../src/state/engine.js";
import { GroupCommit } from "../../../src/state/engines/sqlite/group-commit.js";
import { OpenedFile } from "../../../src/state/engines/sqlite/opened-file.js";
import { SqliteEngine } from "../../../src/state/engines/sqlite/sqlite-engine.js";
import { stateEngineContract } from "../../../src/testing/state-engine-contract.js";

stateEngineContract(
  "sqlite",
  async () => {
    const dir = mkdtempSync(join(tmpdir(), "state-"));
    const open = () => SqliteEngine.open({ path: join(dir, "state.db") });
    const engine = await open();
    const opened = [engine];
    return {
      engine,
      open: async () => {
        const another = await open();
        opened.push(another);
        return another;
      },
      dispose: async () => {
        for (const one of opened) await one.close();
        rmSync(dir, { recursive: true });
      },
    };
  },
  { supports: { shared: "a file is one process's" } },
);

describe("the file", () => {
  let dir: string;
  let path: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "state-"));
    path = join(dir, "state.db");
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  let ids = 0;
  const commit = (value: string, more: Partial<Commit> = {}): Commit => {
    ids += 1;
    return { id: String(ids), puts: [{ key: `k${ids}`, value }], ...more };
  };
  const walFrames = () => {
    const wal = readFileSync(`${path}-wal`);
    const pageBytes = wal.readUInt32BE(8);
    let commits = 0;
    // A frame of 24 bytes and a page; the database's size in it says that it ends a transaction (SQLite, file format 4.1).
    for (let at = 32; at + 24 <= wal.length; at += 24 + pageBytes) if (wal.readUInt32BE(at + 4) > 0) commits += 1;
    return commits;
  };
  const needleIn = (text: string) => readdirSync(dir).filter((name) => readFileSync(join(dir, name)).includes(text));

  test("commits that are asked for at the same time are one transaction", async () => {
    const engine = await SqliteEngine.open({ path });
    await engine.scrub();
    const results = await Promise.all(Array.from({ length: 50 }, (_, index) => engine.commit(`o:${index % 7}`, commit("1"))));
    expect(results.every(({ ok }) => ok)).toBe(true);
    expect(walFrames()).toBe(1);
    await engine.commit("o:1", commit("1"));
    expect(walFrames()).toBe(2);
    await engine.close();
  });

  test("a relaxed commit waits for no disk, and is in the file for whoever opens it behind a kill; another waits", async () => {
    const engine = await SqliteEngine.open({ path });
    await engine.commit("p", commit("a"));
    const file = await open(path, "r");
    const syncing = vi.spyOn(Object.getPrototypeOf(file) as typeof file, "datasync");
    await file.close();
    let synced = () => {};
    syncing.mockImplementationOnce(() => new Promise((resolve) => (synced = resolve)));
    await engine.commit("p", commit("b", { durability: "relaxed" }));
    expect(syncing).not.toHaveBeenCalled();
    const killed = await SqliteEngine.open({ path, readOnly: true });
    expect((await killed.read("p", { keys: [`k${ids}`] })).entries.get(`k${ids}`)?.value).toBe("b");
    await killed.close();
    const durable = engine.commit("p", commit("c"));
    const relaxed = engine.commit("p", commit("d", { durability: "relaxed" }));
    expect(await Promise.race([durable.then(() => "durable"), relaxed.then(() => "relaxed")])).toBe("relaxed");
    await vi.waitFor(() => expect(syncing).toHaveBeenCalledTimes(1));
    synced();
    await durable;
    syncing.mockRestore();
    await engine.close();
  });

  test("of commits of one transaction those that are refused write nothing, and see those before", async () => {
    const engine = await SqliteEngine.open({ path });
    const same = { checks: [{ key: "n", version: null }], puts: [{ key: "n", value: "1" }] };
    const [first, second, other] = await Promise.all([
      engine.commit("o:a", commit("1", same)),
      engine.commit("o:a", commit("1", same)),
      engine.commit("o:a", commit("2")),
    ]);
    expect([first?.ok, second?.ok, other?.ok]).toEqual([true, false, true]);
    expect(second).toMatchObject({ version: 1 });
    expect((await engine.read("o:a", {})).version).toBe(2);
    await engine.close();
  });

  test("what is closed has written all that was asked for, and refuses the rest", async () => {
    const engine = await SqliteEngine.open({ path });
    const asked = engine.commit("o:a", commit("1"));
    await engine.close();
    await engine.close();
    expect(await asked).toMatchObject({ ok: true });
    await expect(engine.commit("o:a", commit("1"))).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
    await expect(engine.read("o:a", {})).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
    expect(await engine.health()).toMatchObject({ status: "down" });
  });

  test("a newer version's is refused, with both versions", async () => {
    await (await SqliteEngine.open({ path })).close();
    const db = openDatabase(path);
    db.pragma("user_version = 7");
    db.close();
    await expect(SqliteEngine.open({ path })).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      message: expect.stringMatching(/version 7.*knows 2/),
    });
  });

  test("an older version's is refused, with both versions", async () => {
    await (await SqliteEngine.open({ path })).close();
    const db = openDatabase(path);
    db.pragma("user_version = 1");
    db.close();
    await expect(SqliteEngine.open({ path })).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      message: expect.stringMatching(/version 1, which .*can't read; it knows 2/),
    });
  });

  test("a commit writes again of a partition what it changes, and no page beside", async () => {
    const engine = await SqliteEngine.open({ path });
    const value = (text: string) => ({ puts: [{ key: "a", value: text.repeat(400) }] });
    for (let n = 0; n < 20; n++) await engine.commit("o:a", { id: newId(), ...value("x"), dueByMs: 5 });
    const pages = async (work: () => Promise<unknown>) => {
      const size = async () => (await stat(`${path}-wal`)).size;
      const before = await size();
      await work();
      return ((await size()) - before) / (1_024 + 24);
    };
    expect(await pages(() => engine.commit("o:a", { id: newId(), ...value("y"), dueByMs: 5 }))).toBe(2);
    expect(await pages(() => engine.commit("o:a", { id: newId(), dueAtMs: 9 }))).toBe(2);
    await engine.close();
  });

  test("another program's is refused", async () => {
    const db = openDatabase(path);
    db.exec("CREATE TABLE songs (title TEXT)");
    db.close();
    await expect(SqliteEngine.open({ path })).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      message: expect.stringContaining("songs"),
    });
  });

  test("a damaged one is refused, a single page of it too", async () => {
    const engine = await SqliteEngine.open({ path });
    for (let round = 0; round < 20; round++) await engine.commit("o:a", commit("x".repeat(3_000)));
    await engine.close();
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0xa5, bytes.length - 8_192));
    await expect(SqliteEngine.open({ path })).rejects.toMatchObject({ code: "STORAGE_DAMAGED" });
    writeFileSync(path, "no database, but text that is longer than a header of one hundred bytes has to be".repeat(60));
    await expect(SqliteEngine.open({ path })).rejects.toMatchObject({ code: "STORAGE_DAMAGED", hint: expect.stringContaining("backup") });
  });

  test("[ready-means-ready] a file that is gone takes no commit, and is down", async () => {
    const engine = await SqliteEngine.open({ path });
    renameSync(path, `${path}.moved`);
    const refusals = await Promise.all([1, 2].map(() => engine.commit("o:a", commit("lost")).catch((error: unknown) => error)));
    for (const refused of refusals) {
      expect(refused).toBeInstanceOf(NotCommitted);
      expect(refused).toMatchObject({ message: expect.stringContaining("gone") });
    }
    await expect(engine.scrub()).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
    expect(await engine.health()).toMatchObject({ status: "down", detail: expect.stringContaining("gone") });
    await engine.close();
  });

  test("[ready-means-ready] a file whose place another has taken takes no commit, and says so as it is down, until it is back", async () => {
    const engine = await SqliteEngine.open({ path });
    renameSync(path, `${path}.moved`);
    await (await SqliteEngine.open({ path: `${path}.new` })).close();
    renameSync(`${path}.new`, path);
    const asked = commit("kept");
    const refused: unknown = await engine.commit("o:a", asked).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(NotCommitted);
    expect(await engine.health()).toEqual({ status: "down", detail: (refused as NotCommitted).message });
    expect((refused as NotCommitted).message).toContain("not the one it was");
    renameSync(`${path}.moved`, path);
    expect(await engine.health()).toEqual({ status: "ok" });
    expect(await engine.commit("o:a", asked)).toMatchObject({ ok: true, version: 1 });
    await engine.close();
  });

  test("another's lock is waited for, and then told; the same commit goes ahead later", async () => {
    const engine = await SqliteEngine.open({ path });
    const other = openDatabase(path);
    other.exec("BEGIN IMMEDIATE");
    const asked = commit("1");
    await expect(engine.commit("o:a", asked)).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      hint: expect.stringContaining("again"),
    });
    expect(await engine.health()).toMatchObject({ status: "degraded" });
    other.exec("ROLLBACK");
    other.close();
    expect(await engine.commit("o:a", asked)).toMatchObject({ ok: true });
    await engine.close();
  });

  test.each([
    ["query_only = ON", /write access/],
    ["max_page_count = 2", /free space/],
  ])("a storage that can't be written (%s) says what to do, to all that wait", async (pragma, hint) => {
    const db = openSqlite(path);
    db.exec("CREATE TABLE t (value TEXT)");
    db.pragma(pragma);
    const writes = new GroupCommit(db, silentLogger, OpenedFile.of(path));
    const put = () => writes.run(() => db.prepare("INSERT INTO t VALUES (?)").run("x".repeat(20_000)));
    const refused = {
      status: "rejected",
      reason: expect.objectContaining({ code: "STORAGE_UNAVAILABLE", hint: expect.stringMatching(hint) }),
    };
    expect(await Promise.allSettled([put(), put()])).toEqual([refused, refused]);
    await writes.close();
    db.close();
  });

  test("what is at fault itself takes nothing else with it", async () => {
    const db = openSqlite(path);
    db.exec("CREATE TABLE t (value TEXT)");
    const writes = new GroupCommit(db, silentLogger, OpenedFile.of(path));
    const put = (value: unknown) => writes.run(() => db.prepare("INSERT INTO t VALUES (?)").run(value));
    const settled = await Promise.allSettled([put("1"), put({ at: "fault" }), put("2")]);
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(db.prepare("SELECT value FROM t").pluck().all()).toEqual(["1", "2"]);
    await writes.close();
    db.close();
  });

  test("what has no room takes nothing else with it", async () => {
    const db = openSqlite(path);
    db.exec("CREATE TABLE t (value TEXT)");
    db.pragma("max_page_count = 2");
    const writes = new GroupCommit(db, silentLogger, OpenedFile.of(path));
    const put = (value: string) => writes.run(() => db.prepare("INSERT INTO t VALUES (?)").run(value));
    const settled = await Promise.allSettled([put("1"), put("x".repeat(20_000)), put("2")]);
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(db.prepare("SELECT value FROM t").pluck().all()).toEqual(["1", "2"]);
    await writes.close();
    db.close();
  });

  test("of one lock of another's the first commit alone is held up, and of none is asked a second time", async () => {
    const db = openSqlite(path);
    db.exec("CREATE TABLE t (value TEXT)");
    const writes = new GroupCommit(db, silentLogger, OpenedFile.of(path));
    const put = () => writes.run(() => db.prepare("INSERT INTO t VALUES ('1')").run());
    const waits = () => db.pragma("busy_timeout", { simple: true }) !== 0;
    const other = openDatabase(path);
    other.exec("BEGIN IMMEDIATE");
    expect(waits()).toBe(true);
    for (let n = 0; n < 3; n++) {
      await expect(put()).rejects.toBeInstanceOf(NotCommitted);
      expect(waits()).toBe(false);
    }
    other.exec("ROLLBACK");
    other.close();
    await put();
    expect(waits()).toBe(true);
    await writes.close();
    db.close();
  });

  test("while the file is written anew reads are answered, and what is committed waits and is there behind it", async () => {
    const engine = await SqliteEngine.open({ path });
    for (let round = 0; round < 40; round++)
      await engine.commit("o:a", { id: `f${round}`, puts: [{ key: `k/${round}`, value: "x".repeat(200_000) }] });
    let isScrubbed = false;
    const scrubbed = [engine.scrub(), engine.scrub()].map((each) => each.then(() => (isScrubbed = true)));
    const commits = Array.from({ length: 20 }, (_, index) =>
      engine.commit("o:b", { id: `c${index}`, puts: [{ key: `k/${index}`, value: "1" }] }),
    );
    let reads = 0;
    while (!isScrubbed) {
      expect((await engine.read("o:a", { keys: ["k/7"] })).entries.size).toBe(1);
      reads += 1;
      await new Promise(setImmediate);
    }
    expect(reads).toBeGreaterThan(1);
    expect((await Promise.all(commits)).every(({ ok }) => ok)).toBe(true);
    await Promise.all([...scrubbed, engine.close()]);
    const again = await SqliteEngine.open({ path });
    expect((await again.read("o:b", { ranges: [{ from: "", to: "z" }] })).ranges[0]).toHaveLength(20);
    await again.close();
  });

  test("no byte of what was erased, deleted or replaced is left after a scrub", async () => {
    const engine = await SqliteEngine.open({ path });
    const sizes = [20, 150, 700, 1_500, 3_000, 9_000, 40_000];
    const secret = (size: number) => `"${"needle in the hay ".repeat(Math.ceil(size / 18))}"`;
    for (let round = 0; round < 60; round++) {
      const puts = sizes.map((size, index) => ({ key: `k/${(round * 37) % 60}/${index}`, value: secret(size + round) }));
      await engine.commit("o:a", { id: `a${round}`, puts });
      await engine.commit("o:stays", {
        id: `s${round}`,
        puts: puts.map(({ key, value }) => ({ key, value: round % 3 ? value : '"hay"' })),
      });
    }
    await engine.commit("o:a", { id: "deletes", deletes: sizes.map((_, index) => `k/3/${index}`) });
    for (let round = 0; round < 60; round++)
      await engine.commit("o:stays", { id: `r${round}`, puts: sizes.map((_, index) => ({ key: `k/${round}/${index}`, value: '"hay"' })) });
    expect(await engine.erase("o:a")).toBe(59 * sizes.length);
    expect(needleIn("needle in the hay")).not.toEqual([]);
    await engine.scrub();
    expect(needleIn("needle in the hay")).toEqual([]);
    expect(needleIn("hay")).toEqual(["state.db"]);
    await engine.close();
  });
});
