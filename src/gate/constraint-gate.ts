import type { Memory } from "../domain/memory.js";
import type { Owner } from "../domain/owner.js";
import { boundedSignal, orAbort } from "../platform/bounded-signal.js";
import { isAppError } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import { type Domain, type ToolContext, WRITE_BACK_WAIT_MS } from "../ports/agent.js";
import type { StandingNeeds } from "../ports/memories.js";
import type { StateEngine } from "../state/engine.js";
import type { Booked } from "./booking-receipt.js";
import type { SamePeople } from "./people.js";
import type { ReceiptLog } from "./receipt-log.js";
import { type Candidate, judge, type KnownNeeds, type Party, peopleOf, type Verdict } from "./verdict.js";

/** How long the gate's own read may take. */
const GATE_READ_MS = 2_000;

/** What was read once: judges whatever may be booked, and tells which names are one person's. */
export interface Judge {
  (candidate: Candidate, party: Party): Verdict;
  readonly people: SamePeople;
}

/** What must hold for everybody who comes, held against whatever may be booked. */
export interface Gate {
  /**
   * One read for a call; the answer judges whatever may be booked. `toBook`: it waits for what the guest has said, now too, to be in
   * memory, as it does where this very message tells of a need. `named`: who is spoken of. Default: nobody.
   * @throws the signal's reason when the turn is aborted
   */
  read(context: ToolContext, options: { readonly toBook: boolean; readonly named?: readonly string[] }): Promise<Judge>;
  /**
   * Keeps a receipt of what was checked before something was booked. Once it is booked; the same of a turn again adds nothing. Never
   * throws: what is booked is booked.
   */
  booked(context: ToolContext, booked: Booked): Promise<void>;
}

/**
 * Resolves when nothing that the owner has said, in any session, can still be written to memory, or when the signal aborts; true
 * when all of it is. Called within a turn: it must not wait for the session's lock.
 */
export type WrittenBack = (owner: Owner, signal: AbortSignal) => Promise<boolean>;

/** Resolves when what the guest says in this very turn is in memory, as far as it gives any. @throws when that can't be told */
export type ReadNow = (context: ToolContext) => Promise<void>;

interface GateParts {
  readonly needs: StandingNeeds;
  readonly writtenBack: WrittenBack;
  /** Default: the current message is not read before the booking. */
  readonly readNow?: ReadNow;
  /** Whether a message tells of a need, by the domain's words: what is asked with it waits for it to be read. Default: none does. */
  readonly tellsNeed?: (text: string) => boolean;
  /** Which soft memories are limits that a booking is held against. Default: none. */
  readonly isSoftLimit?: (memory: Memory) => boolean;
  /** Default: none are kept. */
  readonly receipts?: Pick<ReceiptLog, "add">;
  readonly logger: Logger;
  /** Default 2,000. */
  readonly readMs?: number;
  /** Of the turns before and of this one, each. Default 5,000. */
  readonly writeBackWaitMs?: number;
}

/**
 * Stands in front of the booking tools. Reads what must hold itself, active and waiting, and the guest's soft limits, whatever the turn
 * recalled, within its own bound, and compares it with the catalogue for everyone in the party. It never reads "out of reach", "not written
 * yet", "not looked at" (incognito) or "not kept" (long-term memory is switched off) as "no needs": a need that was lost is worse than a
 * question.
 */
export class ConstraintGate implements Gate {
  readonly #parts: Required<GateParts>;

  constructor(parts: GateParts) {
    const { readNow = async () => {}, tellsNeed = () => false, isSoftLimit = () => false, receipts = { add: async () => {} } } = parts;
    this.#parts = { readMs: GATE_READ_MS, writeBackWaitMs: WRITE_BACK_WAIT_MS, ...parts, readNow, tellsNeed, isSoftLimit, receipts };
  }

  async read(
    context: ToolContext,
    { toBook, named = [] }: { readonly toBook: boolean; readonly named?: readonly string[] },
  ): Promise<Judge> {
    const startedMs = performance.now();
    let needs = await this.#needs(context);
    // Where the store can't be read, there is nothing to wait for.
    if ((toBook || this.#parts.tellsNeed(context.userMessage.content)) && needs.complete) {
      const [before, now] = await Promise.all([
        this.#waited(context, (signal) => this.#parts.writtenBack(context.owner, signal)),
        this.#waited(context, async (signal) => {
          await this.#parts.readNow({ ...context, signal });
          return true;
        }),
      ]);
      needs = await this.#needs(context);
      if (!(before && now)) needs = { ...needs, complete: false };
    }
    context.onTimed?.({ name: "gate", startedMs, endedMs: performance.now() });
    const people = peopleOf(needs, named, [...(context.earlierMessages ?? []), context.userMessage.content]);
    const judged = (...[candidate, party]: Parameters<Judge>) => judge(needs, candidate, party, context.now, people);
    return Object.assign(judged, { people });
  }

  async booked(context: ToolContext, booked: Booked): Promise<void> {
    const { receipts, logger } = this.#parts;
    await receipts
      .add(context, booked)
      .catch((error: unknown) => logger.error({ session_id: context.sessionId, err: error }, "a booking's receipt could not be kept"));
  }

  async #needs(context: ToolContext): Promise<KnownNeeds> {
    const { needs, isSoftLimit, readMs, logger } = this.#parts;
    if (context.memory === "off") return { known: [], complete: false };
    try {
      const { owner, now } = context;
      const [all, told = []] = await within(readMs, context.signal, (signal) =>
        Promise.all([needs.needs(owner, { now, signal, soft: isSoftLimit }), needs.companions?.(owner, { now, signal })]),
      );
      const [known, limits] = [all.filter(isHard), all.filter((memory) => !isHard(memory))];
      return { known, limits, told, complete: true };
    } catch (error) {
      context.signal.throwIfAborted();
      if (isAppError(error, "LONG_TERM_MEMORY_DISABLED")) return { known: [], complete: false, memoryOff: true };
      logger.warn({ code: codeOf(error) }, "needs could not be read for a booking");
      return { known: [], complete: false };
    }
  }

  async #waited(context: ToolContext, work: (signal: AbortSignal) => Promise<boolean>): Promise<boolean> {
    const { writeBackWaitMs, logger } = this.#parts;
    let code = "PENDING";
    try {
      if (await within(writeBackWaitMs, context.signal, work)) return true;
    } catch (error) {
      context.signal.throwIfAborted();
      code = codeOf(error);
    }
    logger.warn({ session_id: context.sessionId, code }, "a booking found something that the guest said and that is not in memory");
    return false;
  }
}

/** Raced with its bound: what pays no heed to its signal must not hold up the booking. */
async function within<T>(ms: number, turn: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const bound = boundedSignal([turn], ms);
  try {
    return await orAbort(work(bound.signal), bound.signal);
  } finally {
    bound.end();
  }
}

function codeOf(error: unknown): string {
  if (isAppError(error)) return error.code;
  return error instanceof DOMException && error.name === "TimeoutError" ? "TIMEOUT" : "UNKNOWN";
}

function isHard({ strength }: Memory): boolean {
  return strength === "hard";
}

export interface DomainParts {
  /** Where its own records go, beside all else that is kept of an owner. */
  readonly engine: StateEngine;
  readonly gate: Gate;
}

/** A domain that is opened over the product: it keeps records of its own, or holds its bookings against the gate itself. */
export interface DomainToOpen extends Pick<Domain, "categories" | "recall" | "needs" | "limits" | "needTalk"> {
  open(parts: DomainParts): Promise<Domain>;
}
