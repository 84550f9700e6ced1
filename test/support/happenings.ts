/** Things that happen, to be waited for: those that were told before count. */
export class Happenings<T> {
  readonly all: T[] = [];
  readonly #waiting: (() => void)[] = [];

  tell(what: T): void {
    this.all.push(what);
    for (const go of this.#waiting.splice(0)) go();
  }

  /** Resolves when so many are such ones. */
  async until(isSuch: (what: T) => boolean, times = 1): Promise<void> {
    while (this.all.filter(isSuch).length < times) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
