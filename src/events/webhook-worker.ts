import type { Clock } from "../platform/clock.js";
import type { Logger } from "../platform/logger.js";
import type { EventLog, KeptEvent } from "../ports/event-log.js";
import type { ClaimedOwner, EventQueue } from "../ports/event-queue.js";
import type { ToldEvent } from "../ports/events.js";
import type { WebhookSender } from "../ports/webhook.js";

export interface WebhookWorkerParts {
  readonly queue: EventQueue;
  readonly log: Pick<EventLog, "onAdded" | "pollMs">;
  readonly sender: WebhookSender;
  readonly told: (kept: KeptEvent) => Promise<ToldEvent>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface WebhookWorkerOptions {
  /** Waits before an event is tried again, in milliseconds; after the last it is given up. Default: about a day in all. */
  readonly waitsMs?: readonly number[];
  /**
   * How long an owner is taken for, in milliseconds. Two thirds of it are used: a try that began within them ends within the lease.
   * Default 60,000.
   */
  readonly leaseMs?: number;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** As Standard Webhooks proposes: 23.6 hours in all. */
const WAITS_MS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 8 * HOUR, 8 * HOUR];
/** Up to this part of a wait is added, so that what failed together is not tried together. */
const JITTER = 0.1;
/** Owners that are delivered to at once. */
const AT_ONCE = 8;
const LEASE_MS = 60 * SECOND;
/** How much of a lease is used. */
const USED = 2 / 3;
const PAGE = 50;
/** A queue that can't be read, or an event whose words can't, is looked at again after this. */
const LOOK_AGAIN_MS = 5 * SECOND;
/** The longest wait between two looks, in milliseconds: a timer can't be much longer. */
const LONGEST_MS = HOUR;

/**
 * Delivers the queue: an owner's events one after the other, of several owners at once. One that fails is tried again with growing waits,
 * and holds back that owner's alone; after the last wait it is given up. What a crash interrupts is delivered again, by the same id.
 */
export class WebhookWorker {
  readonly #parts: WebhookWorkerParts;
  readonly #waitsMs: readonly number[];
  readonly #leaseMs: number;
  readonly #stopped = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #stopListening: () => void = () => {};
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> | null = null;
  #again = false;

  constructor(parts: WebhookWorkerParts, { waitsMs = WAITS_MS, leaseMs = LEASE_MS }: WebhookWorkerOptions = {}) {
    this.#parts = parts;
    this.#waitsMs = waitsMs;
    this.#leaseMs = leaseMs;
  }

  start(): void {
    this.#stopListening = this.#parts.log.onAdded(() => this.look());
    this.look();
  }

  /** Breaks off what is being sent, and resolves when nothing runs. */
  async stop(): Promise<void> {
    this.#stopListening();
    this.#stopped.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#looking;
    await Promise.all(this.#running);
  }

  /** Looks for what is due, now. */
  look(): void {
    this.#again = true;
    this.#looking ??= this.#lookAll().finally(() => {
      this.#looking = null;
    });
  }

  async #lookAll(): Promise<void> {
    while (this.#again && !this.#stopped.signal.aborted) {
      this.#again = false;
      try {
        await this.#take();
      } catch (error) {
        this.#parts.logger.warn({ err: error }, "the queue of webhooks could not be read; it is looked at again");
        this.#lookIn(LOOK_AGAIN_MS);
      }
    }
  }

  async #take(): Promise<void> {
    const { queue, clock, log } = this.#parts;
    const room = AT_ONCE - this.#running.size;
    if (room <= 0) return;
    const claimed = await queue.claim(clock.now(), room, this.#leaseMs);
    for (const each of claimed) {
      const running = this.#deliver(each).finally(() => {
        this.#running.delete(running);
        this.look();
      });
      this.#running.add(running);
    }
    if (claimed.length > 0) return;
    const dueMs = await queue.nextDueMs();
    const waits = [dueMs === null ? null : dueMs - clock.now().getTime(), log.pollMs].filter((ms) => ms !== null);
    if (waits.length > 0) this.#lookIn(Math.min(...waits));
  }

  #lookIn(ms: number): void {
    if (this.#stopped.signal.aborted) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.look(), Math.min(Math.max(ms, 1), LONGEST_MS)).unref();
  }

  async #deliver(claimed: ClaimedOwner): Promise<void> {
    const { queue, logger } = this.#parts;
    try {
      await queue.release(claimed, await this.#deliverAll(claimed));
    } catch (error) {
      const stopped = this.#stopped.signal.aborted;
      if (!stopped) logger.warn({ err: error }, "events could not be delivered; they are tried again");
      const dueAt = new Date(this.#parts.clock.now().getTime() + (stopped ? 0 : LOOK_AGAIN_MS));
      await queue.release(claimed, { dueAt, attempts: claimed.attempts }).catch(() => undefined);
    }
  }

  /** Until one fails, none is left, or the lease is used up. When the owner is due next, and the tries of their first event. */
  async #deliverAll({ owner, attempts: before }: ClaimedOwner): Promise<{ readonly dueAt: Date | null; readonly attempts: number }> {
    const { queue, sender, told, clock, logger } = this.#parts;
    const until = performance.now() + this.#leaseMs * USED;
    let attempts = before;
    for (;;) {
      const events = await queue.next(owner, PAGE);
      if (events.length === 0) return { dueAt: null, attempts: 0 };
      for (const event of events) {
        if (performance.now() > until) return { dueAt: clock.now(), attempts };
        const end = await sender.send(await told({ owner, event }), this.#stopped.signal);
        const now = clock.now();
        const waitMs = end.outcome === "failed" ? this.#waitsMs[attempts] : undefined;
        if (end.outcome === "delivered") await queue.delivered(owner, event.id);
        else if (waitMs !== undefined) {
          logger.debug({ event: event.type, event_id: event.id, error: end.error }, "a webhook failed; it is tried again");
          return { dueAt: new Date(now.getTime() + waitMs * (1 + Math.random() * JITTER)), attempts: attempts + 1 };
        } else {
          logger.error({ event: event.type, event_id: event.id, error: end.error }, "a webhook was given up; it can be repeated");
          await queue.bury(owner, event.id, { attempts: attempts + 1, error: end.error, deadSince: now.toISOString() });
        }
        attempts = 0;
      }
    }
  }
}
