import { z } from "zod";
import { partsOf } from "../domain/answer-part.js";
import type { Owner } from "../domain/owner.js";
import { isBlankFailure } from "../domain/recorded-turn.js";
import type { AnswerPart, JournalRecord, JsonObject, Message, MessageRecord, Session } from "../domain/session.js";
import { addTokens, type TokensByTask } from "../domain/tokens.js";
import { AppError } from "../platform/errors.js";
import { present } from "../platform/present.js";
import type { Thread } from "../ports/application.js";
import type { ChatAnswer, ThreadElement, ThreadStep } from "../ports/resources.js";
import type { Page, ShortTermMemory } from "../ports/session-store.js";

export interface MessageQuery {
  /** 1 to 200. Default 50. */
  readonly limit?: number;
  readonly cursor?: string;
  /** Oldest first is `asc`, the default. */
  readonly order?: "asc" | "desc";
}

/** Records behind a turn that are looked at for what its write-back cost. */
const LOOK_AHEAD = 50;

interface Position {
  readonly order: "asc" | "desc";
  /** Of the last message that was given. */
  readonly seq: number;
  /** Newest first: the newest record that there was then. */
  readonly newest: number;
}

/** Messages in the order asked for, one more than the page takes where there are more. */
interface Found {
  readonly messages: MessageRecord[];
  readonly writtenBack: Map<number, TokensByTask>;
  readonly newest: number;
}

/**
 * A page of what was said. A cursor names the last message that was given, so that a page stays what it was while the session grows.
 * Costs what the page holds, either way; a page of an order that goes on from a cursor also what came since.
 * @throws SESSION_NOT_FOUND, INVALID_CURSOR, INVALID_REQUEST
 */
export async function readMessages(
  journal: ShortTermMemory,
  owner: Owner,
  sessionId: string,
  query: MessageQuery,
  signal?: AbortSignal,
): Promise<Page<Message>> {
  const { limit = 50, order = "asc" } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > 200)
    throw new AppError("INVALID_REQUEST", { errors: [{ pointer: "/limit", detail: "1 to 200" }] });
  const after = query.cursor === undefined ? null : parseCursor(query.cursor, sessionId, order);
  const cancel = signal ? { signal } : {};
  const found =
    order === "asc"
      ? await oldestMessages(limit, journal.read(owner, sessionId, { fromSeq: (after?.seq ?? 0) + 1, ...cancel }))
      : await newestMessages(limit, after, (options) => journal.newestFirst(owner, sessionId, { ...options, ...cancel }));
  const { messages, writtenBack, newest } = found;
  const page = messages.slice(0, limit);
  const last = page.at(-1);
  return {
    data: page.map((record) => toMessage(withTokens(record, writtenBack.get(record.turn)))),
    nextCursor: messages.length > limit && last ? encodeCursor(sessionId, { order, seq: last.seq, newest }) : null,
  };
}

async function oldestMessages(limit: number, records: AsyncIterable<JournalRecord>): Promise<Found> {
  const found: Found = { messages: [], writtenBack: new Map(), newest: 0 };
  let ahead = 0;
  for await (const record of records) {
    if (record.type === "write_back_done" && record.body.tokens !== undefined) found.writtenBack.set(record.turn, record.body.tokens);
    if (found.messages.length > limit && ++ahead > LOOK_AHEAD) break;
    if (ahead === 0 && isShown(record)) found.messages.push(record);
  }
  return found;
}

async function newestMessages(
  limit: number,
  after: Position | null,
  newestFirst: (options: { readonly beforeSeq?: number }) => AsyncIterable<JournalRecord>,
): Promise<Found> {
  const messages: MessageRecord[] = [];
  const writtenBack = new Map<number, TokensByTask>();
  const before = after === null ? null : await goingOn(after, newestFirst({}));
  let newest = before?.newest ?? 0;
  // What a turn's write-back cost stands behind it.
  const options = before === null ? {} : { beforeSeq: before.seq + LOOK_AHEAD };
  for await (const record of newestFirst(options)) {
    newest = Math.max(newest, record.seq);
    if (record.type === "write_back_done" && record.body.tokens !== undefined && !writtenBack.has(record.turn))
      writtenBack.set(record.turn, record.body.tokens);
    if (isShown(record) && (before === null || record.seq < before.seq)) messages.push(record);
    if (messages.length > limit) break;
  }
  return { messages, writtenBack, newest };
}

/** Where a page goes on: at its cursor, or further back where the conversation was taken back behind it since. */
async function goingOn(after: Position, newestFirst: AsyncIterable<JournalRecord>): Promise<{ seq: number; newest: number }> {
  let { seq, newest } = after;
  for await (const record of newestFirst) {
    if (record.seq <= after.newest) break;
    newest = Math.max(newest, record.seq);
    if (record.type === "rewind") seq = Math.min(seq, record.body.to_seq + 1);
  }
  return { seq, newest };
}

function isShown(record: JournalRecord): record is MessageRecord {
  return record.type === "message" && !isBlankFailure(record);
}

