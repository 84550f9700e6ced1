import type { BookingReceipt } from "../domain/booking-receipt.js";
import {
  EXPORT_FORMAT,
  EXPORT_VERSION,
  type ExportedMemory,
  type ExportedMessage,
  type ExportedSession,
  type ExportedStep,
  type ExportedTombstone,
  type ExportedUser,
} from "../domain/export-format.js";
import type { Memory } from "../domain/memory.js";
import { turnsOffRecord } from "../domain/off-record.js";
import type { Owner } from "../domain/owner.js";
import { type JournalRecord, type MessageRecord, type RecordOf, SESSION_STATUSES, type Session } from "../domain/session.js";
import { provenanceOf } from "../domain/session-provenance.js";
import { collected } from "../platform/collected.js";
import { insteadOf } from "../platform/errors.js";
import { present } from "../platform/present.js";
import type { DomainRecords } from "../ports/agent.js";
import type { Memories, MemoryAdministration } from "../ports/memories.js";
import type { OwnerLedger, Tombstone, UserRecord } from "../ports/owner-ledger.js";
import { everyItem } from "../ports/pages.js";
import type { SessionStore } from "../ports/session-store.js";

type ExportedMemories = Pick<MemoryAdministration, "all"> & Pick<Memories, "history">;

export interface ExportParts {
  readonly store: Pick<SessionStore, "journal" | "index" | "images">;
  readonly longTerm: ExportedMemories;
  /** Null when the domain keeps nothing of its users. */
  readonly records: DomainRecords | null;
  readonly ledger: OwnerLedger;
  /** Who was seen. Default: as the ledger has them. */
  readonly user?: OwnerLedger["user"];
  /** Of bookings. Default: none are kept. */
  readonly receipts?: ReceiptList;
}

interface ReceiptList {
  /** Newest first. */
  list(owner: Owner, limit: number): Promise<readonly BookingReceipt[]>;
}

/** Of one export. The last. */
const MAX_RECEIPTS = 10_000;

export interface ExportCounts {
  sessions: number;
  messages: number;
  memories: number;
  records: number;
}

/**
 * The export of one user as JSON text, in pieces of at most a session's head, one message or one image. What fails at the
 * first read fails before the first piece. `counts` is filled as it goes.
 */
export async function* exportDocument(parts: ExportParts, owner: Owner, now: Date, counts: ExportCounts): AsyncGenerator<string> {
  const memories = memoriesOf(parts.longTerm, owner);
  const firstMemory = await memories.next();
  const user = await (parts.user?.(owner) ?? parts.ledger.user(owner));
  const head = { format: EXPORT_FORMAT, version: EXPORT_VERSION, exported_at: now.toISOString(), user: user && exportedUser(user) };
  yield `${JSON.stringify(head).slice(0, -1)},\n"sessions":[`;
  let separator = "\n";
  for await (const session of everySession(parts.store, owner)) {
    yield separator;
    yield* sessionDocument(parts.store, owner, session, counts);
    separator = ",\n";
    counts.sessions += 1;
  }
  yield '\n],\n"memories":[';
  yield* jsonItems(rest(firstMemory, memories), () => {
    counts.memories += 1;
  });
  yield `\n],\n"forgotten":${JSON.stringify((await parts.ledger.tombstones(owner)).map(exportedTombstone))},\n"records":{`;
  if (parts.records) {
    yield `${JSON.stringify(parts.records.name)}:[`;
    yield* jsonItems(parts.records.export(owner), () => {
      counts.records += 1;
    });
    yield "\n]";
  }
  const receipts = (await parts.receipts?.list(owner, MAX_RECEIPTS)) ?? [];
  yield `},\n"receipts":${JSON.stringify(receipts.toReversed())}}\n`;
}

async function* sessionDocument(store: ExportParts["store"], owner: Owner, session: Session, counts: ExportCounts): AsyncGenerator<string> {
  const standing = new Set<string>();
  let summary: RecordOf<"summary"> | null = null;
  for await (const record of store.journal.read(owner, session.id)) {
    standing.add(record.id);
    if (record.type === "summary") summary = record;
  }
  const records = await collected(store.journal.read(owner, session.id, { includeRewound: true }));
  const offRecord = turnsOffRecord(records.filter(({ id }) => standing.has(id)));
  const steps = records.flatMap((record) => (record.type === "step" ? [exportedStep(record, !standing.has(record.id))] : []));
  yield `${JSON.stringify(sessionHead(session, records)).slice(0, -1)},"messages":[`;
  let separator = "\n";
  for (const record of records) {
    if (record.type !== "message") continue;
    yield separator;
    yield* messageDocument(store, owner, session.id, exportedMessage(record, !standing.has(record.id), offRecord), record);
    separator = ",\n";
    counts.messages += 1;
  }
  yield `],"steps":${JSON.stringify(steps)},"summary":${JSON.stringify(summary && exportedSummary(summary))}}`;
}

