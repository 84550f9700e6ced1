/** Runs what has the same key one after the other, first come, first served; other keys are not held up. */
export class KeyedMutex {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** Resolves or rejects as `work` does. What failed before doesn't matter to the next in line. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    const turn = before === undefined ? work() : before.then(work, work);
    const tail = turn
      .catch(() => undefined)
      .then(() => {
        if (this.#tails.get(key) === tail) this.#tails.delete(key);
      });
    this.#tails.set(key, tail);
    return turn;
  }

  /** Resolves when nothing that was started before is still running. */
  async settled(): Promise<void> {
    await Promise.all(this.#tails.values());
  }
}
