import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { OwnerBackgroundWork } from "../../src/after-turn/owner-background-work.js";
import type { Owner } from "../../src/domain/owner.js";
import { reindexBesideTurns } from "../../src/operations/reindex.js";
import { AppError } from "../../src/platform/errors.js";
import { newId } from "../../src/platform/ids.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { SessionStore } from "../../src/ports/session-store.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { catchUpSession } from "../../src/state/jsonl/index-catch-up.js";
import { engineSessionIndex } from "../../src/state/sessions/sessions.js";
import { ALICE, BOB, JournalRecords } from "../support/journal-records.js";
import { memorySessionStore } from "../support/memory-stores.js";

/** Journals, and an index that follows them from a place of its own. */
function followedStore(): SessionStore {
  return { ...memorySessionStore(), index: engineSessionIndex(new MemoryEngine()) };
}

/** A session of two rounds, of which the index has the first alone. */
async function behind(store: SessionStore, owner: Owner): Promise<string> {
  const records = new JournalRecords();
  const id = newId();
  await store.index.apply(owner, id, await store.journal.create(owner, id, [records.session(owner), ...records.round(1)]));
  await store.journal.append(owner, id, records.round(2));
  return id;
}

interface Meanwhile {
  /** Called while a session's records are read and not folded yet. */
  readonly meanwhile?: (work: OwnerBackgroundWork, owner: Owner, signal: AbortSignal) => Promise<unknown>;
  readonly fails?: Owner;
}

function run(store: SessionStore, { meanwhile, fails }: Meanwhile = {}) {
  const work = new OwnerBackgroundWork();
  const progress: [number, number][] = [];
  const parts = {
    store,
    catchUp: async (owner: Owner, id: string, options: { readonly signal: AbortSignal }) => {
      if (owner === fails) throw new AppError("STORAGE_UNAVAILABLE");
      await meanwhile?.(work, owner, options.signal);
      options.signal.throwIfAborted();
      return catchUpSession(store, owner, id, options);
    },
    during: <T>(owner: Owner, signal: AbortSignal, task: (signal: AbortSignal) => Promise<T>) => work.run(owner, signal, task),
    history: null,
    logger: silentLogger,
  };
  const signal = new AbortController().signal;
  const report = reindexBesideTurns(parts, { signal, onProgress: (...at) => progress.push(at) });
  return report.then((counts) => ({ counts, progress }));
}

test("what the list of sessions lacks is brought into it, and nothing is emptied meanwhile", async () => {
  const store = followedStore();
  const ids = [await behind(store, ALICE), await behind(store, BOB)];
  const seen: number[] = [];
  const { counts, progress } = await run(store, {
    meanwhile: async () => void seen.push((await store.index.list(ALICE, {})).data.length),
  });
  expect([counts.sessions, counts.sessions_failed, seen]).toEqual([2, 0, [1, 1]]);
  expect(progress).toEqual([
    [1, 4],
    [2, 4],
  ]);
  for (const [at, owner] of [ALICE, BOB].entries()) expect((await store.index.get(owner, ids[at] ?? ""))?.message_count).toBe(4);
  expect((await run(store)).counts.sessions).toBe(0);
});

test("a session that is purged meanwhile stays gone", async () => {
  const store = followedStore();
  const id = await behind(store, ALICE);
  let purged: Promise<void> | undefined;
  const { counts } = await run(store, {
    meanwhile: async (work, owner, signal) => {
      if (purged !== undefined) return;
      // Whoever purges comes from without: the work is known to run by then, and goes on until it is told to end.
      await setImmediate();
      purged = work.hold(owner).then(async (release) => {
        await store.journal.remove(ALICE, id);
        await store.index.remove(ALICE, id);
        release();
      });
      if (!signal.aborted) await once(signal, "abort");
    },
  });
  await purged;
  expect([counts, await store.index.get(ALICE, id)]).toEqual([expect.objectContaining({ sessions: 0, sessions_failed: 0 }), null]);
});

test("a session that can't be brought level is counted, and holds up no other", async () => {
  const store = followedStore();
  await behind(store, ALICE);
  const id = await behind(store, BOB);
  const { counts } = await run(store, { fails: ALICE });
  expect([counts.sessions, counts.sessions_failed, (await store.index.get(BOB, id))?.message_count]).toEqual([1, 1, 4]);
});
