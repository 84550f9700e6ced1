import type { Owner } from "../domain/owner.js";
import { boundedSignal } from "../platform/bounded-signal.js";
import { type HeldLease, holdLease } from "../platform/held-lease.js";
import type { Logger } from "../platform/logger.js";

/** Whoever waits for a condition looks again when something has changed. */
class Changes {
  readonly #listeners = new Set<() => void>();

  tell(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Resolves at the next change, after `atMostMs`, or when the signal aborts. */
  next(atMostMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#listeners.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, atMostMs);
      this.#listeners.add(done);
      signal.addEventListener("abort", done, { once: true });
    });
  }
}

/** A queue that could not be read is looked at again after this, in milliseconds, or sooner where it is polled. */
const LOOK_AGAIN_MS = 5_000;
/** The longest wait between two looks, in milliseconds: a timer can't be much longer. */
const LONGEST_MS = 60 * 60_000;

/** Jobs of a kind: where they are kept, and what is done for one. */
export interface JobQueue<J> {
  /** For logs: `webhooks`. */
  readonly name: string;
  /** Whose job it is; null: nobody's, who has no share and is not held. */
  ownerOf(job: J): Owner | null;
  /** Of jobs with the same key one runs at a time. */
  keyOf(job: J): string;
  /** For logs: ids and numbers alone. */
  placeOf(job: J): object;
  /** Jobs that are due, from now on this worker's until their lease ends. None of the owners in `except`. */
  claim(limit: number, except: ReadonlySet<Owner>): Promise<readonly J[]>;
  /** As {@link LeaseCalls.renew}. */
  readonly renew?: ((job: J) => Promise<J | null>) | undefined;
  /** A job that was claimed is due again, as if it had not been: it was not begun, or was broken off. No attempt is counted. */
  letGo(job: J): Promise<void>;
  /** One attempt. Safe to break off and to repeat. */
  run(job: J, signal: AbortSignal): Promise<void>;
  /** Records an attempt that failed: when there is another, or that it was the last. True where the job turns out to be done. */
  failed(job: J, error: unknown, options: { readonly late: boolean }): Promise<boolean>;
  /** What follows a job that is done. Takes no other job's place. Never throws. */
  afterDone?(job: J): Promise<void>;
  /** When it is to be looked again though nobody says so, in milliseconds from now; null: not before. `claimed`: what was found now. */
  nextLookMs(claimed: number): Promise<number | null>;
}

export interface JobWorkerOptions {
  /** Jobs that run at once, half of them of one owner at most: whose hang leave room for others'. */
  readonly concurrency: number;
  /** Bound of one attempt, in milliseconds, asked when it begins. Default: none. */
  readonly timeoutMs?: () => number;
  /** How often whoever waits for a condition looks at it beside being told, in milliseconds. Default 50. */
  readonly waitMs?: number;
}

interface Running<J> {
  readonly job: J;
  readonly controller: AbortController;
  readonly ended: Promise<void>;
}

/** Runs a queue's jobs off every reply's path, as long as it has them under their lease: the one loop of all work in the background. */
export class JobWorker<J> {
  readonly #queue: JobQueue<J>;
  readonly #logger: Logger;
  readonly #concurrency: number;
  readonly #timeoutMs: JobWorkerOptions["timeoutMs"];
  readonly #waitMs: number;
  readonly #running = new Map<string, Running<J>>();
  /** Jobs that are done, and what follows them runs. It may wait for the next job of the same key. */
  readonly #following = new Set<Running<J>>();
  readonly #held = new Map<Owner, number>();
  readonly #changes = new Changes();
  #timer: NodeJS.Timeout | undefined;
  #pumping: Promise<void> | null = null;
  #again = false;
  #polls = false;
  #stopped = false;

  constructor(queue: JobQueue<J>, logger: Logger, { concurrency, timeoutMs, waitMs = 50 }: JobWorkerOptions) {
    this.#queue = queue;
    this.#logger = logger;
    this.#concurrency = concurrency;
    this.#timeoutMs = timeoutMs;
    this.#waitMs = waitMs;
  }

  /** From now on it looks by itself, too. */
  start(): void {
    this.#polls = true;
    this.kick();
  }

  /** Says that there may be something to do. Returns at once. */
  kick(): void {
    if (this.#stopped) return;
    this.#again = true;
    this.#pumping ??= this.#pump().finally(() => {
      this.#pumping = null;
      if (this.#again && !this.#stopped) this.kick();
    });
  }

  /** Jobs that run, and those that something follows. What was claimed by now is among them. */
  async running(): Promise<readonly J[]> {
    await this.#pumping;
    return this.runningNow();
  }

  runningNow(): readonly J[] {
    return this.#all().map(({ job }) => job);
  }

  /** Waits for a condition that can change when a job ends, or with time. False where the signal aborts before. */
  async until(condition: () => Promise<boolean>, signal: AbortSignal): Promise<boolean> {
    for (;;) {
      this.kick();
      if (await condition()) return true;
      if (signal.aborted) return false;
      await this.#changes.next(this.#waitMs, signal);
    }
  }

