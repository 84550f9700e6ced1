import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import { nodeFileSystem } from "../../src/platform/file-system.js";
import { newId } from "../../src/platform/ids.js";
import { silentLogger } from "../../src/platform/logger.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { FileMemoryService } from "../../src/state/jsonl/file-memory-service.js";
import { encryptedForTest } from "../support/encryption.js";
import { JournalRecords } from "../support/journal-records.js";

const alice = ownerOf("default", "alice");
const bob = ownerOf("default", "bob");
const SESSIONS = { one: alice, two: alice, theirs: bob };
type Session = keyof typeof SESSIONS | "clear";
const IDS = { one: newId(), two: newId(), theirs: newId(), clear: newId() };

let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-tampered-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** Three sealed journals of the same ids, seqs and turns, so that nothing but the seal tells them apart; and the same in clear. */
async function journals() {
  const { seals } = await encryptedForTest(new MemoryEngine());
  const open = (sealed = true) =>
    FileMemoryService.open({ dir, fileSystem: nodeFileSystem, logger: silentLogger, seals: sealed ? seals : null });
  const path = (session: Session) => join(dir, `${IDS[session]}.jsonl`);
  const written = async (service: FileMemoryService, session: Session, owner: Owner) => {
    const records = new JournalRecords();
    await service.create(owner, IDS[session], [records.session(owner)]);
    for (const turn of [1, 2]) await service.append(owner, IDS[session], [records.user(turn, `said in ${session}, ${turn}`)]);
  };
  const service = await open();
  for (const [session, owner] of Object.entries(SESSIONS)) await written(service, session as Session, owner);
  await service.close();
  const clear = await open(false);
  await written(clear, "clear", alice);
  await clear.close();
  return {
    lines: async (session: Session) => (await readFile(path(session), "utf8")).trimEnd().split("\n"),
    put: (session: Session, lines: readonly string[]) => writeFile(path(session), `${lines.join("\n")}\n`),
    /** What the session's owner is given of it. */
    async said(session: Session, owner: Owner = alice): Promise<string> {
      const again = await open();
      try {
        const found: string[] = [];
        for await (const record of again.read(owner, IDS[session])) if (record.type === "message") found.push(String(record.body.content));
        return found.join("; ");
      } catch (error) {
        return String(error);
      } finally {
        await again.close();
      }
    },
  };
}

test("[sealed-at-rest] bodies that change places, and lines that come from another session or owner, are refused, and so is one in clear", async () => {
  const { lines, put, said } = await journals();
  const [head = "", first = "", second = ""] = await lines("one");
  expect(await said("one")).toBe("said in one, 1; said in one, 2");
  const [, other = ""] = await lines("two");
  const [, theirs = ""] = await lines("theirs");
  const [clearHead = "", clear = "", clearSecond = ""] = await lines("clear");
  expect(clear).toContain("said in clear");
  const at = (line: string, of: string) => ({
    ...JSON.parse(line),
    ...Object.fromEntries(Object.entries(JSON.parse(of)).filter(([key]) => key !== "sealed")),
  });
  for (const [how, changed, left] of [
    ["another session's", [head, other, second], "said in one, 2"],
    ["another owner's", [head, theirs, second], "said in one, 2"],
    ["another's body at its place", [head, JSON.stringify(at(theirs, first)), second], "said in one, 2"],
    ["the other's body, both ways", [head, JSON.stringify(at(second, first)), JSON.stringify(at(first, second))], ""],
    ["in clear, in between", [head, clear, second], "said in one, 2"],
    ["in clear, at the end", [head, first, clearSecond], "said in one, 1"],
    ["in clear, at the beginning", [clearHead, first, second], "said in one, 1; said in one, 2"],
  ] as const) {
    await put("one", changed);
    expect([how, await said("one")]).toEqual([how, left]);
  }
});

test("[sealed-at-rest] a journal that is in clear as a whole is not read where journals are sealed", async () => {
  const { said } = await journals();
  expect(await said("clear")).not.toContain("said in clear");
});
