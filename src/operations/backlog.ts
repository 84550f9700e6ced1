import type { Clock } from "../platform/clock.js";
import type { Backlog } from "../ports/metrics.js";
import type { SessionIndex } from "../ports/session-store.js";

export interface BacklogParts {
  readonly index: Pick<SessionIndex, "pendingCounts" | "oldestPendingAtMs">;
  /** Null where nothing is delivered. Default: nothing is. */
  readonly deliveries?: (() => Promise<{ readonly waiting: number; readonly dead: number }>) | null;
  readonly clock: Clock;
}

/**
 * What is left to write back, and how old the oldest of it is; what is left to deliver.
 * @throws what the store throws while it is out of reach
 */
export async function backlogOf({ deliveries = null, ...parts }: BacklogParts): Promise<Backlog> {
  const [turns, events] = await Promise.all([turnsOf(parts), deliveries?.()]);
  return events === undefined ? turns : { ...turns, deliveries: events };
}

async function turnsOf({ index, clock }: Pick<BacklogParts, "index" | "clock">): Promise<Backlog> {
  const { pending, failed } = await index.pendingCounts();
  if (index.oldestPendingAtMs === undefined) return { pending, failed, oldestMs: null };
  const since = await index.oldestPendingAtMs();
  return { pending, failed, oldestMs: since === null ? 0 : Math.max(0, clock.now().getTime() - since) };
}
