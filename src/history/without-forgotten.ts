import type { Owner } from "../domain/owner.js";
import type { ConversationHistory, HistorySearch } from "../ports/history.js";
import type { OwnerLedger, Tombstone } from "../ports/owner-ledger.js";
import type { HistoryHit, HistoryMessage } from "../ports/resources.js";
import type { SessionIndex } from "../ports/session-store.js";

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
