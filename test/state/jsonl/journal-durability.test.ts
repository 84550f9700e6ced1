import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { collected } from "../../../src/platform/collected.js";
import { type FileSystem, nodeFileSystem } from "../../../src/platform/file-system.js";
import { newId } from "../../../src/platform/ids.js";
import { type Logger, silentLogger } from "../../../src/platform/logger.js";
import { FileMemoryService } from "../../../src/state/jsonl/file-memory-service.js";
import { FaultyFileSystem } from "../../support/faulty-file-system.js";
import { ALICE, JournalRecords } from "../../support/journal-records.js";
import { SLOW } from "../../support/projects.js";
import { UnsyncedFileSystem } from "../../support/unsynced-file-system.js";

let dir: string;
let records: JournalRecords;
const opened: FileMemoryService[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-journal-"));
  records = new JournalRecords();
});
afterEach(async () => {
  for (const service of opened.splice(0)) await service.close();
  await rm(dir, { recursive: true });
});

async function open(fileSystem: FileSystem = nodeFileSystem, logger: Logger = silentLogger): Promise<FileMemoryService> {
  const service = await FileMemoryService.open({ dir, fileSystem, logger });
  opened.push(service);
  return service;
}

async function session(journal: FileMemoryService): Promise<string> {
  const id = newId();
  await journal.create(ALICE, id, [records.session(ALICE)]);
  return id;
}

const seqsOf = async (journal: FileMemoryService, id: string) =>
  (await collected(journal.read(ALICE, id, { includeTorn: true }))).map(({ seq }) => seq);
/** Beside the folder that has the owners' lists. */
const names = async () => (await readdir(dir)).filter((name) => name !== "owners");
const fileOf = (id: string) => join(dir, `${id}.jsonl`);

/** Where a file is cut off. */
const CUTS = [
  { where: "every ninth byte, and about each end,", every: 9, tags: [] },
  { where: "every byte", every: 1, tags: [SLOW] },
];

function cutsOf(from: number, to: number, ends: readonly number[], every: number): number[] {
  const all = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  return all.filter((cut) => cut % every === 0 || [...ends, to].some((end) => Math.abs(end - cut) <= 1));
}

/** Remembers what was warned of. */
function recordingLogger(): Logger & { readonly warnings: string[] } {
  const warnings: string[] = [];
  return { ...silentLogger, warnings, warn: (_fields, message) => warnings.push(message) };
}

