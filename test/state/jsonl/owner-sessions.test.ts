import { copyFile, cp, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type Owner, ownerOf } from "../../../src/domain/owner.js";
import { type FileSystem, nodeFileSystem } from "../../../src/platform/file-system.js";
import { newId } from "../../../src/platform/ids.js";
import { ownerMark } from "../../../src/state/journal/journal-codec.js";
import type { FileSessionStore } from "../../../src/state/jsonl/file-session-store.js";
import { FaultyFileSystem } from "../../support/faulty-file-system.js";
import { openFileStore } from "../../support/file-store.js";
import { ALICE, JournalRecords } from "../../support/journal-records.js";

const OTHERS = Array.from({ length: 40 }, (_, n) => ownerOf("default", `guest-${n}`));

let dir: string;
let open: FileSessionStore[] = [];
const records = new JournalRecords();

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-owners-"));
});
afterEach(async () => {
  for (const store of open) await store.close();
  open = [];
  await rm(dir, { recursive: true });
});

async function started(fileSystem: FileSystem = nodeFileSystem, where = dir): Promise<FileSessionStore> {
  const { store } = await openFileStore({ dir: where, fileSystem });
  open.push(store);
  await store.catchUp();
  return store;
}

async function session(store: FileSessionStore, owner: Owner): Promise<string> {
  const id = newId();
  const written = await store.journal.create(owner, id, [records.session(owner), ...records.round(1)]);
  await store.index.apply(owner, id, written);
  return id;
}

const listOf = (owner: Owner) => join(dir, "owners", `${ownerMark(owner)}.sessions`);
const journalsOf = async () => (await readdir(dir)).filter((name) => name.endsWith(".jsonl")).length;

/** As a directory was before there were lists. */
async function withoutLists(): Promise<void> {
  for (const name of await readdir(join(dir, "owners"))) if (name.includes("sessions")) await rm(join(dir, "owners", name));
}

/** Counts the journals that are opened while `work` runs. */
async function opensIn(disk: FaultyFileSystem, work: () => Promise<unknown>): Promise<number> {
  const before = disk.calls.get("open") ?? 0;
  await work();
  return (disk.calls.get("open") ?? 0) - before;
}

describe("[erasure-complete] an owner's journals", () => {
  test("are found without opening anybody else's", async () => {
    const disk = new FaultyFileSystem(nodeFileSystem);
    const store = await started(disk);
    for (const owner of OTHERS) await session(store, owner);
    await session(store, ALICE);
    const opened = await opensIn(disk, async () => {
      expect(await store.journal.residue(ALICE)).toBe(1);
      expect(await store.journal.erase(ALICE)).toEqual({ sessions: 1, messages: 2 });
      expect(await store.journal.residue(ALICE)).toBe(0);
    });
    expect(opened).toBeLessThan(10);
    expect(await journalsOf()).toBe(OTHERS.length);
    expect(await readdir(join(dir, "owners"))).not.toContain(`${ownerMark(ALICE)}.sessions`);
  });

  test("of a directory that has no lists yet are found all the same, and enlisted at the next start", async () => {
    const before = await started();
    for (const owner of [ALICE, ALICE, ...OTHERS]) await session(before, owner);
    const packed = await session(before, ALICE);
    await before.journal.compress(ALICE, packed);
    await before.close();
    await withoutLists();
    const disk = new FaultyFileSystem(nodeFileSystem);
    const { store: untouched } = await openFileStore({ dir });
    expect(await untouched.journal.residue(ALICE)).toBe(3);
    await untouched.close();
    const store = await started(disk);
    const opened = await opensIn(disk, async () => expect(await store.journal.erase(ALICE)).toMatchObject({ sessions: 3 }));
    expect(opened).toBeLessThan(20);
    expect(await store.journal.residue(ALICE)).toBe(0);
    expect(await journalsOf()).toBe(OTHERS.length);
  });

  test("that somebody brought back by hand belong to their owner again from the next start on", async () => {
    const before = await started();
    const id = await session(before, ALICE);
    await copyFile(join(dir, `${id}.jsonl`), join(dir, "kept-by-hand"));
    await before.journal.erase(ALICE);
    await before.index.erase(ALICE);
    await before.close();
    await copyFile(join(dir, "kept-by-hand"), join(dir, `${id}.jsonl`));
    const store = await started();
    expect(await store.index.get(ALICE, id)).not.toBeNull();
    expect(await store.journal.erase(ALICE)).toMatchObject({ sessions: 1 });
    expect(await readdir(dir)).not.toContain(`${id}.jsonl`);
  });

  test("whose list has a damaged line are looked for everywhere", async () => {
    const before = await started();
    const id = await session(before, ALICE);
    await writeFile(listOf(ALICE), "no line of a list\n");
    expect(await before.journal.residue(ALICE)).toBe(1);
    expect(await before.journal.erase(ALICE)).toMatchObject({ sessions: 1 });
    expect(await readdir(dir)).not.toContain(`${id}.jsonl`);
  });

  test("are not made where they can't be listed", async () => {
    const disk = new FaultyFileSystem(nodeFileSystem);
    const store = await started(disk);
    disk.inject({ operation: "write", errno: "ENOSPC", path: ".sessions" });
    await expect(session(store, ALICE)).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
    disk.assertAllStruck();
    expect(await journalsOf()).toBe(0);
    await session(store, ALICE);
    expect(await store.journal.residue(ALICE)).toBe(1);
  });

  test("that can't be deleted keep their list, and are what is left", async () => {
    const disk = new FaultyFileSystem(nodeFileSystem);
    const store = await started(disk);
    const id = await session(store, ALICE);
    disk.inject({ operation: "unlink", errno: "EACCES", path: `${id}.jsonl` });
    await expect(store.journal.erase(ALICE)).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
    expect(await store.journal.residue(ALICE)).toBe(1);
    expect(await store.journal.erase(ALICE)).toMatchObject({ sessions: 1 });
  });
});

