import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { collected } from "../../../src/platform/collected.js";
import { nodeFileSystem, readOnlyFileSystem } from "../../../src/platform/file-system.js";
import { newId } from "../../../src/platform/ids.js";
import { silentLogger } from "../../../src/platform/logger.js";
import { FileMemoryService } from "../../../src/state/jsonl/file-memory-service.js";
import { journalsAsOf } from "../../../src/state/jsonl/journal-files.js";
import { ALICE, JournalRecords } from "../../support/journal-records.js";

test("a journal ends where it is said to, whatever was written behind it; one that ends before that is whole", async () => {
  const dir = await mkdtemp(join(tmpdir(), "maitred-as-of-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  const writer = await FileMemoryService.open({ dir, fileSystem: nodeFileSystem, logger: silentLogger });
  const id = newId();
  const records = new JournalRecords();
  await writer.create(ALICE, id, [records.session(ALICE), ...records.round(1)]);
  const { lastSeq } = await writer.window(ALICE, id, { rounds: 1 });
  await writer.append(ALICE, id, records.round(2));
  const whole = await collected(writer.read(ALICE, id));
  await writer.close();

  const files = await FileMemoryService.open({ dir, fileSystem: readOnlyFileSystem(nodeFileSystem), logger: silentLogger });
  const upTo = (end: number) => journalsAsOf(files, async () => end);
  expect(await upTo(lastSeq).window(ALICE, id, { rounds: 1 })).toMatchObject({ lastSeq, lastTurn: 1 });
  expect(await collected(upTo(lastSeq).read(ALICE, id))).toEqual(whole.filter(({ turn }) => turn <= 1));
  expect(await upTo(1_000).window(ALICE, id, { rounds: 1 })).toMatchObject({ lastSeq: whole.at(-1)?.seq, lastTurn: 2 });
  expect(await collected(upTo(1_000).read(ALICE, id))).toEqual(whole);
  await files.close();
});
