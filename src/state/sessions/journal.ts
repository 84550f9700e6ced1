import type { Owner } from "../../domain/owner.js";
import { type JournalRecord, MAX_RECORD_BYTES, type NewRecord } from "../../domain/session.js";
import { AppError } from "../../platform/errors.js";
import { KeyedMutex } from "../../platform/keyed-mutex.js";
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
import { throwIfAborted } from "../abortable-read.js";
import { prefixRange, type StateEngine } from "../engine.js";
import { checkFirst, checkRewinds, checkSessionId, numberedAll } from "../journal/journal-codec.js";
import { rewindsIn, standing } from "../journal/selected-records.js";
import { ownerPartition } from "../partition.js";
import { firstSeqOf, JournalRows, recordsIn, windowOf, windowRows } from "./journal-rows.js";
import { journalsOf, nextGeneration, sessionRange } from "./keys.js";
import { headsOf, ownersOf } from "./owners.js";
import { emptyTrash, eraseJournals, journalResidue, removeSession } from "./remove.js";
import { headOf, readHead, rewindMarks, type SessionHeads, type StoredHead, withRecords } from "./session-row.js";
import type { EngineSessionWriter, LockOfWrite } from "./session-writer.js";
import { StagedJournal } from "./staged-journal.js";

interface EngineJournalParts {
  readonly engine: StateEngine;
  readonly writer: EngineSessionWriter;
  readonly heads: SessionHeads;
}

/** Another process may write the session between a look and a write: so often it is looked at anew. */
const MAX_TRIES = 5;

/** Journals as rows, one an append. Written together with all that the index makes of them. */
export class EngineJournal implements ShortTermMemory, RestoresJournals {
  readonly #engine: StateEngine;
  readonly #writer: EngineSessionWriter;
  readonly #heads: SessionHeads;
  readonly #mutex = new KeyedMutex();

  constructor({ engine, writer, heads }: EngineJournalParts) {
    this.#engine = engine;
    this.#writer = writer;
    this.#heads = heads;
  }

  async create(
    owner: Owner,
    sessionId: string,
    records: readonly NewRecord[],
    { epoch, firstOf }: CreateOptions = {},
  ): Promise<readonly JournalRecord[]> {
    checkSessionId(sessionId);
    const kept = numberedAll(owner, records, 0);
    checkFirst(owner, kept);
    const head = await this.#writer.create(owner, sessionId, kept, { epoch, fence: firstOf?.fence });
    firstOf?.begun?.();
    this.#heads.keep(sessionId, head);
    return kept;
  }

  async append(
    owner: Owner,
    sessionId: string,
    records: readonly NewRecord[],
    { expectedSeq, fence, unanswered, firstOf, lastOf }: AppendOptions = {},
  ): Promise<readonly JournalRecord[]> {
    checkSessionId(sessionId);
    return this.#mutex.run(sessionId, async () => {
      for (let tries = 1; tries <= MAX_TRIES; tries++) {
        const known = tries === 1 ? this.#heads.known(owner, sessionId) : undefined;
        const head = known ?? (await readHead(this.#engine, owner, sessionId));
        if (head !== known) checkRewinds(records, head.lastSeq);
        if (head.state?.turns.some(([turn, , , answeredSeq]) => turn === unanswered && answeredSeq !== null) === true)
          throw new AppError("TURN_ANSWERED");
        if (expectedSeq === undefined || expectedSeq === head.lastSeq) {
          const lock = { fence, beginsLock: firstOf !== undefined, endsLock: lastOf !== undefined };
          const written = await this.#tryAppend(head, sessionId, records, lock);
          if (written !== null) {
            firstOf?.begun?.();
            if (records.length > 0) lastOf?.ended?.();
            return written;
          }
        } else if (head !== known) throw new AppError("SESSION_CHANGED");
        this.#heads.forget(sessionId);
      }
      throw new AppError("SESSION_CHANGED");
    });
  }

