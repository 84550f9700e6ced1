import type { Owner } from "../../domain/owner.js";
import { hasNoAnswer, isAnswer, isBlankFailure } from "../../domain/recorded-turn.js";
import type { JournalRecord, MessageRecord, RecordOf, Session, SessionStatus } from "../../domain/session.js";
import { titleFrom } from "../../domain/title.js";
import { NO_USAGE, type TokensByTask, usageWith } from "../../domain/tokens.js";
import type { IdempotencyEntry } from "../../ports/session-store.js";

/** What an index keeps of a session: the fold of its journal, beside what {@link Effect}s put into tables. */
export interface SessionState {
  readonly owner: Owner;
  readonly indexedSeq: number;
  readonly session: Omit<Session, "write_back" | "status_since">;
  readonly statusSince: string;
  readonly statusBeforeDelete: SessionStatus | null;
  /** Fields that the user set: derived values don't replace them. */
  readonly ownValues: readonly string[];
  /** Seq of the user message that the conversation opens with: a derived title goes when it is taken back. */
  readonly openedBy: number | null;
  /** The newest turns that may have a write-back, oldest first. */
  readonly turns: readonly TurnState[];
}

/** Seqs of the user message and of the completed answer. Without names: up to 64 are written with every record of a session. */
export type TurnState = readonly [turn: number, seq: number, writeBack: boolean, answeredSeq: number | null];

/** The conversation as it was right after a record. */
export interface Standing {
  /** As clients read them: without the marks of turns that never came to a word. */
  readonly messageCount: number;
  readonly openedBy: number | null;
  readonly summary: { readonly text: string; readonly at: string } | null;
}

/** The conversation before its first record. */
export const NOTHING: Standing = { messageCount: 0, openedBy: null, summary: null };

export type Effect =
  | { readonly kind: "standing"; readonly seq: number; readonly standing: Standing }
  | { readonly kind: "idempotency"; readonly key: string; readonly entry: IdempotencyEntry }
  /** `seq` is that of the turn's user message. */
  | { readonly kind: "pending"; readonly turn: number; readonly seq: number; readonly answeredSeq: number; readonly atMs: number }
  | { readonly kind: "done"; readonly turn: number }
  | { readonly kind: "failed"; readonly turn: number; readonly attempts: number; readonly errorCode: string | null }
  | { readonly kind: "taken_back"; readonly toSeq: number };

export interface Folded {
  readonly state: SessionState;
  readonly effects: readonly Effect[];
}

/** One that failed and is answered after all when so many have followed it is not written back. */
const MAX_TURNS = 64;

/**
 * One record folded in. Pure: the same records in the same order give the same state, on every backend. Null where
 * there is nothing to fold it into, or it was folded in before.
 */
export function foldSession(
  state: SessionState | null,
  sessionId: string,
  record: JournalRecord,
  standingAt: (seq: number) => Standing,
): Folded | null {
  if (state === null) return record.type === "session" ? begin(sessionId, record) : null;
  if (record.seq <= state.indexedSeq) return null;
  const next = { ...state, indexedSeq: record.seq, session: withTokens(state.session, record) };
  switch (record.type) {
    case "message":
      return message(next, record);
    case "summary":
      return withStanding(next, record.seq, {
        ...standingOf(next),
        summary: { text: record.body.text, at: record.at },
      });
    case "rewind":
      return rewind(next, record, standingAt);
    case "session_patch":
      return { state: patch(next, record), effects: requestOf(sessionId, record) };
    case "write_back_done":
      return { state: next, effects: [done(record)] };
    case "step":
    case "off_record":
    case "session":
      return { state: next, effects: [] };
  }
}

