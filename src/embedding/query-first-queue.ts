import type { EmbeddingKind } from "../ports/embedding.js";

/**
 * One piece of work at a time. What somebody waits for (`query`) comes before all that waits to be found (`document`); within a kind, in
 * the order in which it was asked for. So a query waits for one piece at most, however much is queued.
 */
export class QueryFirstQueue {
  readonly #waiting: Readonly<Record<EmbeddingKind, (() => Promise<void>)[]>> = { query: [], document: [] };
  #running: Promise<void> | null = null;

  run<T>(kind: EmbeddingKind, work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting[kind].push(() => work().then(resolve, reject));
      this.#running ??= this.#drain();
    });
  }

  /** Resolves when nothing runs or waits. */
  async settled(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  async #drain(): Promise<void> {
    for (;;) {
      const next = this.#waiting.query.shift() ?? this.#waiting.document.shift();
      if (next === undefined) break;
      await next();
    }
    this.#running = null;
  }
}
