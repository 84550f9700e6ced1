import type { Owner } from "../domain/owner.js";
import type { NewRecord } from "../domain/session.js";
import { titleFrom } from "../domain/title.js";
import { searchable } from "../history/history.js";
import { AppError } from "../platform/errors.js";
import { derivedId } from "../platform/ids.js";
import type { ConversationHistory } from "../ports/history.js";
import { type SessionStore, sessionLockKey } from "../ports/session-store.js";
import type { SessionWriter } from "../ports/session-writer.js";
import type { ImportLine } from "./import-line.js";
import { type KnownMessages, recordMaker } from "./imported-records.js";

/** Records that are written at once: one sync of the disk for each batch. */
const BATCH = 256;

export interface SessionImportParts {
  readonly store: SessionStore;
  readonly writer: SessionWriter;
  readonly history: ConversationHistory;
  readonly lockWaitMs: number;
}

export interface ImportedSession {
  readonly owner: Owner;
  readonly sessionId: string;
  readonly externalId: string;
  readonly title: string | null;
  readonly now: string;
  readonly lines: AsyncIterable<ImportLine>;
  readonly signal: AbortSignal;
  readonly onMessage: () => void;
}

/** @throws SESSION_HAS_LIVE_TURNS, SESSION_NOT_ACTIVE for a session that can't take an import */
export async function checkImportable(store: SessionStore, owner: Owner, sessionId: string): Promise<KnownMessages | null> {
  const session = await store.index.get(owner, sessionId);
  if (session === null) return null;
  if (session.status !== "active") throw new AppError("SESSION_NOT_ACTIVE", { detail: `The session ${sessionId} is ${session.status}.` });
  const ids = new Set<string>();
  let lastTurn = 0;
  let openTurn = false;
  for await (const record of store.journal.read(owner, sessionId, { includeRewound: true })) {
    if (record.type !== "message") continue;
    if (record.body.imported !== true) throw new AppError("SESSION_HAS_LIVE_TURNS", { detail: `The session ${sessionId} has live turns.` });
    ids.add(record.id);
    lastTurn = Math.max(lastTurn, record.turn);
    openTurn = record.body.role === "user";
  }
  return { ids, lastTurn, openTurn };
}

/**
 * Writes one conversation: journal, index, then the search index from the journal, so that an import that was broken off is completed
 * by the next one of the same file. Under the session's lock. Returns how many messages are new.
 */
export async function importSession(parts: SessionImportParts, session: ImportedSession): Promise<{ added: number; skipped: number }> {
  const { owner, sessionId, signal } = session;
  const lease = await parts.store.locks.acquire(sessionLockKey(owner, sessionId), { waitMs: parts.lockWaitMs, signal, owner });
  try {
    const held = AbortSignal.any([signal, lease.signal]);
    const counts = await write(parts, session, held);
    await parts.history.addSession(owner, sessionId, searchable(parts.store, owner, sessionId), { signal: held });
    return counts;
  } finally {
    await lease.release();
  }
}

async function write(
  { store, writer }: SessionImportParts,
  session: ImportedSession,
  signal: AbortSignal,
): Promise<{ added: number; skipped: number }> {
  const { owner, sessionId, now } = session;
  const known = await checkImportable(store, owner, sessionId);
  const recordOf = recordMaker(owner, sessionId, now, known);
  let started = known !== null;
  let added = 0;
  let skipped = 0;
  let batch: NewRecord[] = [];
  const flush = async () => {
    signal.throwIfAborted();
    if (batch.length > 0 && started) await writer.append(owner, sessionId, batch);
    else if (batch.length > 0) await writer.create(owner, sessionId, [...opening(session, batch), ...batch]);
    started ||= batch.length > 0;
    batch = [];
  };
  for await (const line of session.lines) {
    const record = recordOf(line);
    if (record === null) skipped += 1;
    else {
      batch.push(record);
      added += 1;
    }
    session.onMessage();
    if (batch.length >= BATCH) await flush();
  }
  await flush();
  return { added, skipped };
}

/**
 * The session's first records. It is as old as the import, lest retention take it at once, and is called what its first message
 * says unless it has a name.
 */
function opening({ owner, sessionId, externalId, title, now }: ImportedSession, messages: readonly NewRecord[]): NewRecord[] {
  const said = messages.flatMap((record) => (record.type === "message" ? [record] : []));
  const first = said.find(({ body }) => body.role === "user") ?? said[0];
  return [
    {
      type: "session",
      id: derivedId("message", owner, sessionId, "session"),
      turn: 0,
      at: now,
      body: { owner, external_id: externalId, title },
    },
    ...(title !== null || first === undefined
      ? []
      : [
          {
            type: "session_patch" as const,
            id: derivedId("message", owner, sessionId, "title"),
            turn: 0,
            at: now,
            body: { title: titleFrom(first.body.content), by: "derived" as const },
          },
        ]),
  ];
}
