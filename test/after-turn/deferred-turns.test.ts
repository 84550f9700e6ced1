import { expect, test } from "vitest";
import { leaveUntil } from "../../src/after-turn/deferred-turns.js";
import { newId } from "../../src/platform/ids.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { PendingTurn } from "../../src/ports/session-store.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { EngineImageStore } from "../../src/state/images/images.js";
import { engineSessionStore } from "../../src/state/sessions/sessions.js";
import { ALICE, JournalRecords } from "../support/journal-records.js";
import { TestClock } from "../support/session-world.js";

const LEASE_MS = 15_000;

/** Alice has said two things, and a worker has the first of them. */
async function worldOf(shared: boolean) {
  const clock = new TestClock("2027-01-01T00:00:00.000Z");
  const engine = new MemoryEngine({ clock });
  Object.assign(engine.manifest, { shared });
  const { journal, index, turns } = engineSessionStore(engine, { logger: silentLogger, clock, images: new EngineImageStore(engine) });
  const records = new JournalRecords();
  const id = newId();
  await index.apply(ALICE, id, await journal.create(ALICE, id, [records.session(ALICE), ...records.round(1), ...records.round(2)]));
  const nowMs = clock.now().getTime();
  const until = { nowMs, dueAtMs: nowMs + 60_000 };
  const claimed = async (at = until.dueAtMs): Promise<PendingTurn | undefined> => (await turns.claim(at, 1, { leaseMs: LEASE_MS }))[0];
  return { turns, claimed, until, pending: (await claimed()) ?? expect.unreachable() };
}

test.for([false, true])("a turn that is left behind a later one is due at once (shared: %s)", async (shared) => {
  const { turns, claimed, until, pending } = await worldOf(shared);
  await leaveUntil(turns, pending, until);
  expect(await claimed(until.nowMs)).toMatchObject({ turn: 1, errorCode: "LEFT_TO_READ" });
});

test.for([false, true])("one that another worker takes as it is left stays theirs (shared: %s)", async (shared) => {
  const { turns, claimed, until, pending } = await worldOf(shared);
  let theirs: PendingTurn | undefined;
  const of: typeof turns.of = async (...asked) => {
    theirs = await claimed();
    return turns.of(...asked);
  };
  await leaveUntil({ of, recordAttempt: turns.recordAttempt.bind(turns) }, pending, until);
  expect(theirs?.turn).toBe(1);
  expect(await turns.renew(theirs ?? expect.unreachable(), LEASE_MS)).not.toBeNull();
  expect(await claimed()).toBeUndefined();
});
