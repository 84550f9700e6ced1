import type { Clock } from "../../platform/clock.js";
import type { ReadingCalls } from "../../ports/extraction.js";
import { committed } from "../durable-commit.js";
import { prefixRange, type StateEngine, type StoredEntry } from "../engine.js";
import { optimisticChange } from "../optimistic-commit.js";
import { systemPartition } from "../partition.js";
import { jsonOf, rowAt } from "../stored-rows.js";

const PARTITION = systemPartition("readings");
const PREFIX = "reading/";
/** What nobody has read or given up by then never will be: its conversation is gone. */
const KEPT_MS = 30 * 24 * 60 * 60_000;
/** Old ones that go with one that is kept. */
const LOOKED_AT = 20;

interface Kept {
  readonly left: number;
  readonly at: string;
}

/** `reading/{message id}`: ids are ordered by time, so that the oldest come first. */
export class EngineReadingCalls implements ReadingCalls {
  readonly #engine: StateEngine;
  readonly #clock: Clock;

  constructor(engine: StateEngine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  async left(messageId: string): Promise<number | null> {
    return jsonOf<Kept>(await rowAt(this.#engine, PARTITION, keyOf(messageId)))?.left ?? null;
  }

  async keep(messageId: string, left: number): Promise<void> {
    const now = this.#clock.now();
    const value = JSON.stringify({ left, at: now.toISOString() } satisfies Kept);
    await optimisticChange(this.#engine, PARTITION, { ranges: [{ ...prefixRange(PREFIX), limit: LOOKED_AT }] }, (read) => {
      const isOld = (entry: StoredEntry) => now.getTime() - Date.parse(jsonOf<Kept>(entry).at) > KEPT_MS;
      const deletes = (read.ranges[0] ?? []).filter((entry) => entry.key !== keyOf(messageId) && isOld(entry)).map(({ key }) => key);
      return { puts: [{ key: keyOf(messageId), value }], deletes };
    });
  }

  async forget(messageId: string): Promise<void> {
    await committed(this.#engine, PARTITION, { deletes: [keyOf(messageId)] });
  }
}

function keyOf(messageId: string): string {
  return `${PREFIX}${messageId}`;
}
