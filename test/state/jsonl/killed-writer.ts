import { silentLogger } from "../../../src/platform/logger.js";
import { FileMemoryService } from "../../../src/state/jsonl/file-memory-service.js";
import { ALICE, JournalRecords } from "../../support/journal-records.js";
import { UnsyncedFileSystem } from "../../support/unsynced-file-system.js";

/** Writes rounds into a journal on a disk that forgets, and says which are kept, until it is killed. */
const [dir, sessionId] = process.argv.slice(2);
if (dir === undefined || sessionId === undefined) throw new Error("usage: killed-writer <dir> <session id>");
const journal = await FileMemoryService.open({ dir, fileSystem: new UnsyncedFileSystem(), logger: silentLogger });
const records = new JournalRecords();
await journal.create(ALICE, sessionId, [records.session(ALICE)]);
for (let turn = 1; ; turn += 1) {
  await journal.append(ALICE, sessionId, [records.user(turn)]);
  await journal.append(ALICE, sessionId, [records.step(turn), records.assistant(turn)]);
  process.stdout.write(`${turn}\n`);
}
