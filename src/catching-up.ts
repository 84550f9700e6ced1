import type { Logger } from "./platform/logger.js";

/**
 * Work that brings something derived level with the journals: one run at a time; asked for while it runs, it runs once more.
 * A run that fails is logged and shows in `state` until one succeeds.
 */
export class CatchingUp {
  readonly #work: () => Promise<unknown>;
  readonly #what: string;
  readonly #logger: Logger;
  #running: Promise<void> | null = null;
  #again = false;
  #failed = false;

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

  /** Resolves when nothing runs. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async #once(): Promise<void> {
    try {
      await this.#work();
      this.#failed = false;
    } catch (error) {
      this.#failed = true;
      this.#logger.error({ what: this.#what, err: error }, "catching up with the journals failed");
    } finally {
      this.#running = null;
    }
  }
}
