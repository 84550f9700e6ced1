import type { z } from "zod";
import type { Owner } from "../../domain/owner.js";
import { readingRecordSchema, turnRecordSchema, writeBackRecordSchema } from "../../domain/turn-record.js";
import { batchesOf } from "../../platform/batches.js";
import type { RecordedParts, TurnRecords } from "../../ports/turn-records.js";
import { committed } from "../durable-commit.js";
import { OPERATIONS_AT_ONCE, prefixRange, type StateEngine } from "../engine.js";
import { optimisticChange, unchanged } from "../optimistic-commit.js";
import { numberKey, ownerPartition } from "../partition.js";
import { sessionKey, TURN_RECORDS, turnRecordsOf } from "../sessions/keys.js";
import { rowPages, rowsIn } from "../stored-rows.js";

/** Of one part; what is over it loses its longest lists. */
const MAX_BYTES = 64 * 1024;
/** What is left of a list that made a record too long. */
const SHORT = 20;

const SCHEMAS = { turn: turnRecordSchema, reading: readingRecordSchema, writeBack: writeBackRecordSchema } as const;
const PARTS = Object.keys(SCHEMAS) as (keyof RecordedParts)[];

/** `turn-record/{session}/{turn}/{part}`: each part is written once or twice, by whoever knows it, and none waits for another. */
export class EngineTurnRecords implements TurnRecords {
  readonly #engine: StateEngine;

  constructor(engine: StateEngine) {
    this.#engine = engine;
  }

  async put(owner: Owner, sessionId: string, turn: number, parts: Partial<RecordedParts>): Promise<void> {
    const puts = PARTS.flatMap((part) => {
      const value = parts[part] ?? null;
      return value === null ? [] : [{ key: keyOf(sessionId, turn, part), value: bounded(value) }];
    });
    if (puts.length === 0) return;
    const row = sessionKey(sessionId);
    // Whoever removes the session changes its row in the same commit.
    await optimisticChange(this.#engine, ownerPartition(owner), { keys: [row] }, (read) =>
      read.entries.has(row) ? { epoch: read.epoch, checks: unchanged(read, row), puts } : null,
    );
  }

  async get(owner: Owner, sessionId: string, turn: number): Promise<RecordedParts> {
    const keys = PARTS.map((part) => keyOf(sessionId, turn, part));
    const { entries } = await this.#engine.read(ownerPartition(owner), { keys });
    const read = <K extends keyof RecordedParts>(part: K) => parsed(SCHEMAS[part], entries.get(keyOf(sessionId, turn, part))?.value);
    return { turn: read("turn"), reading: read("reading"), writeBack: read("writeBack") } as RecordedParts;
  }

  async removeSession(owner: Owner, sessionId: string): Promise<void> {
    await this.#removeAll(owner, turnRecordsOf(sessionId));
  }

  erase(owner: Owner): Promise<number> {
    return this.#removeAll(owner, TURN_RECORDS);
  }

  async residue(owner: Owner): Promise<number> {
    return (await rowsIn(this.#engine, ownerPartition(owner), prefixRange(TURN_RECORDS))).length;
  }

  /** A page at a time: each holds whole records. */
  async #removeAll(owner: Owner, prefix: string): Promise<number> {
    const partition = ownerPartition(owner);
    const turns = new Set<string>();
    for await (const page of rowPages(this.#engine, partition, prefix))
      for (const rows of batchesOf(page, OPERATIONS_AT_ONCE)) {
        const deletes = rows.map(({ key }) => key);
        await committed(this.#engine, partition, { deletes });
        for (const key of deletes) turns.add(key.slice(0, key.lastIndexOf("/")));
      }
    return turns.size;
  }
}

function keyOf(sessionId: string, turn: number, part: keyof RecordedParts): string {
  return `${turnRecordsOf(sessionId)}${numberKey(turn)}/${part}`;
}

function bounded(value: object): string {
  const whole = JSON.stringify(value);
  if (Buffer.byteLength(whole) <= MAX_BYTES) return whole;
  return JSON.stringify(value, (_, each: unknown) => (Array.isArray(each) ? each.slice(0, SHORT) : each));
}

/** One of a version that isn't known is none. */
function parsed(schema: z.ZodType, value: string | undefined): unknown {
  return value === undefined ? null : (schema.safeParse(JSON.parse(value)).data ?? null);
}