function begin(sessionId: string, { seq, at, body }: RecordOf<"session">): Folded {
  const state: SessionState = {
    // Written through the owner port only.
    owner: body.owner as Owner,
    indexedSeq: seq,
    session: {
      id: sessionId,
      external_id: body.external_id,
      title: body.title,
      status: "active",
      created_at: at,
      updated_at: at,
      expires_at: body.expires_at,
      message_count: 0,
      summary: null,
      summary_updated_at: null,
      topic: null,
      tags: [],
      agent_type: body.agent_type,
      metadata: body.metadata,
      usage: NO_USAGE,
    },
    statusSince: at,
    statusBeforeDelete: null,
    ownValues: body.title === null ? [] : ["title"],
    openedBy: null,
    turns: [],
  };
  return withStanding(state, seq, standingOf(state));
}

/** What a record says was spent. Copies (forks, imports) were paid for elsewhere. */
function withTokens(session: SessionState["session"], record: JournalRecord): SessionState["session"] {
  const tokens = tokensOf(record);
  return tokens === undefined ? session : { ...session, usage: usageWith(session.usage, tokens) };
}

function tokensOf(record: JournalRecord): TokensByTask | undefined {
  switch (record.type) {
    case "message": {
      const { metadata, origin_id, imported } = record.body;
      if (metadata.tokens === undefined || origin_id !== undefined || imported === true) return undefined;
      const { input_tokens: input, cached_tokens: cached = 0, output_tokens: output, calls = 1, ...byTask } = metadata.tokens;
      const { chat = { calls, input, cached, output }, extraction, embeddings } = byTask;
      return { ...(chat.input + chat.output > 0 && { chat }), ...(extraction && { extraction }), ...(embeddings && { embeddings }) };
    }
    case "summary":
    case "session_patch":
    case "write_back_done":
      return record.body.tokens;
    default:
      return undefined;
  }
}

function message(state: SessionState, record: MessageRecord): Folded {
  const { role, imported, origin_id, remember } = record.body;
  const { title } = role === "user" ? named(state, record) : state.session;
  const active = { ...state, session: { ...state.session, title, updated_at: later(state.session.updated_at, record.at) } };
  const before = standingOf(state);
  const counted = withStanding(active, record.seq, {
    ...before,
    messageCount: before.messageCount + (isBlankFailure(record) ? 0 : 1),
    openedBy: before.openedBy ?? (role === "user" ? record.seq : null),
  });
  const copied = imported === true || origin_id !== undefined;
  if (role === "user") {
    const waiting: TurnState = [record.turn, record.seq, remember && !copied, null];
    const turns = [...state.turns.filter(([turn]) => turn !== record.turn), waiting].slice(-MAX_TURNS);
    const effects = [...counted.effects, ...requestOf(state.session.id, record), ...pendingAtOnce(record)];
    return { state: { ...counted.state, turns }, effects };
  }
  if (record.body.ingested === true) return { state: counted.state, effects: [...counted.effects, ...pendingAtOnce(record)] };
  const unanswered = hasNoAnswer(record);
  if (!isAnswer(record) && !unanswered) return counted;
  const asked = state.turns.find(([turn]) => turn === record.turn);
  if (asked === undefined) return counted;
  const [turn, seq, writeBack, answeredBefore] = asked;
  if (answeredBefore !== null) return counted;
  // What was said in a turn that ended badly was said all the same; where it is answered after all, it is pending once more.
  const answeredSeq = unanswered ? null : record.seq;
  const turns = state.turns.map((each): TurnState => (each === asked ? [turn, seq, writeBack, answeredSeq] : each));
  const pending: Effect = { kind: "pending", turn, seq, answeredSeq: record.seq, atMs: Date.parse(record.at) };
  const effects = writeBack && !copied ? [...counted.effects, pending] : counted.effects;
  return { state: { ...counted.state, turns }, effects };
}

/** The requests that records came with, where they had a key. Copies bring none. */
export function requestsIn(
  sessionId: string,
  records: readonly JournalRecord[],
): readonly { readonly key: string; readonly entry: IdempotencyEntry }[] {
  return records.flatMap((record) => {
    if (record.type !== "session_patch" && !(record.type === "message" && record.body.role === "user")) return [];
    const { id: messageId, turn, at, body } = record;
    if (body.idempotency === undefined || body.imported === true || body.origin_id !== undefined) return [];
    const { key, request_hash: requestHash } = body.idempotency;
    return [{ key, entry: { sessionId, turn, messageId, requestHash, at } }];
  });
}

