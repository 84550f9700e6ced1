/** Whoever waits for a condition looks again when something has changed. */
export class Changes {
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
