import type { Owner } from "../../domain/owner.js";
import type { JournalRecord, NewRecord } from "../../domain/session.js";
import { AppError } from "../../platform/errors.js";
import type {
  AppendOptions,
  CreateOptions,
  JournalCheck,
  NewestFirstOptions,
  ReadOptions,
  ShortTermMemory,
  WindowRead,
} from "../../ports/session-store.js";
import type { JournalEnd, RestoresJournals } from "../../ports/transfer.js";
import { prefixRange, type StateEngine } from "../engine.js";
import { checkSessionId } from "../journal/new-records.js";
import { outsideRewinds, standing, throwIfAborted } from "../journal/selected-records.js";
import { ownerPartition } from "../partition.js";
import type { AtomicSessionWrite } from "./atomic-session-write.js";
import { firstSeqOf, JournalRows, recordsIn, windowOf, windowRows } from "./journal-rows.js";
import { journalsOf, sessionRange } from "./keys.js";
import { headsOf, ownersOf } from "./owners.js";
import { eraseJournals, journalResidue, removeSession } from "./remove.js";
import { rewriteJournal } from "./rewrite.js";
import type { SessionHeads } from "./session-heads.js";
import { headOf, rewindMarks, type StoredHead } from "./session-row.js";
import { readHead } from "./session-rows.js";

export interface EngineJournalParts {
  readonly engine: StateEngine;
  readonly write: AtomicSessionWrite<StoredHead>;
  readonly heads: SessionHeads<StoredHead>;
}

/** Journals as rows, one an append. Written together with all that the index makes of them. */
export class EngineJournal implements ShortTermMemory, RestoresJournals {
  readonly #engine: StateEngine;
  readonly #write: AtomicSessionWrite<StoredHead>;
  readonly #heads: SessionHeads<StoredHead>;

  constructor({ engine, write, heads }: EngineJournalParts) {
    this.#engine = engine;
    this.#write = write;
    this.#heads = heads;
  }

  create(owner: Owner, sessionId: string, records: readonly NewRecord[], options?: CreateOptions): Promise<readonly JournalRecord[]> {
    return this.#write.create(owner, sessionId, records, options);
  }

  append(owner: Owner, sessionId: string, records: readonly NewRecord[], options?: AppendOptions): Promise<readonly JournalRecord[]> {
    return this.#write.append(owner, sessionId, records, options);
  }

  async window(owner: Owner, sessionId: string, options: { readonly rounds: number; readonly signal?: AbortSignal }): Promise<WindowRead> {
    const { rounds, signal } = options;
    checkSessionId(sessionId);
    throwIfAborted(signal);
    const newest = { ...prefixRange(journalsOf(sessionId)), limit: windowRows(rounds), reverse: true };
    const read = await this.#engine.read(ownerPartition(owner), { ranges: [sessionRange(sessionId), newest] });
    throwIfAborted(signal);
    const head = headOf(owner, read.ranges[0] ?? []);
    if (head === null || head.incarnation === "") throw new AppError("SESSION_NOT_FOUND");
    const rows = new JournalRows(this.#engine, owner, sessionId, { signal });
    return windowOf(rows, sessionId, head, read.ranges[1] ?? [], rounds);
  }

  async *read(owner: Owner, sessionId: string, options: ReadOptions = {}): AsyncGenerator<JournalRecord> {
    const { fromSeq = 1, includeRewound = false, signal } = options;
    checkSessionId(sessionId);
    throwIfAborted(signal);
    const head = await readHead(this.#engine, owner, sessionId);
    const stands = includeRewound ? () => true : standing(rewindMarks(head));
    let next = Math.max(1, fromSeq);
    for await (const rows of new JournalRows(this.#engine, owner, sessionId, { signal }).forwards(head, next)) {
      for (const record of rows.flatMap((row) => recordsIn(row))) {
        throwIfAborted(signal);
        if (record.seq > head.lastSeq) return;
        if (record.seq < next) continue;
        next = record.seq + 1;
        if (stands(record)) yield record;
      }
    }
  }

  async *newestFirst(owner: Owner, sessionId: string, options: NewestFirstOptions = {}): AsyncGenerator<JournalRecord> {
    checkSessionId(sessionId);
    throwIfAborted(options.signal);
    const head = await readHead(this.#engine, owner, sessionId);
    yield* outsideRewinds(this.#backwards(head, owner, sessionId, options));
  }

  async *#backwards(
    head: StoredHead,
    owner: Owner,
    sessionId: string,
    { beforeSeq = Number.POSITIVE_INFINITY, signal }: NewestFirstOptions,
  ): AsyncGenerator<JournalRecord> {
    let before = Math.min(beforeSeq, head.lastSeq + 1);
    let upTo = Number.POSITIVE_INFINITY;
    const journal = new JournalRows(this.#engine, owner, sessionId, { signal });
    for await (const rows of journal.backwards(head, before, { skipTo: () => upTo + 1 })) {
      for (const record of rows.flatMap((row) => recordsIn(row).toReversed())) {
        if (record.seq >= before) continue;
        before = record.seq;
        if (record.type === "rewind" && record.seq <= upTo) upTo = record.body.to_seq;
        yield record;
      }
    }
  }

  async rewrite(owner: Owner, sessionId: string, change: (record: JournalRecord) => JournalRecord | null): Promise<void> {
    checkSessionId(sessionId);
    await rewriteJournal(this.#engine, owner, sessionId, change);
    this.#heads.forget(sessionId);
  }

  async restore(owner: Owner, sessionId: string, records: () => AsyncIterable<JournalRecord>, end: JournalEnd): Promise<void> {
    await this.#write.restore(owner, sessionId, records, end);
    this.#heads.forget(sessionId);
  }

  /** Without effect: nothing is packed here. */
  async compress(owner: Owner, sessionId: string): Promise<void> {
    checkSessionId(sessionId);
    await readHead(this.#engine, owner, sessionId);
  }

  async remove(owner: Owner, sessionId: string): Promise<boolean> {
    checkSessionId(sessionId);
    this.#heads.forget(sessionId);
    return removeSession(this.#engine, owner, sessionId, "whole");
  }

  async *list(): AsyncGenerator<{ readonly owner: Owner; readonly sessionId: string; readonly lastSeq: number }> {
    for await (const owner of ownersOf(this.#engine))
      for await (const page of headsOf(this.#engine, owner))
        for (const { sessionId, head } of page) if (head.incarnation !== "") yield { owner, sessionId, lastSeq: head.lastSeq };
  }

  async *check(): AsyncGenerator<JournalCheck> {
    for await (const { owner, sessionId } of this.list()) {
      const head = await readHead(this.#engine, owner, sessionId).catch(() => null);
      if (head === null) continue;
      const damagedLines: number[] = [];
      let records = 0;
      for await (const rows of new JournalRows(this.#engine, owner, sessionId).forwards(head))
        for (const row of rows) {
          const first = firstSeqOf(row.key);
          records += recordsIn(row, (place) => damagedLines.push(first + place)).length;
        }
      yield { sessionId, path: null, records, damagedLines, tornBytes: 0 };
    }
  }

  async erase(owner: Owner): Promise<{ readonly sessions: number; readonly messages: number }> {
    this.#heads.clear();
    return eraseJournals(this.#engine, owner);
  }

  residue(owner: Owner): Promise<number> {
    return journalResidue(this.#engine, owner);
  }
}
