import type { Owner } from "../../domain/owner.js";
import { JOURNAL_VERSION, type JournalRecord } from "../../domain/session.js";
import type { JsonlLog } from "../../platform/jsonl-log.js";
import { encodeLine, type JournalTail, type LineSealer, ownerMark } from "./journal-codec.js";
import { type RewindMark, rewindsOf, untorn } from "./selected-records.js";

const CHUNK_BYTES = 256 * 1024;

/**
 * Writes a journal anew, record by record, into an empty log. What can't be read is not carried over: it may hold what
 * the rewrite is to take out; nor are the steps of an append that a crash tore. The session record always stays, and
 * the last line remembers where the numbering was. Offsets in rewinds and tails are those of the new file.
 */
export async function rewriteInto(
  target: RewriteTarget,
  source: JsonlLog,
  before: JournalTail,
  change: (record: JournalRecord) => JournalRecord | null,
): Promise<void> {
  const writer = new RewriteWriter(target, await rewindsOf(source.forwards()));
  for await (const records of untorn(source.forwards())) {
    for (const record of records) {
      const changed = record.type === "session" ? (change(record) ?? record) : change(record);
      if (changed !== null) await writer.add({ ...changed, v: JOURNAL_VERSION, seq: record.seq } as JournalRecord);
    }
  }
  await writer.finish(before);
}

/** An empty log that is filled. */
export interface RewriteTarget {
  readonly target: JsonlLog;
  readonly owner: Owner;
  /** Null: lines are not sealed. */
  readonly seal: LineSealer | null;
}

/**
 * Writes records as they are, seqs and gaps included, into an empty log. `records` may be asked for twice.
 */
export async function writeInto(
  target: RewriteTarget,
  records: () => AsyncIterable<JournalRecord>,
  end: Pick<JournalTail, "lastSeq" | "lastTurn">,
): Promise<void> {
  const rewinds: RewindMark[] = [];
  for await (const record of records()) if (record.type === "rewind") rewinds.push({ seq: record.seq, toSeq: record.body.to_seq });
  const writer = new RewriteWriter(target, rewinds);
  for await (const record of records()) await writer.add(record);
  await writer.finish(end);
}

class RewriteWriter {
  readonly #target: JsonlLog;
  readonly #mark: string;
  readonly #seal: LineSealer | null;
  /** Seqs that rewinds go back to, newest first, until the writer has passed them. */
  readonly #ahead: number[];
  readonly #passed = new Map<number, { offset: number; summaryAt: number | null }>();
  #held: JournalRecord | null = null;
  #chunk: Buffer[] = [];
  #chunkBytes = 0;
  #at = 0;
  #lastTurn = 0;
  #summaryAt: number | null = null;
  #rewindAt: number | null = null;

  constructor({ target, owner, seal }: RewriteTarget, rewinds: readonly RewindMark[]) {
    this.#target = target;
    this.#seal = seal;
    this.#mark = ownerMark(owner);
    this.#ahead = [...new Set(rewinds.map(({ toSeq }) => toSeq))].sort((a, b) => b - a);
  }

  /** One record is held back, since only the last one says where the numbering was. */
  async add(record: JournalRecord): Promise<void> {
    const held = this.#held;
    this.#held = record;
    if (held !== null) await this.#write(held, undefined, undefined);
  }

  async finish(before: Pick<JournalTail, "lastSeq" | "lastTurn">): Promise<void> {
    const last = this.#held;
    if (last !== null) await this.#write(last, last.seq === before.lastSeq ? undefined : before.lastSeq, before.lastTurn);
    if (this.#chunkBytes > 0) await this.#flush();
  }

  async #write(record: JournalRecord, lastSeq: number | undefined, lastTurn: number | undefined): Promise<void> {
    for (let next = this.#ahead.at(-1); next !== undefined && next < record.seq; next = this.#ahead.at(-1)) {
      this.#passed.set(next, { offset: this.#at, summaryAt: this.#summaryAt });
      this.#ahead.pop();
    }
    let written = record;
    if (record.type === "rewind") {
      const target = this.#passed.get(record.body.to_seq) ?? { offset: this.#at, summaryAt: this.#summaryAt };
      written = { ...record, body: { ...record.body, to_offset: target.offset } };
      this.#summaryAt = target.summaryAt;
    }
    if (record.type === "summary") this.#summaryAt = this.#at;
    this.#lastTurn = lastTurn ?? Math.max(this.#lastTurn, record.turn);
    const tail = {
      owner: this.#mark,
      last_turn: this.#lastTurn,
      summary_at: this.#summaryAt,
      rewind_at: this.#rewindAt,
      ...(lastSeq !== undefined && { last_seq: lastSeq }),
    };
    const line = encodeLine(written, tail, this.#seal);
    if (record.type === "rewind") this.#rewindAt = this.#at;
    this.#chunk.push(line);
    this.#chunkBytes += line.length;
    this.#at += line.length;
    if (this.#chunkBytes >= CHUNK_BYTES) await this.#flush();
  }

  async #flush(): Promise<void> {
    await this.#target.append(Buffer.concat(this.#chunk));
    this.#chunk = [];
    this.#chunkBytes = 0;
  }
}
