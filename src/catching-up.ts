import type { Logger } from "./platform/logger.js";

/** The first wait before a run that failed is repeated, and the longest, in milliseconds. */
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 10 * 60_000;

/**
 * Work that brings something derived level with the journals: one run at a time; asked for while it runs, it runs once more.
 * A run that fails is logged, shows in `state` until one succeeds, and is repeated with growing waits.
 */
export class CatchingUp {
  readonly #work: () => Promise<unknown>;
  readonly #what: string;
  readonly #logger: Logger;
  #running: Promise<void> | null = null;
  #again = false;
  #waitMs = RETRY_MS;
  #timer: NodeJS.Timeout | null = null;
  #failed = false;
  #stopped = false;

  constructor(what: string, work: () => Promise<unknown>, logger: Logger) {
    this.#what = what;
    this.#work = work;
    this.#logger = logger;
  }

  get state(): "level" | "running" | "failed" {
    if (this.#running) return "running";
    return this.#failed ? "failed" : "level";
  }

  /** Resolves when a run that began after this call has ended. Never throws. */
  async run(): Promise<void> {
    this.#again = true;
    while (this.#again || this.#running) {
      if (this.#running) await this.#running;
      else {
        this.#again = false;
        this.#running = this.#once();
        await this.#running;
      }
    }
  }

  /** Ends the repetition of what failed, and resolves when nothing runs. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#forgetTimer();
    await this.#running;
  }

  #forgetTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  async #once(): Promise<void> {
    try {
      this.#forgetTimer();
      await this.#work();
      this.#failed = false;
      this.#waitMs = RETRY_MS;
    } catch (error) {
      this.#failed = true;
      this.#logger.error({ what: this.#what, err: error }, "catching up with the journals failed");
      if (!this.#stopped) this.#timer = setTimeout(() => void this.run(), this.#waitMs).unref();
      this.#waitMs = Math.min(2 * this.#waitMs, MAX_RETRY_MS);
    } finally {
      this.#running = null;
    }
  }
}
