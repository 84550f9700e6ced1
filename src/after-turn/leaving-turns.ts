import { isSaid, recordedTurn } from "../domain/recorded-turn.js";
import type { JournalRecord, MessageRecord } from "../domain/session.js";
import type { PendingTurn, SessionStore } from "../ports/session-store.js";
import { LEFT_TO_READ } from "./due-turns.js";
import { type JudgeOfWaiting, mayWait, type RoundBefore, roundBefore } from "./may-wait.js";

/**
 * Why a message needs no call of its own now: `along`, a later turn of its session is pending and is read with it; `aside`, it can wait,
 * and does so for a next one for a while. Null: it is read. One that failed before, or has waited, waits for nothing but a later turn; one
 * that failed takes no other along.
 */
export async function mayBeLeft(
  store: Pick<SessionStore, "index" | "journal">,
  pending: PendingTurn,
  { user, before, judge }: { readonly user: MessageRecord; readonly before: RoundBefore | null; readonly judge: JudgeOfWaiting },
  signal: AbortSignal,
): Promise<"along" | "aside" | null> {
  if (pending.attempts > 0) return null;
  const { owner, sessionId, turn } = pending;
  const canWait = mayWait(judge, user.body.content, before);
  const all = await store.index.pendingOf(owner, sessionId);
  const later = new Set(all.flatMap((each) => (each.turn > turn && each.state === "pending" && each.attempts === 0 ? [each.turn] : [])));
  const since: JournalRecord[] = [];
  if (later.size > 0) {
    const from = pending.fromSeq === undefined ? {} : { fromSeq: pending.fromSeq };
    for await (const record of store.journal.read(owner, sessionId, { ...from, signal })) since.push(record);
  }
  const along = [...later].some((each) => {
    const recorded = recordedTurn(since, each);
    // One that can wait does so in its place, and then takes it along.
    return recorded !== null && isSaid(recorded) && (canWait || !mayWait(judge, recorded.user.body.content, roundBefore(since, each)));
  });
  if (along) return "along";
  return canWait && pending.errorCode !== LEFT_TO_READ ? "aside" : null;
}

/** Has a turn stay pending until `dueAtMs`, or until something is said after it: then it is read along with that. */
export async function leaveUntil(
  index: SessionStore["index"],
  { owner, sessionId, turn }: PendingTurn,
  { nowMs, dueAtMs }: { readonly nowMs: number; readonly dueAtMs: number },
): Promise<void> {
  const wait = (until: number) => index.recordAttempt(owner, sessionId, turn, { attempts: 0, dueAtMs: until, errorCode: LEFT_TO_READ });
  await wait(dueAtMs);
  const all = await index.pendingOf(owner, sessionId);
  if (all.some((each) => each.turn > turn)) await wait(nowMs);
}
