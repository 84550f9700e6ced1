import type { Owner } from "../domain/owner.js";
import type { NewRecord } from "../domain/session.js";
import { titleFrom } from "../domain/title.js";
import { searchable } from "../history/history.js";
import { AppError } from "../platform/errors.js";
import { derivedId } from "../platform/ids.js";
import type { ConversationHistory } from "../ports/history.js";
import { type SessionStore, underSessionLock } from "../ports/session-store.js";
import type { SessionWriter } from "../ports/session-writer.js";
import type { ImportLine } from "./import-line.js";

/** Records that are written at once: one sync of the disk for each batch. */
const BATCH = 256;

export interface SessionImportParts {
  readonly store: SessionStore;
  readonly writer: SessionWriter;
  readonly history: ConversationHistory;
  readonly lockWaitMs: number;
}

interface ImportedSession {
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
  return underSessionLock(parts.store.locks, owner, sessionId, { waitMs: parts.lockWaitMs, signal }, async (lease) => {
    const held = AbortSignal.any([signal, lease.signal]);
    const counts = await write(parts, session, held);
    await parts.history.addSession(owner, sessionId, searchable(parts.store, owner, sessionId), { signal: held });
    return counts;
  });
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

type MessageRecord = Extract<NewRecord, { type: "message" }>;

/** What a session's journal holds already, as far as an import needs it. */
interface KnownMessages {
  readonly ids: ReadonlySet<string>;
  readonly lastTurn: number;
  /** The last message's role when its turn still waits for an answer. */
  readonly openTurn: boolean;
}

/**
 * Gives imported lines their ids and turns: null for a line that is there already. The same line of the same conversation always has the
 * same id: from its own `message_id`, or from what it says and how often that was said before. A user's line opens a turn, the assistant's
 * line after it closes it; any other line is a turn of its own.
 */
function recordMaker(owner: Owner, sessionId: string, now: string, known: KnownMessages | null) {
  const ids = new Set(known?.ids);
  const occurrences = new Map<string, number>();
  let turn = known?.lastTurn ?? 0;
  let open = known?.openTurn ?? false;
  const idOf = ({ message_id, role, name = null, created_at, content }: ImportLine): string => {
    if (message_id !== undefined) return derivedId("message", owner, sessionId, "id", message_id);
    const said = JSON.stringify([role, name, created_at ?? null, content]);
    const before = occurrences.get(said) ?? 0;
    occurrences.set(said, before + 1);
    return derivedId("message", owner, sessionId, "said", said, before);
  };
  return (line: ImportLine): MessageRecord | null => {
    const { role, content, name = null, created_at: at, message_id, metadata } = line;
    const id = idOf(line);
    if (ids.has(id)) return null;
    ids.add(id);
    if (role !== "assistant" || !open) turn += 1;
    open = role === "user";
    return {
      type: "message",
      id,
      turn,
      // What was said can't lie ahead: it would hold only from then on. The line's own time is part of its id all the same.
      at: at === undefined || Date.parse(at) > Date.parse(now) ? now : at,
      body: {
        role,
        content,
        name,
        channel: "import",
        imported: true,
        ...(role === "assistant" ? { outcome: "completed" } : {}),
        ...(message_id === undefined ? {} : { external_id: message_id }),
        ...(metadata === undefined ? {} : { metadata: { custom: metadata } }),
      },
    };
  };
}
