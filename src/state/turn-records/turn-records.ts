import { z } from "zod";
import type { Owner } from "../../domain/owner.js";
import { readingRecordSchema, turnRecordSchema, writeBackRecordSchema } from "../../domain/turn-record.js";
import { batchesOf } from "../../platform/bounded-parallel.js";
import type { RecordedParts, TurnRecords } from "../../ports/turn-records.js";
import { committed } from "../durable-commit.js";
import { OPERATIONS_AT_ONCE, prefixRange, type StateEngine } from "../engine.js";
import { optimisticChange, unchanged } from "../optimistic-commit.js";
import { numberKey, ownerPartition } from "../partition.js";
import { sessionKey, TURN_RECORDS, turnRecordsOf } from "../sessions/keys.js";
import { jsonOf, rowAt, rowPages, rowsIn } from "../stored-rows.js";

/** Of a turn's record; what is over it loses its longest lists. */
const MAX_BYTES = 64 * 1024;
/** What is left of a list that made a record too long. */
const SHORT = 20;
/** Turns of a session in one commit: what an engine takes, were all of them at their longest. */
const TURNS_AT_ONCE = 20;

/** A part of a version that isn't known is none. */
const part = <S extends z.ZodType>(schema: S) =>
  schema
    .nullish()
    .catch(null)
    .transform((value) => value ?? null);
const recordSchema = z.object({ turn: part(turnRecordSchema), reading: part(readingRecordSchema), writeBack: part(writeBackRecordSchema) });
const NOTHING: RecordedParts = { turn: null, reading: null, writeBack: null };

/** `turn-record/{session}/{turn}`: what is told of one turn by several is put together in its row. */
export class EngineTurnRecords implements TurnRecords {
  readonly #engine: StateEngine;

  constructor(engine: StateEngine) {
    this.#engine = engine;
  }

  async put(owner: Owner, sessionId: string, turns: ReadonlyMap<number, Partial<RecordedParts>>): Promise<void> {
    const row = sessionKey(sessionId);
    for (const some of batchesOf(turns, TURNS_AT_ONCE)) {
      const given = some.map(([turn, parts]) => ({ key: keyOf(sessionId, turn), parts }));
      const keys = [row, ...given.map(({ key }) => key)];
      // Whoever removes the session changes its row in the same commit.
      await optimisticChange(this.#engine, ownerPartition(owner), { keys }, (read) => {
        if (!read.entries.has(row)) return null;
        const puts = given.map(({ key, parts }) => ({
          key,
          value: bounded({ ...jsonOf<RecordedParts>(read.entries.get(key)), ...parts }),
        }));
        return { epoch: read.epoch, checks: unchanged(read, ...keys), puts, durability: "relaxed" };
      });
    }
  }

  async get(owner: Owner, sessionId: string, turn: number): Promise<RecordedParts> {
    const row = await rowAt(this.#engine, ownerPartition(owner), keyOf(sessionId, turn));
    return row === undefined ? NOTHING : recordSchema.parse(JSON.parse(row.value));
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

  async #removeAll(owner: Owner, prefix: string): Promise<number> {
    const partition = ownerPartition(owner);
    let removed = 0;
    for await (const page of rowPages(this.#engine, partition, prefix))
      for (const rows of batchesOf(page, OPERATIONS_AT_ONCE)) {
        await committed(this.#engine, partition, { deletes: rows.map(({ key }) => key) });
        removed += rows.length;
      }
    return removed;
  }
}

function keyOf(sessionId: string, turn: number): string {
  return `${turnRecordsOf(sessionId)}${numberKey(turn)}`;
}

function bounded(parts: Partial<RecordedParts>): string {
  const whole = JSON.stringify(parts);
  if (Buffer.byteLength(whole) <= MAX_BYTES) return whole;
  return JSON.stringify(parts, (_, each: unknown) => (Array.isArray(each) ? each.slice(0, SHORT) : each));
}
