import type { JournalRecord, JsonObject, RecordOf, SessionStatus } from "./session.js";
import { titleFrom } from "./title.js";

/** Who gave a value: the user's own win over what was derived. */
type SetBy = "user" | "derived";

/** What a session's journal says about the session itself, with who said it: more than the index keeps. */
export interface SessionProvenance {
  readonly externalId: string | null;
  readonly agentType: string;
  readonly metadata: JsonObject;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly forkedFrom: { readonly session_id: string; readonly message_id: string } | null;
  readonly title: string | null;
  readonly titleBy: SetBy | null;
  readonly topic: string | null;
  readonly topicBy: SetBy | null;
  readonly tags: readonly string[];
  readonly tagsBy: SetBy | null;
  readonly status: SessionStatus;
  readonly statusSince: string;
  readonly statusBeforeDelete: "active" | "archived" | null;
}

const NEW: SessionProvenance = {
  externalId: null,
  agentType: "concierge",
  metadata: {},
  createdAt: new Date(0).toISOString(),
  expiresAt: null,
  forkedFrom: null,
  title: null,
  titleBy: null,
  topic: null,
  topicBy: null,
  tags: [],
  tagsBy: null,
  status: "active",
  statusSince: new Date(0).toISOString(),
  statusBeforeDelete: null,
};

/** Folds the records of one journal, in order, with or without those that were taken back. Pure. */
export function provenanceOf(records: Iterable<JournalRecord>): SessionProvenance {
  let state = NEW;
  /** Seq of the user message that the conversation opens with. */
  let openedBy: number | null = null;
  for (const record of records) {
    if (record.type === "session") state = begin(record);
    if (record.type === "session_patch") state = patched(state, record);
    if (record.type === "message" && record.body.role === "user") {
      if (state.title === null && state.titleBy !== "user") state = { ...state, title: titleFrom(record.body.content), titleBy: "derived" };
      openedBy ??= record.seq;
    }
    // A derived title goes with the message that it came with.
    if (record.type === "rewind" && (openedBy === null || openedBy > record.body.to_seq)) {
      if (state.titleBy === "derived") state = { ...state, title: null, titleBy: null };
      openedBy = null;
    }
  }
  return state;
}

function begin({ at, body }: RecordOf<"session">): SessionProvenance {
  return {
    ...NEW,
    externalId: body.external_id,
    agentType: body.agent_type,
    metadata: body.metadata,
    createdAt: at,
    expiresAt: body.expires_at,
    forkedFrom: body.forked_from,
    title: body.title,
    titleBy: body.title === null ? null : "user",
    statusSince: at,
  };
}

function patched(state: SessionProvenance, { at, body }: RecordOf<"session_patch">): SessionProvenance {
  const by: SetBy = body.by === "derived" ? "derived" : "user";
  const may = (setBy: SetBy | null) => by === "user" || setBy !== "user";
  const next: { -readonly [K in keyof SessionProvenance]: SessionProvenance[K] } = { ...state };
  if (body.title !== undefined && may(state.titleBy)) Object.assign(next, { title: body.title, titleBy: by });
  if (body.topic !== undefined && may(state.topicBy)) Object.assign(next, { topic: body.topic, topicBy: by });
  if (body.tags !== undefined && may(state.tagsBy)) Object.assign(next, { tags: body.tags, tagsBy: by });
  if (body.agent_type !== undefined) next.agentType = body.agent_type;
  if (body.metadata !== undefined) next.metadata = body.metadata;
  if (body.expires_at !== undefined) next.expiresAt = body.expires_at;
  if (body.status !== undefined && body.status !== state.status) {
    next.statusBeforeDelete = body.status === "deleted" ? (state.status === "archived" ? "archived" : "active") : null;
    next.status = body.status;
    next.statusSince = at;
  }
  return next;
}

/** What was forgotten, and when (ISO 8601): the messages that told it, by the ids under which they were first said. */
export interface ForgottenMessages {
  readonly messageIds: readonly string[];
  readonly at: string;
}

/**
 * The turns of a session in which something was said that was forgotten later, or that the user asked not to keep, each with when that
 * was last. `by`: who said it. Default: anybody. Pure.
 */
export function forgottenTurns(
  records: readonly JournalRecord[],
  forgotten: readonly ForgottenMessages[],
  by?: "user",
): ReadonlyMap<number, string> {
  const atOf = new Map<string, string>();
  for (const { messageIds, at } of forgotten) for (const id of messageIds) if (at > (atOf.get(id) ?? "")) atOf.set(id, at);
  const turns = new Map<number, string>();
  const hide = (turn: number, at: string | undefined) => {
    if (at !== undefined && at > (turns.get(turn) ?? "")) turns.set(turn, at);
  };
  for (const record of records) {
    if (record.type === "off_record") hide(record.body.of_turn, record.at);
    else if (record.type === "message" && (by === undefined || record.body.role === by))
      hide(record.turn, atOf.get(record.id) ?? atOf.get(record.body.origin_id ?? record.id));
  }
  return turns;
}

/**
 * The title of a session whose own may repeat what was forgotten since: its first user message that nothing was forgotten of, or null
 * where there is none. Undefined where the title may stay: the user's own, an incognito session's, one that was made of other messages,
 * and one that was made after the forgetting. A name that a model gave may repeat any message of before. Pure.
 */
export function titleAnew(records: readonly JournalRecord[], forgotten: readonly ForgottenMessages[]): string | null | undefined {
  const turns = forgottenTurns(records, forgotten);
  if (turns.size === 0) return undefined;
  const { title, titleBy, metadata } = provenanceOf(records);
  if (title === null || titleBy !== "derived" || metadata.incognito === true) return undefined;
  const said = records.flatMap((record) =>
    record.type === "message" && record.body.role === "user" ? [{ turn: record.turn, title: titleFrom(record.body.content) }] : [],
  );
  const sources = said.filter((message) => message.title === title);
  const madeAt = records.findLast((record) => record.type === "session_patch" && record.body.title === title)?.at ?? "";
  const told = forgottenTurns(records, forgotten, "user");
  const hidden = sources.length > 0 ? told : turns;
  const repeats = (sources.length > 0 ? sources : said).some(({ turn }) => (hidden.get(turn) ?? "") >= madeAt && hidden.has(turn));
  const anew = said.find(({ turn }) => !told.has(turn))?.title ?? null;
  return repeats && anew !== title ? anew : undefined;
}
