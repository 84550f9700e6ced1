import type { Owner } from "../domain/owner.js";
import { isSaid, recordedTurn } from "../domain/recorded-turn.js";
import type { JournalRecord, MessageRecord, Round, Step } from "../domain/session.js";
import type { Clock } from "../platform/clock.js";
import { collected } from "../platform/collected.js";
import type { Logger } from "../platform/logger.js";
import type { PendingTurn, PendingTurns, SessionStore, ShortTermMemory } from "../ports/session-store.js";
import { isLeft, LEFT_TO_READ, releaseLeft } from "./due-turns.js";

/** Whether a message by itself can wait to be read, behind what the assistant said before it; null: nothing. */
export type JudgeOfWaiting = (text: string, answer: string | null) => boolean;

/** What of a round tells whether it asked something. */
export type RoundBefore = Pick<Round, "assistant" | "steps">;

/**
 * Whether a message can wait to be read: by what it can hold, and never where it may settle what was to be confirmed or what a tool had
 * the model ask. `before`: the round that was answered last before it; null where there is none.
 */
export function mayWait(judge: JudgeOfWaiting, text: string, before: RoundBefore | null): boolean {
  if (before !== null && ((before.assistant.body.asked?.length ?? 0) > 0 || before.steps.some(({ output }) => asksByTool(output))))
    return false;
  return judge(text, before?.assistant.body.content ?? null);
}

function asksByTool(output: Step["output"]): boolean {
  if (output === null || typeof output !== "object" || Array.isArray(output)) return false;
  return output.ask !== undefined || output.status === "needs_confirmation";
}

/** The completed round before a turn, from the records of its session in their order. */
export function roundBefore(records: readonly JournalRecord[], turn: number): RoundBefore | null {
  const assistant = records.findLast(
    (record): record is MessageRecord =>
      record.type === "message" && record.turn < turn && record.body.role === "assistant" && record.body.outcome === "completed",
  );
  if (assistant === undefined) return null;
  const steps = records.flatMap((record) => (record.type === "step" && record.turn === assistant.turn ? [record.body] : []));
  return { assistant, steps };
}

/**
 * Why a message needs no call of its own now: `along`, a later turn of its session is pending and is read with it; `aside`, it can wait,
 * and does so for a next one for a while. Null: it is read. One that failed before, or has waited, waits for nothing but a later turn; one
 * that failed takes no other along.
 */
export async function mayBeLeft(
  store: Pick<SessionStore, "turns" | "journal">,
  pending: PendingTurn,
  { user, before, judge }: { readonly user: MessageRecord; readonly before: RoundBefore | null; readonly judge: JudgeOfWaiting },
  signal: AbortSignal,
): Promise<"along" | "aside" | null> {
  if (pending.attempts > 0) return null;
  const { owner, sessionId, turn } = pending;
  const canWait = mayWait(judge, user.body.content, before);
  const all = await store.turns.of(owner, sessionId);
  const later = new Set(all.flatMap((each) => (each.turn > turn && each.state === "pending" && each.attempts === 0 ? [each.turn] : [])));
  const from = pending.fromSeq === undefined ? {} : { fromSeq: pending.fromSeq };
  const since = later.size > 0 ? await collected(store.journal.read(owner, sessionId, { ...from, signal })) : [];
  const along = [...later].some((each) => {
    const recorded = recordedTurn(since, each);
    // One that can wait does so in its place, and then takes it along.
    return recorded !== null && isSaid(recorded) && (canWait || !mayWait(judge, recorded.user.body.content, roundBefore(since, each)));
  });
  if (along) return "along";
  return canWait && pending.errorCode !== LEFT_TO_READ ? "aside" : null;
}

/**
 * Has a turn stay pending until `dueAtMs`, or until something is said after it: then it is read along with that, by whoever has taken it
 * meanwhile where somebody has.
 */
export async function leaveUntil(
  turns: Pick<PendingTurns, "of" | "recordAttempt">,
  pending: PendingTurn,
  { nowMs, dueAtMs }: { readonly nowMs: number; readonly dueAtMs: number },
): Promise<void> {
  const { owner, sessionId, turn } = pending;
  await turns.recordAttempt(pending, { attempts: 0, dueAtMs, errorCode: LEFT_TO_READ });
  const all = await turns.of(owner, sessionId);
  const own = all.filter((each) => each.turn === turn);
  if (all.some((each) => each.turn > turn)) await releaseLeft(turns, own, nowMs);
}

/** Of those that wait, so many are told as they were said: those that are due last, which were said last. */
const MOST_TOLD = 5;

export interface LeftTurnsParts {
  readonly turns: Pick<PendingTurns, "of" | "recordAttempt">;
  readonly journal: Pick<ShortTermMemory, "read">;
  /** Whether a message asks not to be kept: such a one is told nowhere else. */
  readonly asksNotToKeep: (owner: Owner, text: string) => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Runs what makes turns due, and looks for them behind it. */
  readonly preparing: (work: () => Promise<void>) => Promise<void>;
}

/** The owner's messages that were left to be read with a next one. */
export class LeftTurns {
  readonly #parts: LeftTurnsParts;
  readonly #delayMs: number;

  constructor(parts: LeftTurnsParts, options: { /** How long any turn waits. */ readonly delayMs: number }) {
    this.#parts = parts;
    this.#delayMs = options.delayMs;
  }

  /** Has them read now, those of one session or of all but one, in the background. What fails is logged, and read when its time comes. */
  async readNow(
    owner: Owner,
    { sessionId, exceptSession }: { readonly sessionId?: string; readonly exceptSession?: string } = {},
  ): Promise<void> {
    const { turns, clock, logger, preparing } = this.#parts;
    await preparing(async () => {
      try {
        const left = await turns.of(owner, exceptSession === undefined ? sessionId : { except: exceptSession });
        await releaseLeft(turns, left, clock.now().getTime() - this.#delayMs);
      } catch (error) {
        logger.warn({ err: error }, "messages that were left to be read could not be looked up");
      }
    });
  }

  /** As they were said, those of all sessions but one, the newest last: until they are read nothing else tells of them. */
  async said(owner: Owner, exceptSession: string, signal: AbortSignal): Promise<readonly MessageRecord[]> {
    const left = (await this.#parts.turns.of(owner, { except: exceptSession })).filter(isLeft);
    const said: MessageRecord[] = [];
    for (const turn of left.toSorted((a, b) => b.dueAtMs - a.dueAtMs || b.turn - a.turn)) {
      if (said.length === MOST_TOLD) break;
      const message = await this.#messageOf(turn, signal);
      if (message !== null && !this.#parts.asksNotToKeep(owner, message.body.content)) said.push(message);
    }
    return said.toSorted((a, b) => a.at.localeCompare(b.at));
  }

  async #messageOf({ owner, sessionId, turn, fromSeq }: PendingTurn, signal: AbortSignal): Promise<MessageRecord | null> {
    const records = await collected(this.#parts.journal.read(owner, sessionId, { ...(fromSeq !== undefined && { fromSeq }), signal }));
    const recorded = recordedTurn(records, turn);
    return recorded !== null && isSaid(recorded) ? recorded.user : null;
  }
}
