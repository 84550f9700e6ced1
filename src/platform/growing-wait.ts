/** A timer for what is tried again: each wait is twice the one before, from `firstMs` to `maxMs`. It keeps no process alive. */
export class GrowingWait {
  readonly #firstMs: number;
  readonly #maxMs: number;
  #nextMs: number;
  #timer: NodeJS.Timeout | null = null;

  constructor(firstMs: number, maxMs: number) {
    this.#firstMs = firstMs;
    this.#maxMs = maxMs;
    this.#nextMs = firstMs;
  }

  /** Calls back after the next wait. One that is under way stays as it is. */
  begin(callback: () => void): void {
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      callback();
    }, this.#nextMs).unref();
    this.#nextMs = Math.min(2 * this.#nextMs, this.#maxMs);
  }

  /** Takes back the call that is under way. */
  cancel(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** It went well: the next wait is the first one again. */
  reset(): void {
    this.#nextMs = this.#firstMs;
  }
}
