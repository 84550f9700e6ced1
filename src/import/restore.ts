import { type ExportDocument, parseExport } from "../domain/export-format.js";
import { importedSessionId, type Owner } from "../domain/owner.js";
import { addWholeSession } from "../history/history.js";
import { type ErrorDetail, insteadOf, isAppError } from "../platform/errors.js";
import { isId, newId } from "../platform/ids.js";
import { present } from "../platform/present.js";
import { isTimeZone } from "../platform/time-zone.js";
import type { DomainRecords } from "../ports/agent.js";
import type { ImportResult } from "../ports/application.js";
import type { MemoryAdministration } from "../ports/memories.js";
import type { OwnerLedger } from "../ports/owner-ledger.js";
import { type SessionStore, underSessionLock } from "../ports/session-store.js";
import { bornOut, journalParts, type RestorableSession, withRestorableImages } from "./restored-journal.js";
import type { SessionImportParts } from "./session-import.js";

export interface RestoreParts extends SessionImportParts {
  readonly longTerm: Pick<MemoryAdministration, "restore">;
  readonly ledger: OwnerLedger;
  /** Null when the domain keeps nothing of its users. */
  readonly records: DomainRecords | null;
}

/** A receipt says what was checked here: one that anybody may have written is none. */
const RECEIPTS_STAY = "Receipts of bookings stay in the file, where `maitred verify` checks them: nothing of it was checked here.";

export interface Restored {
  readonly result: ImportResult;
  readonly sessionIds: readonly string[];
}

/**
 * Takes an export back: what was forgotten first, so that nothing of it returns; then memories, sessions, the domain's records and the
 * user's own. What is there already is passed over, so that it can be repeated. A session keeps its id unless somebody else has it.
 * @throws INVALID_IMPORT before anything is kept
 */
export async function restoreExport(
  parts: RestoreParts,
  owner: Owner,
  document: unknown,
  options: { readonly signal: AbortSignal; readonly onProgress?: (done: number, total: number) => void },
): Promise<Restored> {
  const exported = parseExport(document);
  await restoreForgotten(parts, owner, exported);
  const leftOut = await restoreMemories(parts, owner, exported);
  const total = exported.sessions.reduce((sum, { messages }) => sum + messages.length, 0);
  const sessionIds: string[] = [];
  let [messages, skipped] = [0, 0];
  for (const [at, session] of exported.sessions.entries()) {
    options.signal.throwIfAborted();
    const restorable = await withRestorableImages(session, `/sessions/${at}`);
    leftOut.push(...restorable.leftOut);
    const restored = await restoreSession(parts, owner, restorable, options.signal);
    await addWholeSession(parts, owner, restored.sessionId, options.signal);
    sessionIds.push(restored.sessionId);
    if (restored.isNew) messages += session.messages.length;
    else skipped += session.messages.length;
    options.onProgress?.(messages + skipped, total);
  }
  if (parts.records !== null) leftOut.push(...(await restoreRecords(parts.records, owner, exported)));
  if (exported.receipts.length > 0) leftOut.push({ pointer: "/receipts", detail: RECEIPTS_STAY });
  await restoreUser(parts, owner, exported);
  const result = { sessions: sessionIds.length, messages, skipped_duplicates: skipped };
  return { result: leftOut.length === 0 ? result : { ...result, left_out: leftOut }, sessionIds };
}

async function restoreForgotten({ ledger }: RestoreParts, owner: Owner, { forgotten }: ExportDocument): Promise<void> {
  const known = new Set((await ledger.tombstones(owner)).map(({ memoryId }) => memoryId));
  for (const { memory_id, message_ids, asked_in, text_hash, hash_of, at } of forgotten) {
    const optional = present({ askedIn: asked_in, hashOf: hash_of as Owner | undefined });
    const tombstone = { memoryId: memory_id, messageIds: message_ids, textHash: text_hash, at, ...optional };
    if (!known.has(memory_id)) await ledger.addTombstone(owner, tombstone);
  }
}

