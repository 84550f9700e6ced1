import type { Clock } from "../platform/clock.js";
import type { Backlog } from "../ports/metrics.js";
import type { SessionIndex } from "../ports/session-store.js";

export interface BacklogParts {
  readonly index: Pick<SessionIndex, "pendingCounts" | "oldestPendingAtMs">;
  readonly clock: Clock;
}

/** What is left to write back, and how old the oldest of it is. @throws what the store throws while it is out of reach */
export async function backlogOf({ index, clock }: BacklogParts): Promise<Backlog> {
  const { pending, failed } = await index.pendingCounts();
  if (index.oldestPendingAtMs === undefined) return { pending, failed, oldestMs: null };
  const since = await index.oldestPendingAtMs();
  return { pending, failed, oldestMs: since === null ? 0 : Math.max(0, clock.now().getTime() - since) };
}
