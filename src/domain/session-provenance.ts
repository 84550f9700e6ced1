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
