import { readTurnsOffRecord } from "../domain/off-record.js";
import type { Owner } from "../domain/owner.js";
import type { MessageRecord, RecordOf } from "../domain/session.js";
import { type ConversationHistory, type HistorySearch, historyMessageOf } from "../ports/history.js";
import type { OwnerLedger, Tombstone } from "../ports/owner-ledger.js";
import type { HistoryHit, HistoryMessage } from "../ports/resources.js";
import type { SessionIndex, SessionStore } from "../ports/session-store.js";

/** What of a session may be found: not what was said off the record, in turns that ended badly, or in another session first. */
export async function* searchable(store: SessionStore, owner: Owner, sessionId: string): AsyncGenerator<HistoryMessage> {
  const kept = new Set<number>();
  const hidden = new Set<number>(await readTurnsOffRecord(store.journal.read(owner, sessionId)));
  for await (const record of store.journal.read(owner, sessionId))
    if (record.type === "message" && !isSearchable(record)) hidden.add(record.turn);
    else if (
      record.type === "message" &&
      (record.body.imported === true || record.body.ingested === true || record.body.outcome === "completed")
    )
      kept.add(record.turn);
  for await (const record of store.journal.read(owner, sessionId)) {
    if (record.type !== "message" || !kept.has(record.turn) || record.body.origin_id !== undefined) continue;
    const { outcome, content } = record.body;
    if (content === "" || (outcome !== undefined && outcome !== "completed")) continue;
    if (!hidden.has(record.turn)) yield historyMessageOf(sessionId, record);
  }
}

/** Whether a user's message, and the answer to it, may be found again. */
export function isSearchable({ body }: MessageRecord): boolean {
  return body.remember && body.in_history !== false;
}

/** As history knows a summary: behind all messages of its session, without rounds that the user asked not to remember. */
export function summaryMessage(sessionId: string, record: RecordOf<"summary">): HistoryMessage {
  const { text, searchable = text, from_turn, to_turn } = record.body;
  return {
    message_id: record.id,
    session_id: sessionId,
    turn: record.body.to_turn,
    position: 1_000_000_000 + record.body.to_turn,
    role: "system",
    name: "summary",
    content: typeof searchable === "string" && searchable !== "" ? searchable : `Turns ${from_turn} to ${to_turn}.`,
    channel: "summary",
    created_at: record.at,
    custom_metadata: { from_turn: record.body.from_turn, to_turn: record.body.to_turn, by: record.body.by },
  };
}

/** Gives history a session: its messages, and the summary behind them. */
export async function addWholeSession(
  { store, history }: { readonly store: SessionStore; readonly history: ConversationHistory },
  owner: Owner,
  sessionId: string,
  signal: AbortSignal,
): Promise<void> {
  await history.addSession(owner, sessionId, searchable(store, owner, sessionId), { signal });
  const { summary } = await store.journal.window(owner, sessionId, { rounds: 1, signal });
  if (summary && summary.body.searchable !== "") await history.addEvents(owner, [summaryMessage(sessionId, summary)], { signal });
}

/** Searches that are made at most, where what was found is not to be shown and leaves room. */
const ROUNDS = 5;

/**
 * A history that never shows the messages whose memory the user had forgotten: neither as hits nor beside one. They stay in the
 * journal, as said; the ledger's tombstones name them. A summary that is older than what was forgotten last may still tell it: it is
 * not shown until it has been written anew. Nor does it show what was said in a session that the user deleted, until it is restored.
 */
export function withoutForgotten(
  history: ConversationHistory,
  ledger: Pick<OwnerLedger, "tombstones">,
  sessions: Pick<SessionIndex, "get">,
): ConversationHistory {
  const isDeleted = async (owner: Owner, id: string) => (await sessions.get(owner, id))?.status === "deleted";
  return {
    search: async (owner, query) => {
      const hidden = hiddenOf(query.tombstones ?? (await ledger.tombstones(owner)), query);
      return searchShown(history, hidden, owner, query, (id) => isDeleted(owner, id));
    },
    addSession: (owner, sessionId, messages, options) => history.addSession(owner, sessionId, messages, options),
    addEvents: (owner, messages, options) => history.addEvents(owner, messages, options),
    removeSession: (owner, sessionId) => history.removeSession(owner, sessionId),
    removeMessages: (owner, messageIds) => history.removeMessages(owner, messageIds),
    count: (owner, sessionId) => history.count(owner, sessionId),
    counts: (sessions) => history.counts(sessions),
    erase: (owner) => history.erase(owner),
    residue: (owner) => history.residue(owner),
    health: () => history.health(),
    close: () => history.close(),
  };
}

interface Hidden {
  readonly messageIds: ReadonlySet<string>;
  /** When something was forgotten last, ISO 8601; empty where nothing was. */
  readonly forgottenAt: string;
}

function hiddenOf(tombstones: readonly Tombstone[], query: HistorySearch): Hidden {
  return {
    messageIds: new Set([...tombstones.flatMap((tombstone) => tombstone.messageIds), ...(query.excludeMessageIds ?? [])]),
    forgottenAt:
      tombstones
        .map(({ at }) => at)
        .toSorted()
        .at(-1) ?? "",
  };
}

function isStaleSummary({ role, name, created_at }: HistoryHit, { forgottenAt }: Hidden): boolean {
  return role === "system" && name === "summary" && created_at <= forgottenAt;
}

async function searchShown(
  history: ConversationHistory,
  hidden: Hidden,
  owner: Owner,
  query: HistorySearch,
  isDeleted: (sessionId: string) => Promise<boolean>,
): Promise<readonly HistoryHit[]> {
  const passedOver = new Set(hidden.messageIds);
  const deleted = new Map<string, boolean>();
  const isShown = (hit: HistoryHit) => deleted.get(hit.session_id) !== true && !isStaleSummary(hit, hidden);
  let found: HistoryHit[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const hits = await history.search(owner, { ...query, excludeMessageIds: new Set(passedOver) });
    const unknown = [...new Set(hits.map((hit) => hit.session_id))].filter((id) => !deleted.has(id));
    await Promise.all(unknown.map(async (id) => deleted.set(id, await isDeleted(id))));
    found = hits.filter(isShown);
    for (const hit of hits) if (!found.includes(hit)) passedOver.add(hit.id);
    if (found.length === hits.length) break;
  }
  const shown = (messages: readonly HistoryMessage[]) =>
    messages.filter((message) => !hidden.messageIds.has(message.message_id) && message.channel !== "summary");
  return found.map((hit) => ({
    ...hit,
    ...(hit.before && { before: shown(hit.before) }),
    ...(hit.after && { after: shown(hit.after) }),
  }));
}
