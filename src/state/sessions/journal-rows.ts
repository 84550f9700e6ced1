import { type JournalRecord, journalRecordSchema } from "../../domain/session.js";
import { AppError } from "../../platform/errors.js";
import type { ReadMeter } from "../../platform/jsonl-log.js";
import type { WindowRead } from "../../ports/session-store.js";
import { throwIfAborted } from "../abortable-read.js";
import { type KeyRange, prefixRange, type StateEngine, type StoredEntry } from "../engine.js";
import { windowIn } from "../journal/round-collector.js";
import { ownerPartition } from "../partition.js";
import { wholePage, wholeValues } from "../stored-rows.js";
import { journalPrefix, recordsKey, sessionRange } from "./keys.js";
import { headOf, type StoredHead, standingSummary } from "./session-row.js";

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

interface NewestFirst {
  /** The newest rows before the seq, where they were read already; as many as `limit`, unless there are no more. */
  readonly first?: readonly StoredEntry[] | undefined;
  /** Rows read at once. Default 50. */
  readonly limit?: number;
  readonly meter?: ReadMeter;
}

/** Reads a session's rows page by page: also on, where the journal is rewritten meanwhile. */
export class JournalRows {
  readonly #engine: StateEngine;
  readonly #sessionId: string;
  readonly #head: StoredHead;
  readonly #signal: AbortSignal | undefined;
  #generation: string;

  constructor(engine: StateEngine, sessionId: string, head: StoredHead, signal?: AbortSignal) {
    this.#engine = engine;
    this.#sessionId = sessionId;
    this.#head = head;
    this.#signal = signal;
    this.#generation = head.generation;
  }

  /** Rows from the one that holds a seq on, oldest first, page by page. */
  async *forwards(fromSeq = 1): AsyncGenerator<readonly StoredEntry[]> {
    let next = fromSeq;
    let start: string | null = null;
    for (;;) {
      start ??= next <= 1 ? this.#prefix : ((await this.holding(next))?.key ?? this.#prefix);
      const entries = await this.#page({ from: start, to: prefixRange(this.#prefix).to, limit: PAGE });
      if (entries === null) start = null;
      if (entries === null) continue;
      const page = wholePage(entries, PAGE);
      if (page.rows.length > 0) yield page.rows;
      if (page.next === null) return;
      start = page.next;
      next = firstSeqOf(start);
    }
  }

  /** Records before a seq, newest first, by the row. What lies between a rewind and where it goes back to is left out, and jumped over. */
  async *newestFirst(beforeSeq: number, { first, limit = PAGE, meter }: NewestFirst = {}): AsyncGenerator<readonly JournalRecord[]> {
    let upTo = beforeSeq - 1;
    const standing = (record: JournalRecord) => {
      if (record.seq > upTo) return false;
      upTo = record.type === "rewind" ? record.body.to_seq : record.seq - 1;
      return true;
    };
    for (let known = first; ; known = undefined) {
      const to = recordsKey(this.#sessionId, this.#generation, upTo + 1);
      const entries = known ?? (await this.#page({ from: this.#prefix, to, limit, reverse: true }));
      if (entries === null) continue;
      const rows = wholeValues(entries, { reverse: true });
      for (const row of rows) {
        if (firstSeqOf(row.key) > upTo) continue;
        if (meter !== undefined) meter.bytes += Buffer.byteLength(row.value);
        yield recordsIn(row).toReversed().filter(standing);
      }
      const last = rows.at(-1);
      if (entries.length < limit || last === undefined) return;
      upTo = Math.min(upTo, firstSeqOf(last.key) - 1);
    }
  }

  /** The row that holds a seq; null where there is none that may. */
  async holding(seq: number): Promise<StoredEntry | null> {
    for (;;) {
      const to = recordsKey(this.#sessionId, this.#generation, seq + 1);
      const entries = await this.#page({ from: this.#prefix, to, limit: NEAR, reverse: true });
      if (entries !== null) return wholeValues(entries, { reverse: true })[0] ?? null;
    }
  }

  get #prefix(): string {
    return journalPrefix(this.#sessionId, this.#generation);
  }

  /** Empty where the journal is gone. Null where its rows lie in another generation since: what is asked for next is of that one. */
  async #page(range: KeyRange): Promise<readonly StoredEntry[] | null> {
    throwIfAborted(this.#signal);
    const { owner, incarnation } = this.#head;
    const options = this.#signal === undefined ? {} : { signal: this.#signal };
    const { ranges } = await this.#engine.read(ownerPartition(owner), { ranges: [sessionRange(this.#sessionId), range] }, options);
    throwIfAborted(this.#signal);
    const now = headOf(owner, ranges[0] ?? []);
    if (now?.incarnation !== incarnation) return [];
    if (now.generation === this.#generation) return ranges[1] ?? [];
    this.#generation = now.generation;
    return null;
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
  const { lastSeq, lastTurn } = head;
  const meter: ReadMeter = { bytes: 0 };
  const prefix = journalPrefix(sessionId, head.generation);
  // Rows of another generation, which is being written or deleted, may stand before the journal's own.
  const first = newest.every(({ key }) => key.startsWith(prefix)) ? newest : undefined;
  const found = await windowIn(journal.newestFirst(lastSeq + 1, { first, limit: windowRows(rounds), meter }), rounds);
  const wanted = found.summary === null ? standingSummary(head) : null;
  const row = wanted === null ? null : await journal.holding(wanted);
  if (row !== null) meter.bytes += Buffer.byteLength(row.value);
  const further = row === null ? [] : recordsIn(row).filter((record) => record.type === "summary");
  const summary = found.summary ?? further.find(({ seq }) => seq === wanted) ?? null;
  return { ...found, summary, lastSeq, lastTurn, bytesRead: meter.bytes };
}
