import { JobWorker } from "../jobs/job-worker.js";
import type { Clock } from "../platform/clock.js";
import { LEASE_MS } from "../platform/held-lease.js";
import type { Logger } from "../platform/logger.js";
import type { ClaimedOwner, EventLog, EventQueue, KeptEvent, ToldEvent, WebhookSender } from "../ports/events.js";

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
/** An owner with more to be told is delivered to for so long at a stretch, in milliseconds: others wait for their turn. */
const STRETCH_MS = 40 * SECOND;
const PAGE = 50;
/** An event whose words can't be read is looked at again after this. */
const LOOK_AGAIN_MS = 5 * SECOND;

/**
 * Delivers the queue: an owner's events one after the other, of several owners at once. One that fails is tried again with growing waits,
 * and holds back that owner's alone; after the last wait it is given up. What a crash interrupts is delivered again, by the same id.
 */
export class WebhookWorker {
  readonly #parts: WebhookWorkerParts;
  readonly #waitsMs: readonly number[];
  readonly #jobs: JobWorker<ClaimedOwner>;
  #stopListening: () => void = () => {};

  constructor(parts: WebhookWorkerParts, { waitsMs = WAITS_MS }: WebhookWorkerOptions = {}) {
    this.#parts = parts;
    this.#waitsMs = waitsMs;
    this.#jobs = this.#worker();
  }

  start(): void {
    this.#stopListening = this.#parts.log.onAdded(() => this.kick());
    this.#jobs.start();
  }

  /** As {@link JobWorker.kick}. */
  kick(): void {
    this.#jobs.kick();
  }

  /** Breaks off what is being sent, and resolves when nothing runs. */
  async stop(): Promise<void> {
    this.#stopListening();
    await this.#jobs.stop();
  }

  #worker(): JobWorker<ClaimedOwner> {
    const { queue, clock, log, logger } = this.#parts;
    const dueIn = (ms: number) => new Date(clock.now().getTime() + ms);
    return new JobWorker<ClaimedOwner>(
      {
        name: "webhooks",
        ownerOf: ({ owner }) => owner,
        keyOf: ({ owner }) => owner,
        placeOf: () => ({}),
        claim: (limit) => queue.claim(clock.now(), limit, LEASE_MS),
        renew: (claimed) => queue.renew(claimed, LEASE_MS),
        letGo: (claimed) => queue.release(claimed, { dueAt: clock.now(), attempts: claimed.attempts }),
        run: async (claimed, signal) => queue.release(claimed, await this.#deliverAll(claimed, signal)),
        failed: async (claimed, error) => {
          logger.warn({ err: error }, "events could not be delivered; they are tried again");
          await queue.release(claimed, { dueAt: dueIn(LOOK_AGAIN_MS), attempts: claimed.attempts });
          return false;
        },
        nextLookMs: async (claimed) => {
          // The end of each looks again; this is for what becomes due behind one that hangs.
          if (claimed > 0) return LOOK_AGAIN_MS;
          const dueMs = await queue.nextDueMs();
          const waits = [dueMs === null ? null : dueMs - clock.now().getTime(), log.pollMs].filter((ms) => ms !== null);
          return waits.length === 0 ? null : Math.min(...waits);
        },
      },
      logger,
      { concurrency: AT_ONCE },
    );
  }

  /** Until one fails, none is left, or the stretch is over. When the owner is due next, and the tries of their first event. */
  async #deliverAll(
    { owner, attempts: before }: ClaimedOwner,
    signal: AbortSignal,
  ): Promise<{ readonly dueAt: Date | null; readonly attempts: number }> {
    const { queue, sender, told, clock, logger } = this.#parts;
    const until = performance.now() + STRETCH_MS;
    let attempts = before;
    for (;;) {
      const events = await queue.next(owner, PAGE);
      if (events.length === 0) return { dueAt: null, attempts: 0 };
      for (const event of events) {
        const sent = signal.aborted || performance.now() > until ? null : sender.send(await told({ owner, event }), signal);
        const end = await sent?.catch((error: unknown) => {
          if (!signal.aborted) throw error;
        });
        const now = clock.now();
        // Broken off, or the stretch is over: the tries of those before it are not its own.
        if (!end) return { dueAt: now, attempts };
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