describe("[index-derived] a start", () => {
  const startOpens = async (where = dir) => {
    const disk = new FaultyFileSystem(nodeFileSystem);
    let store: FileSessionStore | null = null;
    const opened = await opensIn(disk, async () => {
      store = await started(disk, where);
    });
    if (store === null) throw new Error("It did not start.");
    return { opened, store: store as FileSessionStore };
  };

  test("after a clean end opens no journal that the index knows, however often", async () => {
    const first = await started();
    for (const owner of OTHERS) await session(first, owner);
    await first.close();
    for (let n = 0; n < 2; n++) {
      const { opened, store } = await startOpens();
      expect(opened).toBeLessThan(5);
      await store.close();
    }
  });

  test("after a process that ended in any other way looks at every journal, and the index follows", async () => {
    const first = await started();
    const id = await session(first, ALICE);
    for (const owner of OTHERS) await session(first, owner);
    await first.close();
    const running = await started();
    // Acknowledged, and not in the index yet: so a kill leaves the directory.
    await running.journal.append(ALICE, id, records.round(2));
    const left = `${dir}-left`;
    await cp(dir, left, { recursive: true });
    onTestFinished(() => rm(left, { recursive: true }));
    const { opened, store } = await startOpens(left);
    expect(opened).toBeGreaterThan(OTHERS.length);
    expect((await store.index.get(ALICE, id))?.message_count).toBe(4);
  });

  test("after a clean end with an index that was behind finds it level: it caught up before", async () => {
    const first = await started();
    const id = await session(first, ALICE);
    await first.journal.append(ALICE, id, records.round(2));
    await first.close();
    const { opened, store } = await startOpens();
    expect(opened).toBeLessThan(5);
    expect((await store.index.get(ALICE, id))?.message_count).toBe(4);
  });

  test.each([
    ["missing", async () => rm(join(dir, "state.db"))],
    ["another, as from a backup", async () => copyFile(join(dir, "older.db"), join(dir, "state.db"))],
  ])("with state that is %s looks at every journal, and has all of them", async (_, change) => {
    const first = await started();
    const id = await session(first, ALICE);
    await first.close();
    await copyFile(join(dir, "state.db"), join(dir, "older.db"));
    const second = await started();
    await second.index.apply(ALICE, id, await second.journal.append(ALICE, id, records.round(2)));
    await second.close();
    await change();
    const { store } = await startOpens();
    expect((await store.index.get(ALICE, id))?.message_count).toBe(4);
  });

  test("finds the journals of sessions that the index doesn't know", async () => {
    const first = await started();
    const id = await session(first, ALICE);
    const other = await session(first, ALICE);
    await first.index.remove(ALICE, id);
    await first.close();
    const { opened, store } = await startOpens();
    expect(opened).toBeLessThan(10);
    expect(await store.index.get(ALICE, id)).not.toBeNull();
    expect(await store.index.get(ALICE, other)).not.toBeNull();
  });

  test("with a marker that can't be read looks at every journal", async () => {
    const first = await started();
    const id = await session(first, ALICE);
    for (const owner of OTHERS) await session(first, owner);
    await first.close();
    await writeFile(join(dir, "index.level"), "torn");
    const { opened, store } = await startOpens();
    expect(opened).toBeGreaterThan(OTHERS.length);
    expect(await store.index.get(ALICE, id)).not.toBeNull();
  });
});