function requestOf(sessionId: string, record: JournalRecord): readonly Effect[] {
  return requestsIn(sessionId, [record]).map((request) => ({ kind: "idempotency", ...request }));
}

/** Where another agent leads the conversation a message waits for no answer, and what is said later makes its turn pending again. */
function pendingAtOnce({ turn, seq, at, body }: MessageRecord): Effect[] {
  const { ingested, remember, content, origin_id } = body;
  if (ingested !== true || !remember || content === "" || origin_id !== undefined) return [];
  return [{ kind: "pending", turn, seq, answeredSeq: seq, atMs: Date.parse(at) }];
}

/** A session that has no name is called what its user says next. */
function named({ session, ownValues }: SessionState, { body }: MessageRecord): Pick<Session, "title"> {
  return { title: session.title === null && !ownValues.includes("title") ? titleFrom(body.content) : session.title };
}

function rewind(state: SessionState, record: RecordOf<"rewind">, standingAt: (seq: number) => Standing): Folded {
  const toSeq = record.body.to_seq;
  const standing = standingAt(toSeq);
  const nameless = standing.openedBy !== state.openedBy && !state.ownValues.includes("title");
  const titled = nameless ? { ...state, session: { ...state.session, title: null } } : state;
  const back = withStanding(titled, record.seq, standing);
  const turns = state.turns
    .filter(([, seq]) => seq <= toSeq)
    .map(([turn, seq, writeBack, answeredSeq]): TurnState => [turn, seq, writeBack, (answeredSeq ?? 0) > toSeq ? null : answeredSeq]);
  return { state: { ...back.state, turns }, effects: [...back.effects, { kind: "taken_back", toSeq }] };
}

function patch(state: SessionState, { at, body }: RecordOf<"session_patch">): SessionState {
  const { by, title, topic, tags, agent_type, metadata, status, expires_at } = body;
  const given = Object.entries({ title, topic, tags, agent_type, metadata, expires_at }).filter(([, value]) => value !== undefined);
  const taken = given.filter(([field]) => by !== "derived" || !state.ownValues.includes(field));
  const changes = status !== undefined && status !== state.session.status;
  return {
    ...state,
    session: {
      ...state.session,
      ...Object.fromEntries(taken),
      ...(status !== undefined && { status }),
      ...(by === "user" && { updated_at: later(state.session.updated_at, at) }),
    },
    statusSince: changes ? at : state.statusSince,
    statusBeforeDelete: statusBefore(state, status),
    ownValues: by === "user" ? [...new Set([...state.ownValues, ...given.map(([field]) => field)])] : state.ownValues,
  };
}

function statusBefore(state: SessionState, status: SessionStatus | undefined): SessionStatus | null {
  if (status === undefined || status === state.session.status) return state.statusBeforeDelete;
  return status === "deleted" ? state.session.status : null;
}

function done({ turn, body }: RecordOf<"write_back_done">): Effect {
  if (body.status !== "failed") return { kind: "done", turn };
  return { kind: "failed", turn, attempts: body.attempts, errorCode: body.error_code ?? null };
}

function withStanding(state: SessionState, seq: number, standing: Standing): Folded {
  const { messageCount, openedBy, summary } = standing;
  const session = {
    ...state.session,
    message_count: messageCount,
    summary: summary?.text ?? null,
    summary_updated_at: summary?.at ?? null,
  };
  return { state: { ...state, session, openedBy }, effects: [{ kind: "standing", seq, standing }] };
}

function standingOf({ session, openedBy }: SessionState): Standing {
  const { message_count: messageCount, summary: text, summary_updated_at: at } = session;
  return { messageCount, openedBy, summary: text === null || at === null ? null : { text, at } };
}

/** Imports bring messages that are older than their session. */
function later(a: string, b: string): string {
  return Date.parse(b) > Date.parse(a) ? b : a;
}