/** An answer, with what its turn's write-back cost beside what is kept with it. */
function withTokens(record: MessageRecord, more: TokensByTask | undefined): MessageRecord {
  const { role, metadata } = record.body;
  if (more === undefined || role !== "assistant" || metadata.tokens === undefined) return record;
  const { chat, extraction, embeddings, ...rest } = metadata.tokens;
  const own = { ...(chat && { chat }), ...(extraction && { extraction }), ...(embeddings && { embeddings }) };
  return { ...record, body: { ...record.body, metadata: { ...metadata, tokens: { ...rest, ...addTokens(own, more) } } } };
}

/** A message by its id, whether or not a rewind took it back; null where there is none. Reads the journal up to it, once. */
export async function findMessage(journal: ShortTermMemory, owner: Owner, sessionId: string, messageId: string): Promise<Message | null> {
  for await (const record of journal.read(owner, sessionId, { includeRewound: true })) {
    if (record.type === "message" && record.id === messageId) return toMessage(record);
  }
  return null;
}

/** A message as clients read it. Its metadata also tells a turn that did not end well, and who spoke where a name is known. */
function toMessage(record: MessageRecord): Message {
  const { role, content, metadata, outcome, error_code, name, imported, external_id, images } = record.body;
  const ended = outcome === "completed" ? undefined : outcome;
  const notes = present({ ...metadata, outcome: ended, error_code, name: name ?? undefined, imported, external_id });
  const parts = role === "assistant" ? partsOf({ ...record.body, toConfirm: record.body.memory?.to_confirm }) : [];
  return {
    id: record.id,
    turn: record.turn,
    role,
    content,
    created_at: record.at,
    metadata: notes as JsonObject,
    ...(images !== undefined && { images }),
    ...(parts.some(({ type }) => type !== "text") && { parts }),
  };
}

const cursorSchema = z.tuple([
  z.string(),
  z.enum(["asc", "desc"]),
  z.number().int().nonnegative(),
  z.number().int().nonnegative().optional(),
]);

function encodeCursor(sessionId: string, { order, seq, newest }: Position): string {
  const position = order === "asc" ? [sessionId, order, seq] : [sessionId, order, seq, newest];
  return Buffer.from(JSON.stringify(position)).toString("base64url");
}

function parseCursor(cursor: string, sessionId: string, order: "asc" | "desc"): Position {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch (cause) {
    throw new AppError("INVALID_CURSOR", { cause });
  }
  const parsed = cursorSchema.safeParse(value);
  if (!parsed.success || parsed.data[0] !== sessionId || parsed.data[1] !== order) throw new AppError("INVALID_CURSOR");
  const [, , seq, newest = seq] = parsed.data;
  return { order, seq, newest };
}

type TurnMemory = ChatAnswer["memory"];

/**
 * Everything that a client needs to show a session again as it was: messages and tool calls in order, and the elements that the
 * answers showed, each with the message under which it stood. One that an answer showed more than once is there once for it, as it
 * was shown last; one that several answers showed is there for each of them. `forgotten`: ids of memories that are told no more.
 */
export async function threadOf(
  session: Session,
  records: AsyncIterable<JournalRecord>,
  forgotten: ReadonlySet<string> = new Set(),
): Promise<Thread> {
  const steps: ThreadStep[] = [];
  const elements: ThreadElement[] = [];
  for await (const record of records) {
    const step = threadStep(record, forgotten);
    if (step) steps.push(step);
    if (record.type !== "message") continue;
    const shown = new Map(record.body.elements?.map((element) => [element.id, { ...element, for_id: record.id }]));
    elements.push(...shown.values());
  }
  return { session, steps, elements };
}

function threadStep(record: JournalRecord, forgotten: ReadonlySet<string>): ThreadStep | null {
  if (record.type === "step") {
    const { id, name, input, output, error, started_at } = record.body;
    return { id, type: "tool_call", name, input, output: error === null ? output : { error }, created_at: started_at };
  }
  if (record.type !== "message" || isBlankFailure(record)) return null;
  const { role, content, name } = record.body;
  return {
    id: record.id,
    type: role === "user" ? "user_message" : "assistant_message",
    // A thread knows two kinds of message; a system line is told apart by its name.
    ...(role === "system" ? { name: name ?? "system" } : name === null ? {} : { name }),
    output: content,
    created_at: record.at,
    ...(record.body.images !== undefined && { images: record.body.images }),
    ...(record.body.outcome !== undefined && record.body.outcome !== "completed" && { outcome: record.body.outcome }),
    ...(role === "assistant" && { parts: partsIn(record, forgotten) }),
    ...(record.body.memory !== undefined && { memory: stillTold(record.body.memory, forgotten) }),
  };
}

function partsIn({ body }: MessageRecord, forgotten: ReadonlySet<string>): readonly AnswerPart[] {
  return partsOf({ ...body, toConfirm: body.memory && stillTold(body.memory, forgotten).to_confirm });
}

function stillTold(memory: TurnMemory, forgotten: ReadonlySet<string>): TurnMemory {
  const told = ({ id }: { readonly id: string }) => !forgotten.has(id);
  const { to_confirm, recalled, used } = memory;
  return { ...memory, to_confirm: to_confirm.filter(told), recalled: recalled.filter(told), used: used.filter((id) => !forgotten.has(id)) };
}
