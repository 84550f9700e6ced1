import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nodeFileSystem } from "../../src/platform/file-system.js";
import { silentLogger } from "../../src/platform/logger.js";
import { FileMemoryLog } from "../../src/stores/files/file-memory-log.js";
import { FileOwnerLedger } from "../../src/stores/files/file-owner-ledger.js";
import { InMemoryMemoryLog } from "../../src/stores/memory/in-memory-memory-log.js";
import { InMemoryOwnerLedger } from "../../src/stores/memory/in-memory-owner-ledger.js";
import { ALICE } from "../../src/testing/journal-records.js";
import { entryOf, memoryLogContract, NOW } from "../../src/testing/memory-log-contract.js";

memoryLogContract("in memory", async () => {
  const ledger = new InMemoryOwnerLedger();
  return { ledger, log: new InMemoryMemoryLog(ledger), dispose: async () => {} };
});

async function openIn(dir: string) {
  const parts = { dir, fileSystem: nodeFileSystem, logger: silentLogger };
  const ledger = await FileOwnerLedger.open(parts);
  return { ledger, log: await FileMemoryLog.open({ ...parts, ledger }) };
}

memoryLogContract("files", async () => {
  const dir = await mkdtemp(join(tmpdir(), "maitred-memory-log-"));
  return { ...(await openIn(dir)), dispose: () => rm(dir, { recursive: true }) };
});

test("a log on disk is there after a restart, without a torn last line, and holds no forgotten word", async () => {
  const dir = await mkdtemp(join(tmpdir(), "maitred-memory-log-"));
  try {
    const { log } = await openIn(dir);
    await log.append(ALICE, entryOf("jazz", "opera"), { expectedSeq: 0, now: NOW });
    const [name = ""] = (await readdir(join(dir, "owners"))).filter((each) => each.endsWith(".memories.jsonl"));
    await appendFile(join(dir, "owners", name), '{"v":1,"seq":2,"at":"20');
    const again = (await openIn(dir)).log;
    expect(await again.lastSeq(ALICE)).toBe(1);
    await again.append(ALICE, entryOf("swing"), { expectedSeq: 1, now: NOW });
    await again.redact(ALICE, (record) => (record.text === "opera" ? null : record));
    expect(await readFile(join(dir, "owners", name), "utf8")).not.toContain("opera");
    const last = (await openIn(dir)).log;
    expect(await last.lastSeq(ALICE)).toBe(2);
    const owners: string[] = [];
    for await (const owner of last.owners()) owners.push(owner);
    expect(owners).toEqual([ALICE]);
  } finally {
    await rm(dir, { recursive: true });
  }
});

test("a log whose file was taken away, or replaced, while it lay open is not written to where nobody reads it", async () => {
  const dir = await mkdtemp(join(tmpdir(), "maitred-memory-log-"));
  try {
    const { log } = await openIn(dir);
    await log.append(ALICE, entryOf("jazz"), { expectedSeq: 0, now: NOW });
    const [name = ""] = (await readdir(join(dir, "owners"))).filter((each) => each.endsWith(".memories.jsonl"));
    const path = join(dir, "owners", name);
    const copy = await readFile(path);
    await log.append(ALICE, entryOf("opera"), { expectedSeq: 1, now: NOW });
    await rm(path);
    await writeFile(path, copy);
    expect(await entriesOf(log)).toEqual([1]);
    await rm(path);
    await log.append(ALICE, entryOf("swing"), { expectedSeq: 2, now: NOW });
    expect(await readFile(path, "utf8")).toContain("swing");
    expect(await entriesOf((await openIn(dir)).log)).toEqual([3]);
    await log.close();
  } finally {
    await rm(dir, { recursive: true });
  }
});

async function entriesOf(log: FileMemoryLog): Promise<number[]> {
  const seqs: number[] = [];
  for await (const { seq } of log.read(ALICE)) seqs.push(seq);
  return seqs;
}
