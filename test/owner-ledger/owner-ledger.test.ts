import { mkdtemp, readdir, readFile, rm, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ownerHash } from "../../src/domain/owner.js";
import { type FileSystem, nodeFileSystem } from "../../src/platform/file-system.js";
import { silentLogger } from "../../src/platform/logger.js";
import { FileOwnerLedger } from "../../src/stores/files/file-owner-ledger.js";
import { InMemoryOwnerLedger } from "../../src/stores/memory/in-memory-owner-ledger.js";
import { ALICE } from "../../src/testing/journal-records.js";
import { ownerLedgerContract } from "../../src/testing/owner-ledger-contract.js";
import { FaultyFileSystem } from "../support/faulty-file-system.js";
import { UnsyncedFileSystem } from "../support/unsynced-file-system.js";

const AT = "2026-03-01T10:00:00.000Z";
const TOMBSTONE = { memoryId: "a", messageIds: ["m"], textHash: "h", at: AT };

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-ledger-"));
});
afterEach(() => rm(dir, { recursive: true }));

const open = (fileSystem: FileSystem = nodeFileSystem) => FileOwnerLedger.open({ dir, fileSystem, logger: silentLogger });
const pathOf = () => join(dir, "owners", `${ownerHash(ALICE)}.jsonl`);

ownerLedgerContract("files", async () => {
  const ledger = await open();
  return { ledger, dispose: () => ledger.close() };
});
ownerLedgerContract("memory", async () => {
  const ledger = new InMemoryOwnerLedger();
  return { ledger, dispose: () => ledger.close() };
});

describe("owner ledger on disk", () => {
  test("what was kept is there after a power cut, an open erasure with it", async () => {
    const disk = new UnsyncedFileSystem();
    const ledger = await open(disk);
    await ledger.addTombstone(ALICE, TOMBSTONE);
    const { receiptId } = await ledger.beginErasure(ALICE, AT);
    disk.crash();
    const after = await open(new UnsyncedFileSystem());
    expect(await after.tombstones(ALICE)).toEqual([TOMBSTONE]);
    expect(await after.openErasures()).toEqual([{ owner: ALICE, receiptId }]);
    expect(await after.epoch(ALICE)).toBe(1);
  });

  test("a completed erasure leaves neither the owner's name nor a tombstone in any file", async () => {
    const ledger = await open();
    await ledger.seen(ALICE, { at: AT, displayName: "Canary Name" });
    await ledger.addTombstone(ALICE, TOMBSTONE);
    const { receiptId } = await ledger.beginErasure(ALICE, AT);
    await ledger.completeErasure(ALICE, { receipt_id: receiptId, completed_at: AT, erased: {}, verified: true });
    const names = await readdir(join(dir, "owners"));
    expect(names).toEqual([`${ownerHash(ALICE)}.jsonl`]);
    const text = await readFile(pathOf(), "utf8");
    for (const canary of ["Canary", "alice", "tombstone"]) expect(text).not.toContain(canary);
    const again = await open();
    expect(await again.epoch(ALICE)).toBe(1);
    expect(await again.receipts(ALICE)).toHaveLength(1);
  });

  test("a torn last line is cut off, the lines before it hold", async () => {
    const ledger = await open();
    await ledger.addTombstone(ALICE, TOMBSTONE);
    await ledger.addTombstone(ALICE, { ...TOMBSTONE, memoryId: "b" });
    const { length } = await readFile(pathOf());
    await truncate(pathOf(), length - 3);
    const after = await open();
    expect(await after.tombstones(ALICE)).toEqual([TOMBSTONE]);
    await after.addTombstone(ALICE, { ...TOMBSTONE, memoryId: "c" });
    expect((await (await open()).tombstones(ALICE)).map(({ memoryId }) => memoryId)).toEqual(["a", "c"]);
  });

  test.each(["ENOSPC", "EIO", "EMFILE"] as const)("%s is answered as unavailable, and nothing of the write stays", async (errno) => {
    const disk = new FaultyFileSystem(nodeFileSystem);
    const ledger = await open(disk);
    await ledger.addTombstone(ALICE, TOMBSTONE);
    disk.inject(errno === "EMFILE" ? { operation: "open", errno } : { operation: "write", errno, afterBytes: 20 });
    await expect(ledger.addTombstone(ALICE, { ...TOMBSTONE, memoryId: "b" })).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
    disk.assertAllStruck();
    expect(await ledger.tombstones(ALICE)).toEqual([TOMBSTONE]);
    await ledger.addTombstone(ALICE, { ...TOMBSTONE, memoryId: "c" });
    expect((await (await open()).tombstones(ALICE)).map(({ memoryId }) => memoryId)).toEqual(["a", "c"]);
  });

  test("a marker whose intent never became durable is no erasure", async () => {
    const disk = new FaultyFileSystem(nodeFileSystem);
    const ledger = await open(disk);
    disk.inject({ operation: "write", errno: "EIO", path: ".jsonl" });
    await expect(ledger.beginErasure(ALICE, AT)).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
    expect(await ledger.openErasures()).toEqual([]);
    expect(await ledger.epoch(ALICE)).toBe(0);
    expect(await readdir(join(dir, "owners"))).not.toContainEqual(expect.stringContaining("erasing"));
  });
});