  /** Null when the session moved on meanwhile. */
  async #tryAppend(
    head: StoredHead,
    sessionId: string,
    records: readonly NewRecord[],
    lock: LockOfWrite,
  ): Promise<readonly JournalRecord[] | null> {
    const kept = numberedAll(head.owner, records, head.lastSeq);
    // What was kept in mind is of before what it goes back to.
    if (rewindsIn(kept).some(({ toSeq }) => toSeq > head.lastSeq)) return null;
    if (kept.length === 0) return kept;
    const after = await this.#writer.append(head, sessionId, kept, lock);
    if (after === null) return null;
    this.#heads.keep(sessionId, after);
    return kept;
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
    return windowOf(new JournalRows(this.#engine, sessionId, head, signal), sessionId, head, read.ranges[1] ?? [], rounds);
  }

  async *read(owner: Owner, sessionId: string, options: ReadOptions = {}): AsyncGenerator<JournalRecord> {
    const { fromSeq = 1, includeRewound = false, signal } = options;
    checkSessionId(sessionId);
    throwIfAborted(signal);
    const head = await readHead(this.#engine, owner, sessionId);
    const stands = includeRewound ? () => true : standing(rewindMarks(head));
    let next = Math.max(1, fromSeq);
    for await (const rows of new JournalRows(this.#engine, sessionId, head, signal).forwards(next)) {
      for (const record of rows.flatMap((row) => recordsIn(row))) {
        throwIfAborted(signal);
        if (record.seq > head.lastSeq) return;
        if (record.seq < next) continue;
        next = record.seq + 1;
        if (stands(record)) yield record;
      }
    }
  }

  async *newestFirst(
    owner: Owner,
    sessionId: string,
    { beforeSeq = Number.POSITIVE_INFINITY, signal }: NewestFirstOptions = {},
  ): AsyncGenerator<JournalRecord> {
    checkSessionId(sessionId);
    throwIfAborted(signal);
    const head = await readHead(this.#engine, owner, sessionId);
    const rows = new JournalRows(this.#engine, sessionId, head, signal).newestFirst(Math.min(beforeSeq, head.lastSeq + 1));
    for await (const records of rows) yield* records;
  }

  async rewrite(owner: Owner, sessionId: string, change: (record: JournalRecord) => JournalRecord | null): Promise<void> {
    checkSessionId(sessionId);
    await rewriteJournal(this.#engine, owner, sessionId, change);
    this.#heads.forget(sessionId);
  }

  async restore(owner: Owner, sessionId: string, records: () => AsyncIterable<JournalRecord>, end: JournalEnd): Promise<void> {
    checkSessionId(sessionId);
    await this.#writer.restore(owner, sessionId, records, end);
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
      for await (const rows of new JournalRows(this.#engine, sessionId, head).forwards())
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

type Change = (record: JournalRecord) => JournalRecord | null;

/**
 * Writes a journal anew beside itself, and goes over to it by one commit. What a crash leaves is nothing that anybody reads, and goes with
 * the next rewrite or removal.
 */
async function rewriteJournal(engine: StateEngine, owner: Owner, sessionId: string, change: Change): Promise<void> {
  await emptyTrash(engine, ownerPartition(owner), sessionId);
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const head = await readHead(engine, owner, sessionId);
    if (!(await changesAny(engine, head, sessionId, change))) return;
    const generation = nextGeneration(head.generation);
    const staged = await StagedJournal.begin(engine, owner, sessionId, generation);
    let after: StoredHead;
    try {
      after = await writeChanged(staged, engine, head, sessionId, change);
    } catch (error) {
      await staged.discard().catch(() => undefined);
      throw error;
    }
    if (!(await staged.replace(head, { ...after, generation })).ok) continue;
    return emptyTrash(engine, ownerPartition(owner), sessionId);
  }
  throw new AppError("SESSION_CHANGED");
}

async function changesAny(engine: StateEngine, head: StoredHead, sessionId: string, change: Change): Promise<boolean> {
  for await (const rows of new JournalRows(engine, sessionId, head).forwards())
    for (const record of rows.flatMap((row) => recordsIn(row))) {
      const changed = changedRecord(record, change);
      if (changed === null || JSON.stringify(changed) !== JSON.stringify(record)) return true;
    }
  return false;
}

/** The head as the rows that were written have it. */
async function writeChanged(
  staged: StagedJournal,
  engine: StateEngine,
  head: StoredHead,
  sessionId: string,
  change: Change,
): Promise<StoredHead> {
  let after: StoredHead = { ...head, messages: 0, rewinds: [], summaries: [] };
  for await (const page of new JournalRows(engine, sessionId, head).forwards()) {
    const rows = page.map((row) => ({
      firstSeq: firstSeqOf(row.key),
      records: recordsIn(row).flatMap((record) => changedRecord(record, change) ?? []),
    }));
    for (const { records } of rows) after = withRecords(after, records);
    await staged.addRows(rows.filter(({ records }) => records.length > 0));
  }
  return { ...after, lastSeq: head.lastSeq };
}

/** Null for a record that goes. The session's own always stays. @throws RECORD_TOO_LARGE */
function changedRecord(record: JournalRecord, change: Change): JournalRecord | null {
  const changed = change(structuredClone(record)) ?? (record.type === "session" ? record : null);
  if (changed === null) return null;
  const after = { ...changed, seq: record.seq };
  if (Buffer.byteLength(JSON.stringify(after)) > MAX_RECORD_BYTES) throw new AppError("RECORD_TOO_LARGE");
  return after;
}