function sessionHead(session: Session, records: readonly JournalRecord[]): Omit<ExportedSession, "messages" | "steps" | "summary"> {
  const known = provenanceOf(records);
  return {
    id: session.id,
    external_id: known.externalId,
    title: known.title,
    title_by: known.titleBy,
    topic: known.topic,
    topic_by: known.topicBy,
    tags: [...known.tags],
    tags_by: known.tagsBy,
    status: known.status,
    status_since: known.statusSince,
    status_before_delete: known.statusBeforeDelete,
    created_at: known.createdAt,
    updated_at: session.updated_at,
    expires_at: known.expiresAt,
    agent_type: known.agentType,
    metadata: known.metadata,
    forked_from: known.forkedFrom,
  };
}

/** A message, and in pieces of their own its images, with their bytes where they are kept here. */
async function* messageDocument(
  { images }: ExportParts["store"],
  owner: Owner,
  sessionId: string,
  message: ExportedMessage,
  { body }: MessageRecord,
): AsyncGenerator<string> {
  const json = JSON.stringify(message);
  if (body.images === undefined) return yield json;
  yield `${json.slice(0, -1)},"images":[`;
  for (const [at, image] of body.images.entries()) {
    const data = image.url === undefined ? await images.get(owner, sessionId, image.id) : null;
    yield `${at === 0 ? "" : ","}${JSON.stringify(image).slice(0, -1)}`;
    if (data !== null) yield `,"data":"${Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64")}"`;
    yield "}";
  }
  yield "]}";
}

function exportedMessage(record: MessageRecord, rewound: boolean, offRecord: ReadonlySet<number>): ExportedMessage {
  const { body } = record;
  const { outcome, error_code, elements, placed, memory, timing, page_context, time_zone } = body;
  const { in_history, edit_of, imported, ingested, interim, item, external_id, origin_id } = body;
  return {
    id: record.id,
    turn: record.turn,
    role: body.role,
    content: body.content,
    name: body.name,
    channel: body.channel,
    created_at: record.at,
    metadata: body.metadata,
    ...present({ outcome, error_code, elements, placed, memory, timing, page_context, time_zone }),
    remember: body.remember && !offRecord.has(record.turn),
    ...present({ in_history, edit_of, imported, ingested, interim, item, external_id, origin_id }),
    rewound,
  };
}

function exportedStep({ turn, body }: RecordOf<"step">, rewound: boolean): ExportedStep {
  return { turn, rewound, ...body };
}

function exportedSummary({ id, at, body }: RecordOf<"summary">): NonNullable<ExportedSession["summary"]> {
  const { text, from_turn, to_turn, by, final, searchable } = body;
  return { id, created_at: at, text, from_turn, to_turn, by, final, ...(typeof searchable === "string" && { searchable }) };
}

function exportedUser(user: UserRecord): ExportedUser {
  return {
    display_name: user.displayName,
    provider: user.provider,
    time_zone: user.timeZone,
    first_seen_at: user.firstSeenAt,
    last_seen_at: user.lastSeenAt,
  };
}

function exportedTombstone({ memoryId, messageIds, askedIn, textHash, hashOf, at }: Tombstone): ExportedTombstone {
  const optional = present({ asked_in: askedIn && [...askedIn], hash_of: hashOf });
  return { memory_id: memoryId, message_ids: [...messageIds], text_hash: textHash, at, ...optional };
}

/** Every session of every status, once, newest activity first within a status. */
async function* everySession(store: ExportParts["store"], owner: Owner): AsyncGenerator<Session> {
  const seen = new Set<string>();
  for (const status of SESSION_STATUSES) {
    for await (const session of everyItem((at) => store.index.list(owner, { status, limit: 200, ...at }))) {
      if (seen.has(session.id)) continue;
      seen.add(session.id);
      yield session;
    }
  }
}

/** None where long-term memory is off and was never on. */
async function* memoriesOf(longTerm: ExportedMemories, owner: Owner): AsyncGenerator<ExportedMemory> {
  try {
    for await (const memory of longTerm.all(owner)) yield await withHistory(longTerm, owner, memory);
  } catch (error) {
    insteadOf("LONG_TERM_MEMORY_DISABLED", undefined)(error);
  }
}

/** Memory that is switched off is still exported, without what happened to it. */
async function withHistory(longTerm: ExportedMemories, owner: Owner, memory: Memory): Promise<ExportedMemory> {
  const history = await longTerm.history(owner, memory.id).catch(insteadOf(["LONG_TERM_MEMORY_DISABLED", "MEMORY_NOT_FOUND"], []));
  return { ...memory, entities: [...memory.entities], tags: [...memory.tags], history: [...history] };
}

async function* rest<T>(first: IteratorResult<T>, others: AsyncGenerator<T>): AsyncGenerator<T> {
  if (first.done === true) return;
  yield first.value;
  yield* others;
}

async function* jsonItems(items: AsyncIterable<unknown>, onItem: () => void): AsyncGenerator<string> {
  let separator = "\n";
  for await (const item of items) {
    yield `${separator}${JSON.stringify(item)}`;
    separator = ",\n";
    onItem();
  }
}
