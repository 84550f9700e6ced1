import type { Owner } from "../../domain/owner.js";
import { committed } from "../durable-commit.js";
import { prefixRange, type StateEngine } from "../engine.js";
import { ownerPartition } from "../partition.js";
import { inCommits } from "./commit-size.js";
import { ACTIVITIES, EXTERNALS, JOURNALS, REQUESTS, STANDINGS, SUMMARIES, sessionKey, TRASH, TURN_JOBS } from "./keys.js";
import { headsOf, type OwnedHead } from "./owners.js";
import { NO_INDEX, NO_JOURNAL, rowKeys, rowWrite, type StoredHead } from "./session-row.js";
import { deletePrefix } from "./trash.js";

/** Deletes all journals of an owner. What the index has of the sessions is the index's to erase. */
export async function eraseJournals(engine: StateEngine, owner: Owner): Promise<{ readonly sessions: number; readonly messages: number }> {
  const gone = await eraseHalves(engine, owner, {
    has: ({ incarnation }) => incarnation !== "",
    without: (head) => ({ ...head, ...NO_JOURNAL }),
  });
  const partition = ownerPartition(owner);
  for (const prefix of [JOURNALS, TRASH]) await deletePrefix(engine, partition, prefix);
  return { sessions: gone.length, messages: gone.reduce((sum, { head }) => sum + head.messages, 0) };
}

export async function journalResidue(engine: StateEngine, owner: Owner): Promise<number> {
  let sessions = 0;
  for await (const page of headsOf(engine, owner)) sessions += page.filter(({ head }) => head.incarnation !== "").length;
  return sessions > 0 ? sessions : rowsLeft(engine, owner, [JOURNALS, TRASH]);
}

/** Deletes what the index has of an owner. `hasJournals`: whether the journals lie beside it. */
export async function eraseIndex(
  engine: StateEngine,
  owner: Owner,
  hasJournals: boolean,
): Promise<{ readonly sessions: number; readonly idempotencyKeys: number; readonly pendingTurns: number }> {
  const rest = hasJournals ? NO_INDEX : { ...NO_INDEX, ...NO_JOURNAL };
  const gone = await eraseHalves(engine, owner, { has: ({ state }) => state !== null, without: (head) => ({ ...head, ...rest }) });
  const partition = ownerPartition(owner);
  for (const prefix of [ACTIVITIES, EXTERNALS, STANDINGS, SUMMARIES]) await deletePrefix(engine, partition, prefix);
  return {
    sessions: gone.length,
    idempotencyKeys: await deletePrefix(engine, partition, REQUESTS),
    pendingTurns: await deletePrefix(engine, partition, TURN_JOBS),
  };
}

export async function indexResidue(engine: StateEngine, owner: Owner): Promise<number> {
  let sessions = 0;
  for await (const page of headsOf(engine, owner)) sessions += page.filter(({ head }) => head.state !== null).length;
  return sessions + (await rowsLeft(engine, owner, [TURN_JOBS, REQUESTS, ACTIVITIES, EXTERNALS, STANDINGS, SUMMARIES]));
}

interface Half {
  readonly has: (head: StoredHead) => boolean;
  readonly without: (head: StoredHead) => StoredHead;
}

/** Takes one half out of all sessions' rows; a row without either goes. Those that had it. */
async function eraseHalves(engine: StateEngine, owner: Owner, half: Half): Promise<readonly OwnedHead[]> {
  const gone: OwnedHead[] = [];
  for (let isDone = false; !isDone; ) {
    isDone = true;
    for await (const page of headsOf(engine, owner)) {
      const changes = page.filter(({ head }) => half.has(head)).map((owned) => ({ owned, ...halved(engine, owned, half) }));
      for (const batch of inCommits(engine.manifest, changes)) {
        const commit = {
          checks: batch.map(({ owned }) => ({ key: sessionKey(owned.sessionId), version: owned.head.version })),
          puts: batch.flatMap(({ puts }) => puts),
          deletes: batch.flatMap(({ deletes }) => deletes),
        };
        // Somebody wrote one meanwhile: it is looked at again.
        if ((await committed(engine, ownerPartition(owner), commit)).ok) gone.push(...batch.map(({ owned }) => owned));
        else isDone = false;
      }
    }
  }
  return gone;
}

function halved(engine: StateEngine, { sessionId, head }: OwnedHead, { without }: Half) {
  const after = without(head);
  if (after.incarnation === "" && after.state === null) return { puts: [], deletes: rowKeys(sessionId, head.parts) };
  return rowWrite(sessionId, after, engine.manifest.maxValueBytes);
}

async function rowsLeft(engine: StateEngine, owner: Owner, prefixes: readonly string[]): Promise<number> {
  const { ranges } = await engine.read(ownerPartition(owner), { ranges: prefixes.map((prefix) => ({ ...prefixRange(prefix), limit: 1 })) });
  return ranges.reduce((count, rows) => count + rows.length, 0);
}
