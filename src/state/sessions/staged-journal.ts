import type { Owner } from "../../domain/owner.js";
import type { JournalRecord } from "../../domain/session.js";
import { inCommits } from "../commit-limits.js";
import { committed } from "../durable-commit.js";
import type { Commit, CommitResult, StateEngine } from "../engine.js";
import { ERASURE_KEY, ownerErased } from "../ledger/ledger-values.js";
import { named, ownerPartition } from "../partition.js";
import { partsOf } from "../stored-rows.js";
import { journalPrefix, recordsKey, sessionKey } from "./keys.js";
import { discardBuilt, trashKey, trashPut } from "./remove.js";
import { rowWrite, type StoredHead, withRecords } from "./session-row.js";

/** A row of that many characters and records is full. */
const ROW_CHARS = 200_000;
const ROW_RECORDS = 200;

interface Row {
  readonly firstSeq: number;
  readonly records: readonly JournalRecord[];
}

interface Staged {
  readonly owner: Owner;
  readonly sessionId: string;
  readonly generation: string;
  /** That the owner must be in. Default: any. */
  readonly epoch: number | undefined;
  /** Of the trash's row, which whoever clears up changes first. */
  readonly version: number;
  readonly nowMs: number;
}

/**
 * A journal that takes several commits to write: its rows lie in a generation that nothing refers to until the last commit. What a crash
 * leaves of it is in the trash already.
 */
export class StagedJournal {
  readonly #engine: StateEngine;
  readonly #of: Staged;

  private constructor(engine: StateEngine, of: Staged) {
    this.#engine = engine;
    this.#of = of;
  }

  /** @throws OWNER_ERASED */
  static async begin(engine: StateEngine, owner: Owner, sessionId: string, generation: string, epoch?: number): Promise<StagedJournal> {
    const partition = ownerPartition(owner);
    const { nowMs } = await engine.read(partition, {});
    const put = trashPut(sessionId, generation, { building: true, atMs: nowMs, prefixes: [journalPrefix(sessionId, generation)] });
    const checks = [{ key: ERASURE_KEY, version: null }];
    const result = await committed(engine, partition, { checks, puts: [put], ...(epoch !== undefined && { epoch }) });
    if (!result.ok) throw ownerErased();
    return new StagedJournal(engine, { owner, sessionId, generation, epoch, version: result.version, nowMs });
  }

  /** Writes rows, each under its first seq. */
  async addRows(rows: readonly Row[]): Promise<void> {
    const { manifest } = this.#engine;
    const puts = rows.map(({ firstSeq, records }) => {
      const key = recordsKey(this.#of.sessionId, this.#of.generation, firstSeq);
      return { puts: partsOf(key, JSON.stringify(records), manifest.maxValueBytes) };
    });
    for (const batch of inCommits(manifest, puts))
      await committed(this.#engine, ownerPartition(this.#of.owner), { puts: batch.flatMap((each) => each.puts) });
  }

  /** Writes all records, in rows of a fair size. The head with what they add to it, for one that had none of them. */
  async addAll(records: AsyncIterable<JournalRecord> | Iterable<JournalRecord>, head: StoredHead): Promise<StoredHead> {
    let after = head;
    let row: JournalRecord[] = [];
    let chars = 0;
    const flush = async () => {
      const [first] = row;
      if (first !== undefined) await this.addRows([{ firstSeq: first.seq, records: row }]);
      after = withRecords(after, row);
      [row, chars] = [[], 0];
    };
    for await (const record of records) {
      row.push(record);
      chars += JSON.stringify(record).length;
      if (row.length >= ROW_RECORDS || chars >= ROW_CHARS) await flush();
    }
    await flush();
    return after;
  }

  /** The session goes on with the rows, under the head `after`; those that it had go. Refused where it is not as `before` has it. */
  replace(before: StoredHead, after: StoredHead): Promise<CommitResult> {
    const row = rowWrite(this.#of.sessionId, after, this.#engine.manifest.maxValueBytes);
    const prefixes = before.generation === "" ? [] : [journalPrefix(this.#of.sessionId, before.generation)];
    const gone = prefixes.map(() => trashPut(this.#of.sessionId, before.generation, { building: false, atMs: this.#of.nowMs, prefixes }));
    const checks = [{ key: sessionKey(this.#of.sessionId), version: before.version }];
    return this.finish({ checks, puts: [named(this.#of.owner), ...row.puts, ...gone], deletes: row.deletes });
  }

  /** The commit that refers to the rows. Where it is refused, they go. */
  async finish(commit: Omit<Commit, "id">): Promise<CommitResult> {
    const key = trashKey(this.#of.sessionId, this.#of.generation);
    const result = await committed(this.#engine, ownerPartition(this.#of.owner), {
      ...commit,
      checks: [...(commit.checks ?? []), { key, version: this.#of.version }],
      deletes: [...(commit.deletes ?? []), key],
      ...(this.#of.epoch !== undefined && { epoch: this.#of.epoch }),
    });
    if (!result.ok) await this.discard();
    return result;
  }

  async discard(): Promise<void> {
    await discardBuilt(this.#engine, ownerPartition(this.#of.owner), this.#of.sessionId, this.#of.generation);
  }
}
