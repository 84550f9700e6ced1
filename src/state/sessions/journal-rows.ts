import type { Owner } from "../../domain/owner.js";
import { type JournalRecord, journalRecordSchema, type RecordOf } from "../../domain/session.js";
import { AppError } from "../../platform/errors.js";
import type { WindowRead } from "../../ports/session-store.js";
import { throwIfAborted } from "../abortable-read.js";
import { type KeyRange, prefixRange, type StateEngine, type StoredEntry } from "../engine.js";
import { RoundCollector } from "../journal/round-collector.js";
import { standing } from "../journal/selected-records.js";
import { ownerPartition } from "../partition.js";
import { wholeValues } from "../value-parts.js";
import { journalPrefix, recordsKey, sessionRange } from "./keys.js";
import { headOf, rewindMarks, type StoredHead, standingSummary } from "./session-row.js";

/** Rows read at once. */
const PAGE = 50;
/** A row that is looked for, with its parts. */
const NEAR = 8;

/** A journal's rows, each with the records of one append. Damaged records throw where `onDamaged` doesn't take them. */
export function recordsIn({ value }: StoredEntry, onDamaged?: (place: number) => void): readonly JournalRecord[] {
  let all: readonly unknown[];
  try {
    all = JSON.parse(value) as unknown[];
  } catch (cause) {
    if (onDamaged === undefined) throw damaged(cause);
    onDamaged(0);
    return [];
  }
  return all.flatMap((each, place) => {
    const record = journalRecordSchema.safeParse(each);
    if (record.success) return [record.data];
    if (onDamaged === undefined) throw damaged(record.error);
    onDamaged(place);
    return [];
  });
}

function damaged(cause: unknown): AppError {
  return new AppError("STORAGE_DAMAGED", { detail: "A journal's row can't be read.", cause });
}

/** First seq of a row. */
export function firstSeqOf(key: string): number {
  return Number(key.slice(key.lastIndexOf("/") + 1));
}

interface PageOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Reads a session's rows page by page: also on, where the journal is rewritten meanwhile. */
export class JournalRows {
  readonly #engine: StateEngine;
  readonly #owner: Owner;
  readonly #sessionId: string;
  readonly #signal: AbortSignal | undefined;

  constructor(engine: StateEngine, owner: Owner, sessionId: string, { signal }: PageOptions = {}) {
    this.#engine = engine;
    this.#owner = owner;
    this.#sessionId = sessionId;
    this.#signal = signal;
  }

