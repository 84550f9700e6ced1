import { afterEach, beforeEach, expect } from "vitest";
import { newId } from "../../platform/ids.js";
import type { Commit, CommitResult, PartitionRead, StateEngine } from "../../state/engine.js";

export interface StateEngineUnderTest {
  /** Empty. */
  readonly engine: StateEngine;
  /** Another process on the same data; where the engine is not shared, after it was closed. Closed by `dispose`. */
  open?(): Promise<StateEngine>;
  dispose(): Promise<void>;
}

/** `shared`: several processes at once; `durable`: what was acknowledged outlives the process; `unicodeKeys`: keys beyond ASCII. */
export type StateEngineFeature = "shared" | "durable" | "unicodeKeys";

/** The engine that a test is at, and what the tests do to it over and over. */
export class EngineWorld {
  #made: StateEngineUnderTest | undefined;

  constructor(make: () => Promise<StateEngineUnderTest>) {
    beforeEach(async () => {
      this.#made = await make();
    });
    afterEach(() => this.made.dispose());
  }

  get made(): StateEngineUnderTest {
    if (this.#made === undefined) throw new Error("No test is running.");
    return this.#made;
  }

  get engine(): StateEngine {
    return this.made.engine;
  }

  async another(): Promise<StateEngine> {
    if (this.made.open === undefined) throw new Error("The engine under test has to name `open`, or what it does not support.");
    return this.made.open();
  }

  /** Two processes on the same data, where the engine allows that; else the same one twice. */
  async pair(): Promise<readonly [StateEngine, StateEngine]> {
    const { engine } = this;
    return [engine, engine.manifest.shared && this.made.open !== undefined ? await this.another() : engine];
  }

  commit(partition: string, commit: Omit<Commit, "id">): Promise<CommitResult> {
    return this.engine.commit(partition, { id: newId(), ...commit });
  }

  /** A commit that must go well. Resolves with the partition's version. */
  async write(partition: string, commit: Omit<Commit, "id">): Promise<number> {
    const result = await this.commit(partition, commit);
    expect(result).toMatchObject({ ok: true });
    return result.version;
  }

  put(partition: string, values: Readonly<Record<string, string>>, more: Omit<Commit, "id" | "puts"> = {}): Promise<number> {
    return this.write(partition, { puts: Object.entries(values).map(([key, value]) => ({ key, value })), ...more });
  }

  /** All that the partition holds. */
  async all(partition: string): Promise<Readonly<Record<string, string>>> {
    const { ranges } = await this.engine.read(partition, { ranges: [EVERYTHING] });
    return Object.fromEntries((ranges[0] ?? []).map(({ key, value }) => [key, value]));
  }

  head(partition: string): Promise<PartitionRead> {
    return this.engine.read(partition, {});
  }
}

export const EVERYTHING = { from: "", to: "\u{10FFFF}" };

export function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