/** Without effect where long-term memory is off: the rest of an export is worth having. Returns what was refused. */
async function restoreMemories({ longTerm }: RestoreParts, owner: Owner, { memories, sessions }: ExportDocument): Promise<ErrorDetail[]> {
  const leftOut: ErrorDetail[] = [];
  const onLeftOut = (at: number, detail: string) => void leftOut.push({ pointer: `/memories/${at}`, detail });
  if (memories.length > 0)
    await longTerm.restore(owner, bornOut(memories, sessions), { onLeftOut }).catch(insteadOf("LONG_TERM_MEMORY_DISABLED", 0));
  return leftOut;
}

/** What the domain did not take. */
async function restoreRecords(records: DomainRecords, owner: Owner, exported: ExportDocument): Promise<ErrorDetail[]> {
  const given = exported.records[records.name] ?? [];
  await records.restore(owner, given);
  const left = (given.length > 0 && (await records.leftOut?.(owner, given))) || [];
  return left.map(({ at, detail }) => ({ pointer: `/records/${records.name}/${at}`, detail }));
}

async function restoreUser({ ledger }: RestoreParts, owner: Owner, { user }: ExportDocument): Promise<void> {
  if (user === null) return;
  const known = {
    ...(user.display_name === null ? {} : { displayName: user.display_name }),
    ...(user.provider === null ? {} : { provider: user.provider }),
    ...(user.time_zone === null || !isTimeZone(user.time_zone) ? {} : { timeZone: user.time_zone }),
  };
  await ledger.seen(owner, { at: user.first_seen_at, ...known });
  await ledger.seen(owner, { at: user.last_seen_at, ...known });
}

/** Under the session's own id, or, where somebody else has a session of that id, under one that follows from it. */
async function restoreSession(
  parts: RestoreParts,
  owner: Owner,
  restorable: RestorableSession,
  signal: AbortSignal,
): Promise<{ sessionId: string; isNew: boolean }> {
  const { session } = restorable;
  const derived = importedSessionId(owner, session.id);
  for (const sessionId of isId(session.id) ? [session.id, derived] : [derived]) {
    try {
      return { sessionId, isNew: await writeSession(parts, owner, sessionId, restorable, signal) };
    } catch (error) {
      if (sessionId === derived || !isAppError(error, "SESSION_CHANGED")) throw error;
      await parts.store.images.removeSession(owner, sessionId);
    }
  }
  return { sessionId: derived, isNew: false };
}

/** False when it is there already. One that a broken-off import left half-written is written anew. */
async function writeSession(
  { store, writer, lockWaitMs }: RestoreParts,
  owner: Owner,
  sessionId: string,
  { session, images }: RestorableSession,
  signal: AbortSignal,
): Promise<boolean> {
  return underSessionLock(store.locks, owner, sessionId, { waitMs: lockWaitMs, signal }, async () => {
    const there = await messageIds(store, owner, sessionId);
    if (there !== null) {
      const exported = new Set(session.messages.map(({ id }) => id));
      const broken = there.size < exported.size && [...there].every((id) => exported.has(id));
      if (!broken) return false;
      await store.journal.remove(owner, sessionId);
      await store.index.remove(owner, sessionId);
    }
    for (const [id, data] of images) await store.images.put(owner, sessionId, id, data);
    let lastSeq = 0;
    for (const { rewound, records } of journalParts(owner, sessionId, session)) {
      if (records.length === 0) continue;
      const written = lastSeq === 0 ? await writer.create(owner, sessionId, records) : await writer.append(owner, sessionId, records);
      const before = lastSeq;
      lastSeq = written.at(-1)?.seq ?? lastSeq;
      if (!rewound) continue;
      const { turn, at } = records.at(-1) ?? { turn: 0, at: session.updated_at };
      await writer.append(owner, sessionId, [{ type: "rewind", id: newId(), turn, at, body: { to_seq: before, to_offset: 0 } }]);
      lastSeq += 1;
    }
    return true;
  });
}

/** Null where the owner has no such session. */
async function messageIds(store: SessionStore, owner: Owner, sessionId: string): Promise<ReadonlySet<string> | null> {
  const ids = new Set<string>();
  try {
    for await (const record of store.journal.read(owner, sessionId, { includeRewound: true }))
      if (record.type === "message") ids.add(record.id);
    return ids;
  } catch (error) {
    return insteadOf("SESSION_NOT_FOUND", null)(error);
  }
}