describe("a journal after a crash", () => {
  test("holds every append that had resolved, and none that had not", async () => {
    const disk = new UnsyncedFileSystem();
    const journal = await open(disk);
    const id = await session(journal);
    await Promise.all([1, 2, 3].map((turn) => journal.append(ALICE, id, records.round(turn))));
    const unanswered = journal.append(ALICE, id, [records.user(4)]).then(
      () => "resolved",
      () => "rejected",
    );
    disk.crash();
    expect(await unanswered).toBe("rejected");
    expect(await seqsOf(await open(new UnsyncedFileSystem()), id)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test("a session whose creation had resolved is there; rewriting, packing and removing last as well", async () => {
    const disk = new UnsyncedFileSystem();
    const journal = await open(disk);
    const [kept, emptied, packed, removed] = [
      await session(journal),
      await session(journal),
      await session(journal),
      await session(journal),
    ];
    for (const id of [kept, emptied, packed, removed]) await journal.append(ALICE, id, records.round(1));
    await journal.rewrite(ALICE, emptied, () => null);
    await journal.compress(ALICE, packed);
    await journal.remove(ALICE, removed);
    disk.crash();
    const after = await open(new UnsyncedFileSystem());
    expect(await seqsOf(after, kept)).toEqual([1, 2, 3]);
    expect(await seqsOf(after, emptied)).toEqual([1]);
    expect(await seqsOf(after, packed)).toEqual([1, 2, 3]);
    await expect(seqsOf(after, removed)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    expect((await names()).sort()).toEqual([`${kept}.jsonl`, `${emptied}.jsonl`, `${packed}.jsonl.gz`].sort());
  });

  test("the disk that forgets shows a missing sync: bytes that were only written are gone", async () => {
    const noSync: FileSystem = withoutSync(new UnsyncedFileSystem());
    const journal = await open(noSync);
    const id = await session(journal);
    await journal.append(ALICE, id, records.round(1));
    await expect(seqsOf(await open(new UnsyncedFileSystem()), id)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  });

  for (const { where, every, tags } of CUTS)
    test(`cut at ${where} of its last three records it opens and loses at most the torn record`, { timeout: 120_000, tags }, async () => {
      const before = await open();
      const id = await session(before);
      await before.append(ALICE, id, records.round(1, 1));
      await before.append(ALICE, id, [records.user(2, "ünï 👩‍👩‍👧")]);
      await before.append(ALICE, id, [records.step(2), records.assistant(2)]);
      const whole = await readFile(fileOf(id));
      const ends = [...whole.keys()].filter((at) => whole[at] === 0x0a).map((at) => at + 1);
      for (const cut of cutsOf(ends.at(-4) ?? 0, whole.length, ends, every)) {
        await writeFile(fileOf(id), whole.subarray(0, cut));
        const logger = recordingLogger();
        const journal = await open(nodeFileSystem, logger);
        const left = ends.filter((end) => end <= cut).length;
        expect(await seqsOf(journal, id)).toEqual(Array.from({ length: left }, (_, index) => index + 1));
        expect(logger.warnings).toHaveLength(ends.includes(cut) ? 0 : 1);
        const window = await journal.window(ALICE, id, { rounds: 10 });
        expect(window.rounds.map(({ turn }) => turn)).toEqual(left === ends.length ? [1, 2] : [1]);
        const [next] = await journal.append(ALICE, id, [records.user(3)]);
        expect(next?.seq).toBe(left + 1);
        expect(await seqsOf(journal, id)).toHaveLength(left + 1);
        await journal.close();
      }
    });

  test("cut within its first record it is no session, and its id can be used", async () => {
    const before = await open();
    const id = await session(before);
    await writeFile(fileOf(id), (await readFile(fileOf(id))).subarray(0, 20));
    const journal = await open();
    await expect(journal.window(ALICE, id, { rounds: 1 })).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    await journal.create(ALICE, id, [records.session(ALICE)]);
    expect(await seqsOf(journal, id)).toEqual([1]);
  });

  test("steps whose answer was torn off do not pass for steps of the attempt that follows", async () => {
    const before = await open();
    const id = await session(before);
    await before.append(ALICE, id, [records.user(1)]);
    await before.append(ALICE, id, [records.step(1, "torn"), records.assistant(1)]);
    const whole = await readFile(fileOf(id));
    await writeFile(fileOf(id), whole.subarray(0, whole.length - 5));
    const journal = await open();
    await journal.append(ALICE, id, [records.assistant(1)]);
    const alone = await journal.window(ALICE, id, { rounds: 1 });
    expect(alone.rounds[0]?.steps).toEqual([]);
    const read = await collected(journal.read(ALICE, id));
    expect(read.map(({ type }) => type)).toEqual(["session", "message", "message"]);
    await journal.rewrite(ALICE, id, (record) => record);
    const rewritten = await journal.window(ALICE, id, { rounds: 1 });
    expect(rewritten.rounds[0]?.steps).toEqual([]);
  });

  for (const { where, every, tags } of CUTS)
    test(`[journal-torn] cut at ${where} of a message that replaces the last one, the last message is the one or the other`, {
      timeout: 120_000,
      tags,
    }, async () => {
      const before = await open();
      const id = await session(before);
      await before.append(ALICE, id, records.round(1));
      const [said] = await before.append(ALICE, id, [records.user(2, "two")]);
      const { length } = await readFile(fileOf(id));
      const [, instead] = await before.append(ALICE, id, [records.rewind(3, (said?.seq ?? 0) - 1), records.user(3, "three")]);
      const whole = await readFile(fileOf(id));
      for (const cut of cutsOf(length, whole.length, [], every)) {
        await writeFile(fileOf(id), whole.subarray(0, cut));
        const journal = await open();
        const { lastUserMessage, lastSeq } = await journal.window(ALICE, id, { rounds: 10 });
        expect([lastUserMessage?.id, lastSeq]).toEqual(cut === whole.length ? [instead?.id, instead?.seq] : [said?.id, said?.seq]);
        expect((await collected(journal.read(ALICE, id))).at(-1)?.id).toBe(lastUserMessage?.id);
        await journal.close();
      }
    });

  test("half-made files of a crash are removed at the next start", async () => {
    const id = newId();
    await writeFile(`${fileOf(id)}.tmp`, "half");
    await writeFile(`${fileOf(id)}.gz.tmp`, "half");
    await writeFile(join(dir, "notes.tmp"), "not ours");
    await open();
    expect(await names()).toEqual(["notes.tmp"]);
  });

  test("both forms of a journal, as a crash in mid-packing leaves them, are one session", async () => {
    const before = await open();
    const id = await session(before);
    await before.append(ALICE, id, records.round(1));
    const plain = await readFile(fileOf(id));
    await before.compress(ALICE, id);
    await writeFile(fileOf(id), plain);
    const journal = await open();
    expect(await seqsOf(journal, id)).toEqual([1, 2, 3]);
    await journal.append(ALICE, id, [records.user(2)]);
    await journal.compress(ALICE, id);
    expect(await seqsOf(journal, id)).toEqual([1, 2, 3, 4]);
    expect(await journal.erase(ALICE)).toEqual({ sessions: 1, messages: 3 });
    expect(await names()).toEqual([]);
  });
});

describe("a disk that fails", () => {
  test.each([
    { operation: "write", errno: "ENOSPC", afterBytes: 33 },
    { operation: "write", errno: "EIO" },
    { operation: "datasync", errno: "EIO" },
  ] as const)("$errno on $operation: all who waited are told, nothing stays, and the next append works", async (fault) => {
    const disk = new FaultyFileSystem(nodeFileSystem);
    const journal = await open(disk);
    const id = await session(journal);
    await journal.append(ALICE, id, records.round(1));
    disk.inject(fault);
    const failed = await Promise.allSettled([2, 3].map((turn) => journal.append(ALICE, id, records.round(turn))));
    disk.assertAllStruck();
    for (const each of failed) expect(each).toMatchObject({ status: "rejected", reason: { code: "STORAGE_UNAVAILABLE", status: 503 } });
    expect(await seqsOf(journal, id)).toEqual([1, 2, 3]);
    await journal.append(ALICE, id, records.round(2));
    expect(await seqsOf(await open(), id)).toEqual([1, 2, 3, 4, 5]);
  });

  test("where even the cutting back fails, the journal is mended before the next append, and read rightly meanwhile", async () => {
    const disk = new FaultyFileSystem(nodeFileSystem);
    const journal = await FileMemoryService.open({ dir, fileSystem: disk, logger: silentLogger, maxIdleJournals: 1 });
    opened.push(journal);
    const id = await session(journal);
    await journal.append(ALICE, id, records.round(1));
    const path = `${id}.jsonl`;
    disk.inject({ operation: "datasync", errno: "EIO", path, times: 1 });
    disk.inject({ operation: "truncate", errno: "EIO", path, times: 2 });
    await expect(journal.append(ALICE, id, records.round(2))).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
    // Other sessions push it out of the cache, were it not waiting for its repair.
    for (let each = 0; each < 3; each += 1) await seqsOf(journal, await session(journal));
    expect(await seqsOf(journal, id)).toEqual([1, 2, 3]);
    await expect(journal.append(ALICE, id, records.round(2))).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
    disk.assertAllStruck();
    const [written] = await journal.append(ALICE, id, records.round(2));
    expect(written?.seq).toBe(4);
    expect(await seqsOf(await open(), id)).toEqual([1, 2, 3, 4, 5]);
  });

  test("no free file handle: 503, and well again when there is one", async () => {
    const disk = new FaultyFileSystem(nodeFileSystem);
    const id = await session(await open());
    const journal = await open(disk);
    disk.inject({ operation: "open", errno: "EMFILE", times: 3 });
    const unavailable = { code: "STORAGE_UNAVAILABLE" };
    await expect(journal.append(ALICE, id, records.round(1))).rejects.toMatchObject(unavailable);
    await expect(journal.window(ALICE, id, { rounds: 1 })).rejects.toMatchObject(unavailable);
    await expect(journal.create(ALICE, newId(), [records.session(ALICE)])).rejects.toMatchObject(unavailable);
    await journal.append(ALICE, id, records.round(1));
    expect(await seqsOf(journal, id)).toEqual([1, 2, 3]);
  });

  test.each([
    ["write", ".jsonl.tmp"],
    ["datasync", ".jsonl.tmp"],
    ["rename", ".jsonl"],
    ["syncDirectory", ""],
    ["write", ".sessions"],
    ["datasync", ".sessions"],
    ["syncDirectory", "owners"],
  ] as const)("a creation that fails in %s of *%s leaves no session behind", async (operation, ending) => {
    const disk = new FaultyFileSystem(nodeFileSystem);
    const journal = await open(disk);
    const id = newId();
    disk.inject({ operation, errno: "EIO", path: ending === "" ? dir : ending });
    await expect(journal.create(ALICE, id, [records.session(ALICE)])).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
    disk.assertAllStruck();
    expect(await names()).toEqual([]);
    await journal.create(ALICE, id, [records.session(ALICE)]);
    expect(await seqsOf(journal, id)).toEqual([1]);
  });

  test.each(["write", "rename", "syncDirectory"] as const)(
    "a rewrite that fails in %s leaves the journal whole, as it was or as it should be",
    async (operation) => {
      const disk = new FaultyFileSystem(nodeFileSystem);
      const journal = await open(disk);
      const id = await session(journal);
      await journal.append(ALICE, id, records.round(1));
      disk.inject({ operation, errno: "EIO" });
      await expect(journal.rewrite(ALICE, id, () => null)).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
      expect(await seqsOf(journal, id)).toEqual(operation === "syncDirectory" ? [1] : [1, 2, 3]);
      await journal.rewrite(ALICE, id, () => null);
      const [next] = await journal.append(ALICE, id, [records.user(2)]);
      expect(next?.seq).toBe(4);
    },
  );
});

describe("damaged lines", () => {
  test("are skipped, reported with their number, and never fatal; their seq is not given out again", async () => {
    const before = await open();
    const id = await session(before);
    for (const turn of [1, 2, 3]) await before.append(ALICE, id, records.round(turn));
    await before.append(ALICE, id, [records.summary(3)]);
    await before.close();
    const lines = (await readFile(fileOf(id), "utf8")).split("\n");
    const damage = async (...numbers: number[]) =>
      writeFile(
        fileOf(id),
        lines.map((line, index) => (numbers.includes(index + 1) ? line.replace(/^.{9}/, "\u0000".repeat(9)) : line)).join("\n"),
      );
    await damage(4, 8);
    const journal = await open();
    expect(await seqsOf(journal, id)).toEqual([1, 2, 3, 5, 6, 7]);
    const window = await journal.window(ALICE, id, { rounds: 10 });
    expect(window.rounds.map(({ turn }) => turn)).toEqual([1, 3]);
    expect(await collected(journal.check())).toMatchObject([{ sessionId: id, records: 6, damagedLines: [4, 8], tornBytes: 0 }]);
    const [next] = await journal.append(ALICE, id, [records.user(4)]);
    expect(next?.seq).toBe(9);
  });

  test("a journal whose first line is damaged still serves its owner, nobody else, and is erased with them", async () => {
    const before = await open();
    const id = await session(before);
    await before.append(ALICE, id, records.round(1));
    await before.close();
    const text = await readFile(fileOf(id), "utf8");
    await writeFile(fileOf(id), `#${text}`);
    const journal = await open();
    expect((await journal.window(ALICE, id, { rounds: 1 })).rounds).toHaveLength(1);
    await expect(journal.window("default:bob" as typeof ALICE, id, { rounds: 1 })).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    expect(await journal.residue(ALICE)).toBe(1);
    expect(await journal.erase(ALICE)).toEqual({ sessions: 1, messages: 2 });
    expect(await names()).toEqual([]);
  });

  test("a journal without one readable line is reported, and never written over", async () => {
    const id = newId();
    await writeFile(fileOf(id), "no\nrecord\n");
    const journal = await open();
    await expect(journal.window(ALICE, id, { rounds: 1 })).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    await expect(journal.create(ALICE, id, [records.session(ALICE)])).rejects.toMatchObject({ code: "STORAGE_DAMAGED" });
    expect(await collected(journal.check())).toMatchObject([{ records: 0, damagedLines: [1, 2] }]);
    expect(await readFile(fileOf(id), "utf8")).toBe("no\nrecord\n");
  });

  test("a torn tail that was cut off is reported by the check", async () => {
    const id = await session(await open());
    await appendFile(fileOf(id), '{"v":1,"seq":2,"ty');
    const journal = await open();
    expect(await collected(journal.check())).toMatchObject([{ records: 1, damagedLines: [], tornBytes: 18 }]);
  });

  test("lines without a tail, as somebody may write them by hand, are read and appended to", async () => {
    const before = await open();
    const id = await session(before);
    await before.append(ALICE, id, [...records.round(1), records.summary(1)]);
    await before.close();
    const lines = (await readFile(fileOf(id), "utf8")).trim().split("\n");
    const bare = lines.map((line) => JSON.stringify({ ...JSON.parse(line), tail: undefined }));
    await writeFile(fileOf(id), `${bare.join("\n")}\n`);
    const journal = await open();
    await journal.append(ALICE, id, records.round(2));
    const window = await journal.window(ALICE, id, { rounds: 10 });
    expect(window.rounds.map(({ turn }) => turn)).toEqual([1, 2]);
    expect(window).toMatchObject({ summary: { turn: 1 }, lastSeq: 6, lastTurn: 2 });
  });
});

test("open files stay flat however many sessions are talked to", async () => {
  const journal = await FileMemoryService.open({ dir, fileSystem: nodeFileSystem, logger: silentLogger, maxIdleJournals: 5 });
  opened.push(journal);
  for (let each = 0; each < 40; each += 1) {
    const id = await session(journal);
    await journal.append(ALICE, id, records.round(1));
    await journal.window(ALICE, id, { rounds: 1 });
  }
  expect(journal.openFiles).toBeLessThanOrEqual(5);
});

test("appends that wait together share one sync", async () => {
  const disk = new FaultyFileSystem(nodeFileSystem);
  const journal = await open(disk);
  const id = await session(journal);
  await journal.append(ALICE, id, [records.user(1)]);
  const before = disk.calls.get("datasync") ?? 0;
  await Promise.all(Array.from({ length: 16 }, (_, index) => journal.append(ALICE, id, [records.user(index + 2)])));
  expect((disk.calls.get("datasync") ?? 0) - before).toBe(1);
});

test("after close everything is refused", async () => {
  const journal = await open();
  const id = await session(journal);
  await journal.close();
  await journal.close();
  await expect(journal.append(ALICE, id, [records.user(1)])).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
  await expect(journal.window(ALICE, id, { rounds: 1 })).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
});

/** The bug to be seen: a disk whose syncs are never asked for. */
function withoutSync(disk: FileSystem): FileSystem {
  return {
    open: async (path, mode) => {
      const file = await disk.open(path, mode);
      return { ...file, datasync: async () => undefined };
    },
    rename: (from, to) => disk.rename(from, to),
    unlink: (path) => disk.unlink(path),
    readdir: (path) => disk.readdir(path),
    mkdir: (path) => disk.mkdir(path),
    stat: (path) => disk.stat(path),
    identity: (path) => disk.identity(path),
    syncDirectory: (path) => disk.syncDirectory(path),
  };
}
