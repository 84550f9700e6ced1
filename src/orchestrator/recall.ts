import { AppError } from "../errors.js";
import type { ConversationHistory, HistoryHit } from "../history.js";
import type { LongTermMemory, RecallResult } from "../long-term.js";
import type { Owner } from "../owner.js";

export interface RecallPorts {
  /** False when Mem0 is off: nothing is recalled, and nothing written back to long-term memory. */
  readonly enabled: boolean;
  readonly longTerm: Pick<LongTermMemory, "recall">;
  readonly history: Pick<ConversationHistory, "search">;
  /** Says whether a message asks about the past, so that history is searched for it. */
  readonly looksBack: (text: string) => boolean;
  readonly deadlineMs: number;
  /** History turns that a look back brings in. */
  readonly historyLimit: number;
}

export interface Recalled extends RecallResult {
  readonly history: readonly HistoryHit[];
}

const NOTHING: Recalled = { status: "disabled", memories: [], profile: "", history: [] };

export interface RecallTurn {
  readonly owner: Owner;
  readonly text: string;
  readonly now: Date;
  readonly incognito: boolean;
  /** Message ids that the agent sees anyway: a look back is not used up by them. */
  readonly inWindow: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

/** What long-term memory knows for a turn: preferences and, where the message looks back, history, in parallel under one deadline. Never throws. */
export async function recallFor(ports: RecallPorts, turn: RecallTurn): Promise<Recalled> {
  if (turn.incognito || !ports.enabled) return NOTHING;
  const [preferences, history] = await Promise.all([
    ports.longTerm.recall(turn.owner, { text: turn.text, now: turn.now, deadlineMs: ports.deadlineMs, signal: turn.signal }),
    lookBack(ports, turn),
  ]);
  if (preferences.status === "disabled") return NOTHING;
  const status = preferences.status === "empty" && history.hits.length > 0 ? "ok" : preferences.status;
  return { ...preferences, status: worse(status, history.status), history: history.hits };
}

async function lookBack(
  ports: RecallPorts,
  { owner, text: query, now, inWindow, ...turn }: RecallTurn,
): Promise<{ hits: readonly HistoryHit[]; status: "ok" | "timeout" | "degraded" }> {
  if (!ports.looksBack(query)) return { hits: [], status: "ok" };
  const deadline = AbortSignal.timeout(ports.deadlineMs);
  const signal = AbortSignal.any([turn.signal, deadline]);
  try {
    const search = ports.history.search(owner, { query, limit: ports.historyLimit, now, excludeMessageIds: inWindow, signal });
    return { hits: await orAbort(search, signal), status: "ok" };
  } catch (error) {
    if (error instanceof AppError && error.code === "HISTORY_DISABLED") return { hits: [], status: "ok" };
    return { hits: [], status: deadline.aborted ? "timeout" : "degraded" };
  }
}

/** The promise's outcome, or a rejection as soon as the signal aborts; the promise's own later outcome is then passed over. */
function orAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = () => reject(signal.reason);
    if (signal.aborted) aborted();
    signal.addEventListener("abort", aborted, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", aborted));
  });
}

const SEVERITY = { empty: 0, ok: 1, timeout: 2, degraded: 3 } as const;

/** Preferences decide between `ok` and `empty`; a fault of history makes the whole recall no better than it was. */
function worse(preferences: keyof typeof SEVERITY, history: "ok" | "timeout" | "degraded"): keyof typeof SEVERITY {
  return history === "ok" || SEVERITY[history] <= SEVERITY[preferences] ? preferences : history;
}
