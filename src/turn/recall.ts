import type { Owner } from "../domain/owner.js";
import type { MessageRecord } from "../domain/session.js";
import { type ToConfirm, toldToConfirm } from "../domain/to-confirm.js";
import { boundedSignal, orAbort } from "../platform/bounded-signal.js";
import { AppError } from "../platform/errors.js";
import { cutText } from "../platform/rendering.js";
import type { ConversationHistory } from "../ports/history.js";
import type { MemoryRecall, RecallResult, RememberedTurn, TurnMemories } from "../ports/memories.js";
import type { Tombstone } from "../ports/owner-ledger.js";
import type { HistoryHit } from "../ports/resources.js";

export interface RecallPorts {
  /** False when Mem0 is off: nothing is recalled, and nothing written back to long-term memory. */
  readonly enabled: boolean;
  readonly longTerm: MemoryRecall;
  /** What became of a turn; null where nothing is remembered of turns. */
  readonly turns: Pick<TurnMemories, "remembered"> | null;
  readonly history: Pick<ConversationHistory, "search">;
  /** Says whether a message asks about the past, so that history is searched for it. */
  readonly looksBack: (text: string) => boolean;
  readonly deadlineMs: number;
  /**
   * Owners whose last recall failed, for a while: history is not asked then, as what failed stands behind both. Default: nobody is
   * kept.
   */
  readonly failing?: { has(owner: Owner): boolean; set(owner: Owner, failing: true): unknown };
  /** What the user said in other sessions that waits to be read. Default: nothing does. */
  readonly unread?: (owner: Owner, exceptSession: string, signal: AbortSignal) => Promise<readonly MessageRecord[]>;
  /** History turns that a look back brings in. */
  readonly historyLimit: number;
}

export interface Recalled extends Omit<RecallResult, "to_confirm" | "to_settle"> {
  readonly history: readonly HistoryHit[];
  readonly toConfirm: readonly ToConfirm[];
  /** Asked about for the last time right before: it may be settled, and is not asked about again. */
  readonly toSettle: readonly ToConfirm[];
  /** What the turn before gave; null where that isn't known (yet). */
  readonly before: RememberedTurn | null;
  /** What waits to be read in other sessions, oldest first, as it was said. */
  readonly unread: readonly MessageRecord[];
}

const NOTHING: Recalled = {
  status: "disabled",
  memories: [],
  history: [],
  toConfirm: [],
  toSettle: [],
  before: null,
  unread: [],
};

export interface RecallTurn {
  readonly owner: Owner;
  readonly sessionId: string;
  readonly text: string;
  readonly now: Date;
  readonly incognito: boolean;
  /** Message ids that the agent sees anyway: a look back is not used up by them. */
  readonly inWindow: ReadonlySet<string>;
  /** The message before in the session; null where this is the first. */
  readonly before: string | null;
  /** Whether what waits to be read elsewhere is told: where a session begins, its reading begins with it. */
  readonly begins: boolean;
  /** As in {@link RecallRequest}. */
  readonly memorySeq?: number;
  /** As in {@link HistorySearch}. */
  readonly tombstones?: readonly Tombstone[];
  readonly asked?: readonly string[];
  readonly signal: AbortSignal;
}

/** Of a longer message, so much of its beginning and so much of its end is looked for: about as much as embedders read. In characters. */
const LOOKED_FOR = 1_000;

function lookedFor(text: string): string {
  if (text.length <= 2 * LOOKED_FOR) return text;
  // No half of a character, where the cut is.
  const [begin, end] = [cutText(text, LOOKED_FOR), text.slice(-LOOKED_FOR).replace(/^[\uDC00-\uDFFF]/, "")];
  return `${begin} … ${end}`;
}

const NOT_LOOKED_BACK = { hits: [], status: "ok" } as const;

/**
 * What long-term memory knows for a turn: preferences and, where the message looks back, history, in parallel under one deadline.
 * Never throws.
 */