  /** Breaks the owner's jobs off, waits for them, and starts none until the result is called. */
  async hold(owner: Owner): Promise<() => void> {
    this.#held.set(owner, (this.#held.get(owner) ?? 0) + 1);
    await breakOff(this.#all().filter(({ job }) => this.#queue.ownerOf(job) === owner));
    return () => {
      const left = (this.#held.get(owner) ?? 1) - 1;
      if (left === 0) this.#held.delete(owner);
      else this.#held.set(owner, left);
      this.kick();
    };
  }

  /** Starts nothing more, breaks off what runs, and waits for it. What was not done is done after the next start. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    for (const { controller } of this.#all()) controller.abort();
    await this.#pumping;
    await breakOff(this.#all());
  }

  #all(): readonly Running<J>[] {
    return [...this.#running.values(), ...this.#following];
  }

  async #pump(): Promise<void> {
    while (this.#again && !this.#stopped) {
      this.#again = false;
      const limit = this.#concurrency - this.#running.size;
      if (limit <= 0) return;
      try {
        const except = new Set([...this.#held.keys(), ...this.#busyOwners()]);
        const jobs = await this.#queue.claim(limit, except);
        for (const job of jobs) if (!this.#begin(job)) await this.#queue.letGo(job);
        // Behind an owner who has become busy now, others may be waiting.
        if (jobs.length >= limit && this.#busyOwners().some((owner) => !except.has(owner))) this.#again = true;
        else if (this.#polls) this.#lookIn(await this.#queue.nextLookMs(jobs.length));
      } catch (error) {
        this.#logger.error({ queue: this.#queue.name, err: error }, "jobs could not be looked up; they are looked for again");
        if (this.#polls) this.#lookIn(LOOK_AGAIN_MS);
      }
    }
  }

  #lookIn(ms: number | null): void {
    if (ms === null || this.#stopped) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.kick(), Math.min(Math.max(ms, 1), LONGEST_MS)).unref();
  }

  /** Owners who have as many jobs as one may have. What follows a job is not counted: it may itself wait for the next. */
  #busyOwners(): Owner[] {
    const share = Math.max(1, Math.floor(this.#concurrency / 2));
    const counts = new Map<Owner, number>();
    for (const { job } of this.#running.values()) {
      const owner = this.#queue.ownerOf(job);
      if (owner !== null) counts.set(owner, (counts.get(owner) ?? 0) + 1);
    }
    return [...counts].flatMap(([owner, count]) => (count >= share ? [owner] : []));
  }

  /** False where it is not its time. */
  #begin(job: J): boolean {
    const key = this.#queue.keyOf(job);
    const owner = this.#queue.ownerOf(job);
    if (this.#stopped || this.#running.has(key)) return false;
    if (owner !== null && (this.#held.has(owner) || this.#busyOwners().includes(owner))) return false;
    const controller = new AbortController();
    const changed = () => {
      this.#changes.tell();
      this.kick();
    };
    const ended = this.#attempt(job, controller)
      .then(async (done) => {
        this.#running.delete(key);
        if (!done || this.#queue.afterDone === undefined) return;
        this.#following.add(running);
        changed();
        await this.#queue.afterDone(job);
      })
      .finally(() => {
        this.#following.delete(running);
        changed();
      });
    const running: Running<J> = { job, controller, ended };
    this.#running.set(key, running);
    return true;
  }

  /** True when the job is done. Never throws. */
  async #attempt(job: J, controller: AbortController): Promise<boolean> {
    const bound = boundedSignal([controller.signal], this.#timeoutMs?.());
    const where = { queue: this.#queue.name, ...this.#queue.placeOf(job) };
    const lease = holdLease(job, {
      renew: this.#queue.renew,
      onLost: () => controller.abort(),
      onError: (error) => this.#logger.warn({ ...where, err: error }, "The lease of a job could not be renewed"),
    });
    try {
      await this.#queue.run(job, bound.signal);
      return true;
    } catch (error) {
      return await this.#ended(lease, error, { late: bound.late, brokenOff: controller.signal.aborted });
    } finally {
      bound.end();
      lease.end();
    }
  }

  async #ended(lease: HeldLease<J>, error: unknown, how: { readonly late: boolean; readonly brokenOff: boolean }): Promise<boolean> {
    if (how.brokenOff) {
      await this.#queue.letGo(lease.job).catch(() => undefined);
      return false;
    }
    try {
      return await this.#queue.failed(lease.job, error, how);
    } catch (cause) {
      const where = { queue: this.#queue.name, ...this.#queue.placeOf(lease.job) };
      this.#logger.error({ ...where, err: cause }, "a failed attempt could not be recorded");
      return false;
    }
  }
}

async function breakOff(running: readonly Running<unknown>[]): Promise<void> {
  for (const { controller } of running) controller.abort();
  await Promise.all(running.map(({ ended }) => ended));
}
