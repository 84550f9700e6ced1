import { GrowingWait } from "../platform/growing-wait.js";
import type { Logger } from "../platform/logger.js";

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
  readonly #retry = new GrowingWait(RETRY_MS, MAX_RETRY_MS);
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
    this.#retry.cancel();
    await this.#running;
  }

  async #once(): Promise<void> {
    try {
      this.#retry.cancel();
      await this.#work();
      this.#failed = false;
      this.#retry.reset();
    } catch (error) {
      this.#failed = true;
      this.#logger.error({ what: this.#what, err: error }, "catching up with the journals failed");
      if (!this.#stopped) this.#retry.begin(() => void this.run());
    } finally {
      this.#running = null;
    }
  }
}
