import { expect, test } from "vitest";
import { erasedBy } from "../../src/compose/encryption.js";
import { ownerOf } from "../../src/domain/owner.js";
import { silentLogger } from "../../src/platform/logger.js";
import { Erasure } from "../../src/privacy/erasure.js";
import { keysOfFile } from "../../src/state/encryption/key-file.js";
import { KEYS } from "../../src/state/encryption/keyring.js";
import { openEncrypted } from "../../src/state/encryption/open-encrypted.js";
import type { Commit } from "../../src/state/engine.js";
import { EngineImageStore } from "../../src/state/images/images.js";
import { EngineOwnerLedger } from "../../src/state/ledger/ledger.js";
import { ownerPartition } from "../../src/state/partition.js";
import { engineSessionStore } from "../../src/state/sessions/sessions.js";
import { MASTER_KEY } from "../support/encryption.js";
import { type EngineOfProcess, sharedEngine } from "../support/processes.js";
import { TestClock } from "../support/session-world.js";

const ADA = ownerOf("default", "ada");
const PARTITION = ownerPartition(ADA);
const NOTE = "note";

/** What erases in one process, and a store of one note of each owner. */
async function erasing(process: EngineOfProcess, clock: TestClock) {
  const opened = await openEncrypted(process.engine, process.engine, keysOfFile("key", MASTER_KEY));
  const { engine } = opened;
  const ledger = new EngineOwnerLedger(engine);
  const { locks } = engineSessionStore(engine, { logger: silentLogger, clock, images: new EngineImageStore(engine) });
  const noted = async () => (await engine.read(PARTITION, { keys: [NOTE] })).entries.get(NOTE)?.value ?? null;
  const notes = {
    name: "notes",
    erase: async () => {
      const notes = (await noted()) === null ? 0 : 1;
      await engine.commit(PARTITION, { id: String(Math.random()), deletes: [NOTE] });
      return { notes };
    },
    residue: async () => ((await noted()) === null ? 0 : 1),
  };
  const erasure = new Erasure({
    ...{ stores: [notes], ledger, locks, clock, logger: silentLogger, keepsDeleted: [] },
    ...{ hold: async () => () => {}, compact: async () => {}, onErased: async () => {} },
    ...{ keys: erasedBy(opened, process.engine)?.keys ?? expect.unreachable() },
  });
  const note = (value: string) => engine.commit(PARTITION, { id: value, puts: [{ key: NOTE, value }] });
  return { erasure, ledger, note, noted };
}

const ofAda = (is: (commit: Commit) => boolean) => (partition: string, commit: Commit) => partition === PARTITION && is(commit);

test.for([
  ["keys", ofAda(({ raisesEpoch, puts = [] }) => raisesEpoch === true && puts.some(({ key }) => key === KEYS))],
  ["receipt", ofAda(({ puts = [] }) => puts.some(({ key }) => key.startsWith("ledger/receipt/")))],
] as const)("[erasure-complete] an eraser that was paused at the %s leaves alone who came back since", async ([, is]) => {
  const clock = new TestClock("2027-01-01T00:00:00.000Z");
  const shared = sharedEngine(clock);
  const [first, second] = [shared.process(), shared.process()];
  const paused = await erasing(first, clock);
  const other = await erasing(second, clock);
  await other.note("jazz");
  const { stopped, goOn } = first.stopAt("commit", is);
  const late = paused.erasure.run(ADA, "user");
  await stopped;
  // Its lease has ended.
  clock.seconds(16);
  const receipt = await other.erasure.run(ADA, "user");
  await other.note("tango");
  await other.ledger.addTombstone(ADA, { memoryId: "m", messageIds: [], textHash: "h", at: "2027-01-01T00:00:00.000Z" });
  goOn();
  await late.catch(() => undefined);
  expect(await other.noted()).toBe("tango");
  expect(await other.ledger.tombstones(ADA)).toHaveLength(1);
  expect(await other.ledger.receipts(ADA)).toEqual([receipt]);
});