  /** Rows of the head's generation from the one that holds a seq on, oldest first, page by page. */
  async *forwards(head: StoredHead, fromSeq = 1): AsyncGenerator<readonly StoredEntry[]> {
    let { generation } = head;
    let next = fromSeq;
    let start: string | null = null;
    for (;;) {
      const all = prefixRange(journalPrefix(this.#sessionId, generation));
      start ??= await this.#startOf(generation, next);
      const page = await this.#page({ from: start, to: all.to, limit: PAGE });
      if (page.head === null || page.head.incarnation !== head.incarnation) return;
      if (page.head.generation !== generation) {
        ({ generation } = page.head);
        start = null;
        continue;
      }
      const rows = wholeValues(page.entries);
      const isLast = page.entries.length < PAGE;
      // The last row of a full page may go on behind it.
      const whole = isLast ? rows : rows.slice(0, -1);
      if (whole.length > 0) yield whole;
      if (isLast) return;
      start = rows.at(-1)?.key ?? all.to;
      next = firstSeqOf(start);
    }
  }

  /** Rows that hold seqs before one, newest first, page by page. `skipTo`: asked behind each page for the seq to go on before. */
  async *backwards(
    head: StoredHead,
    beforeSeq: number,
    {
      skipTo,
      first,
      limit = PAGE,
    }: { readonly skipTo?: () => number; readonly first?: readonly StoredEntry[]; readonly limit?: number } = {},
  ): AsyncGenerator<readonly StoredEntry[]> {
    let { generation } = head;
    let before = beforeSeq;
    let known = first;
    for (;;) {
      const { from } = prefixRange(journalPrefix(this.#sessionId, generation));
      const range = { from, to: recordsKey(this.#sessionId, generation, before), limit, reverse: true };
      const page = known === undefined ? await this.#page(range) : { head, entries: known };
      known = undefined;
      if (page.head === null || page.head.incarnation !== head.incarnation) return;
      if (page.head.generation !== generation) {
        ({ generation } = page.head);
        continue;
      }
      const rows = wholeValues(page.entries, { reverse: true });
      if (rows.length > 0) yield rows;
      const last = rows.at(-1);
      if (page.entries.length < limit || last === undefined) return;
      before = Math.min(firstSeqOf(last.key), skipTo?.() ?? Number.POSITIVE_INFINITY);
    }
  }

  /** The row that holds a seq; null where there is none that may. */
  async holding({ generation }: Pick<StoredHead, "generation">, seq: number): Promise<StoredEntry | null> {
    const { from } = prefixRange(journalPrefix(this.#sessionId, generation));
    const to = recordsKey(this.#sessionId, generation, seq + 1);
    const { entries } = await this.#page({ from, to, limit: NEAR, reverse: true });
    return wholeValues(entries, { reverse: true })[0] ?? null;
  }

  async #startOf(generation: string, seq: number): Promise<string> {
    const { from } = prefixRange(journalPrefix(this.#sessionId, generation));
    return seq <= 1 ? from : ((await this.holding({ generation }, seq))?.key ?? from);
  }

  async #page(range: KeyRange): Promise<{ readonly head: StoredHead | null; readonly entries: readonly StoredEntry[] }> {
    throwIfAborted(this.#signal);
    const options = this.#signal === undefined ? {} : { signal: this.#signal };
    const { ranges } = await this.#engine.read(ownerPartition(this.#owner), { ranges: [sessionRange(this.#sessionId), range] }, options);
    throwIfAborted(this.#signal);
    return { head: headOf(this.#owner, ranges[0] ?? []), entries: ranges[1] ?? [] };
  }
}

/** Rows that a round takes as a rule: what was said, answered, and made of it. */
const ROWS_OF_ROUND = 4;
const LEAST_ROWS = 8;
const MOST_ROWS = 100;

/** Newest rows to be read for a window of so many rounds. */
export function windowRows(rounds: number): number {
  return Math.min(MOST_ROWS, Math.max(0, rounds) * ROWS_OF_ROUND + LEAST_ROWS);
}

/**
 * The window of a session whose newest rows were read with its head. `newest`: at most {@link windowRows}, newest first, of whichever
 * generation.
 */
export async function windowOf(
  journal: JournalRows,
  sessionId: string,
  head: StoredHead,
  newest: readonly StoredEntry[],
  rounds: number,
): Promise<WindowRead> {
  const limit = windowRows(rounds);
  const prefix = journalPrefix(sessionId, head.generation);
  const own = newest.filter(({ key }) => key.startsWith(prefix));
  // Rows of another generation, which is being written or deleted, may stand before the journal's own.
  const isWhole = own.length === newest.length;
  const collector = new RoundCollector(rounds);
  const stands = standing(rewindMarks(head));
  const wanted = standingSummary(head);
  let summary: RecordOf<"summary"> | null = null;
  let upTo = Number.POSITIVE_INFINITY;
  let bytesRead = 0;
  const take = (record: JournalRecord) => {
    if (record.type === "rewind" && record.seq <= upTo) upTo = record.body.to_seq;
    if (!stands(record)) return;
    if (record.type === "summary" && record.seq === wanted) summary = record;
    if (!collector.complete) collector.add(record);
  };
  const options = { limit, skipTo: () => upTo + 1, ...(isWhole && { first: own }) };
  pages: for await (const rows of journal.backwards(head, head.lastSeq + 1, options)) {
    for (const row of rows) {
      if (firstSeqOf(row.key) > head.lastSeq) continue;
      bytesRead += Buffer.byteLength(row.value);
      for (const record of recordsIn(row).toReversed()) take(record);
      if (collector.complete) break pages;
    }
  }
  if (summary === null && wanted !== null) {
    const row = await journal.holding(head, wanted);
    bytesRead += row === null ? 0 : Buffer.byteLength(row.value);
    for (const record of row === null ? [] : recordsIn(row)) if (record.type === "summary" && record.seq === wanted) summary = record;
  }
  const { lastSeq, lastTurn } = head;
  return { rounds: collector.rounds(), summary, lastUserMessage: collector.lastUserMessage, lastSeq, lastTurn, bytesRead };
}
