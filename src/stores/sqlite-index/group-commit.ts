import { setImmediate } from "node:timers";
import type { Sqlite } from "../../platform/sqlite.js";

interface Waiting {
  readonly work: () => void;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Does what is asked for in one turn of the event loop in one transaction: sessions share pages, and a commit costs the pages that it
 * writes. What fails takes nothing else with it. Work may run twice, of which one run is rolled back.
 */
export class GroupCommit {
  readonly #db: Sqlite;
  readonly #rolledBack: () => void;
  #waiting: Waiting[] = [];

  /** A database in memory commits for nothing: there all is done at once. `rolledBack`: what work has remembered is not so. */
  constructor(db: Sqlite, rolledBack: () => void = () => undefined) {
    this.#db = db;
    this.#rolledBack = rolledBack;
  }

  /** Resolves when it is committed. @throws what the work throws, or the commit */
  run(work: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0 && !this.#db.memory) setImmediate(() => this.flush());
      this.#waiting.push({ work, resolve, reject });
      if (this.#db.memory) this.flush();
    });
  }

  /** Commits what waits now: what is written next by another way comes after it. */
  flush(): void {
    const group = this.#waiting;
    this.#waiting = [];
    if (group.length > 1 && this.#together(group)) return;
    for (const { work, resolve, reject } of group) {
      try {
        this.#db.transaction(work)();
        resolve();
      } catch (error) {
        this.#rolledBack();
        reject(error);
      }
    }
  }

  #together(group: readonly Waiting[]): boolean {
    try {
      this.#db.transaction(() => {
        for (const { work } of group) work();
      })();
    } catch {
      // One of them fails: each is done by itself.
      this.#rolledBack();
      return false;
    }
    for (const { resolve } of group) resolve();
    return true;
  }
}