export async function recallFor(ports: RecallPorts, turn: RecallTurn): Promise<Recalled> {
  if (turn.incognito || !ports.enabled) return NOTHING;
  const seen = turn.memorySeq === undefined ? {} : { memorySeq: turn.memorySeq };
  const text = lookedFor(turn.text);
  const { now, signal, asked = [] } = turn;
  const [{ to_confirm: waiting = [], to_settle: settling = [], ...preferences }, history, before, unread] = await Promise.all([
    ports.longTerm.recall(turn.owner, { text, now, deadlineMs: ports.deadlineMs, signal, asked, ...seen }),
    ports.failing?.has(turn.owner) === true ? NOT_LOOKED_BACK : lookBack(ports, { ...turn, text }),
    turnBefore(ports, turn, seen),
    unreadElsewhere(ports, turn),
  ]);
  if (preferences.status === "degraded" || preferences.status === "timeout") ports.failing?.set(turn.owner, true);
  if (preferences.status === "disabled") return NOTHING;
  const status = preferences.status === "empty" && history.hits.length > 0 ? "ok" : preferences.status;
  return {
    ...preferences,
    status: worse(status, history.status),
    history: history.hits,
    toConfirm: toldToConfirm(waiting, turn.sessionId),
    toSettle: toldToConfirm(settling, turn.sessionId),
    before,
    unread,
  };
}

/** Told where it is found in time. */
async function unreadElsewhere(
  { unread, deadlineMs }: RecallPorts,
  { owner, sessionId, begins, signal: outer }: RecallTurn,
): Promise<readonly MessageRecord[]> {
  if (unread === undefined || !begins) return [];
  const bound = boundedSignal([outer], deadlineMs);
  const { signal } = bound;
  return orAbort(unread(owner, sessionId, signal), signal)
    .catch(() => [])
    .finally(() => bound.end());
}

/** Told where it is known in time: an answer never waits for what was made of the message before. */
async function turnBefore(
  { turns, deadlineMs }: RecallPorts,
  { owner, before, ...turn }: RecallTurn,
  seen: Pick<RecallTurn, "memorySeq">,
): Promise<RememberedTurn | null> {
  if (turns === null || before === null) return null;
  const bound = boundedSignal([turn.signal], deadlineMs);
  const { signal } = bound;
  return orAbort(turns.remembered(owner, before, { ...seen, signal }), signal)
    .catch(() => null)
    .finally(() => bound.end());
}

async function lookBack(
  ports: RecallPorts,
  { owner, text: query, now, inWindow, tombstones, ...turn }: RecallTurn,
): Promise<{ hits: readonly HistoryHit[]; status: "ok" | "timeout" | "degraded" }> {
  if (!ports.looksBack(query)) return { hits: [], status: "ok" };
  const bound = boundedSignal([turn.signal], ports.deadlineMs);
  const { signal } = bound;
  try {
    const known = tombstones === undefined ? {} : { tombstones };
    const search = { query, limit: ports.historyLimit, now, excludeMessageIds: inWindow, signal, ...known };
    return { hits: await orAbort(ports.history.search(owner, search), signal), status: "ok" };
  } catch (error) {
    if (error instanceof AppError && error.code === "HISTORY_DISABLED") return { hits: [], status: "ok" };
    return { hits: [], status: bound.late ? "timeout" : "degraded" };
  } finally {
    bound.end();
  }
}

const SEVERITY = { empty: 0, ok: 1, timeout: 2, degraded: 3 } as const;

/** Preferences decide between `ok` and `empty`; a fault of history makes the whole recall no better than it was. */
function worse(preferences: keyof typeof SEVERITY, history: "ok" | "timeout" | "degraded"): keyof typeof SEVERITY {
  return history === "ok" || SEVERITY[history] <= SEVERITY[preferences] ? preferences : history;
}
