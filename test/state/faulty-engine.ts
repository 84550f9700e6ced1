import { AppError } from "../../src/platform/errors.js";
import type { Commit, CommitResult, PartitionRead, ReadQuery, StateEngine } from "../../src/state/engine.js";

interface Fault {
  readonly at: number;
  readonly when: "before" | "after";
  readonly error?: Error;
  /** Waited for. */
  readonly held?: () => Promise<void>;
}

/** Over an engine: at the n-th commit from now on, once, the reply is lost, the process dies before or after it, or it is held back. */
export class FaultyEngine implements StateEngine {
  readonly #engine: StateEngine;
  #fault: Fault | null = null;
  #sinceFault = 0;
  /** All that came, also those that failed. */
  commits = 0;

  constructor(engine: StateEngine) {
    this.#engine = engine;
  }

  /** Whether the fault that was set is still to come. */
  get waits(): boolean {
    return this.#fault !== null;
  }

  loseReply(at: number): void {
    this.#set({ at, when: "after", error: new AppError("STORAGE_UNAVAILABLE") });
  }

  crashBefore(at: number, error: Error = new Error("crashed")): void {
    this.#set({ at, when: "before", error });
  }

  crashAfter(at: number, error: Error = new Error("crashed")): void {
    this.#set({ at, when: "after", error });
  }

  /** `reached` when the commit has come; it goes on with `release`. */
  holdBefore(at: number): { readonly reached: Promise<void>; release(): void } {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const reached = new Promise<void>((resolve) => {
      const held = () => {
        resolve();
        return released;
      };
      this.#set({ at, when: "before", held });
    });
    return { reached, release };
  }

  heal(): void {
    this.#fault = null;
  }

  get manifest() {
    return this.#engine.manifest;
  }

  read(partition: string, query: ReadQuery, options?: { readonly signal?: AbortSignal }): Promise<PartitionRead> {
    return this.#engine.read(partition, query, options);
  }

  async commit(partition: string, commit: Commit): Promise<CommitResult> {
    this.commits += 1;
    this.#sinceFault += 1;
    const fault = this.#fault?.at === this.#sinceFault ? this.#fault : null;
    if (fault !== null) this.#fault = null;
    await fault?.held?.();
    if (fault?.when === "before" && fault.error !== undefined) throw fault.error;
    const result = await this.#engine.commit(partition, commit);
    if (fault?.when === "after" && fault.error !== undefined) throw fault.error;
    return result;
  }

  partitions: StateEngine["partitions"] = (page) => this.#engine.partitions(page);
  due: StateEngine["due"] = (...asked) => this.#engine.due(...asked);
  erase: StateEngine["erase"] = (partition) => this.#engine.erase(partition);
  health: StateEngine["health"] = () => this.#engine.health();
  close: StateEngine["close"] = () => this.#engine.close();

  #set(fault: Fault): void {
    this.#fault = fault;
    this.#sinceFault = 0;
  }
}
