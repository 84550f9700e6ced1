import { LRUCache } from "lru-cache";
import type { Owner } from "../../domain/owner.js";
import type { JournalRecord, NewRecord } from "../../domain/session.js";
import { AppError } from "../../platform/errors.js";
import type { AppendOptions } from "../../ports/session-store.js";
import { checkFirst, encodeLine, type JournalTail, type LineSealer, numbered, ownerMark } from "../journal/journal-codec.js";
import type { DirectoryHealth } from "./directory-health.js";
import type { JournalFile } from "./journal-file.js";

export interface Append {
  readonly owner: Owner;
  readonly records: readonly NewRecord[];
  readonly options: AppendOptions;
  resolve(records: readonly JournalRecord[]): void;
  reject(error: unknown): void;
}

export interface Encoded {
  readonly records: readonly JournalRecord[];
  readonly lines: readonly Buffer[];
  readonly tail: JournalTail;
}

/** Newest fence that wrote, by session. Bounded: one that fell out is only as good as no fence. */
const REMEMBERED_FENCES = 10_000;

/**
 * Writes what waits for one journal with one write and one sync (group commit). Each append is judged by the tail
 * that the ones before it leave; where the write fails, none of the group is kept.
 */
export class AppendWriter {
  readonly #health: DirectoryHealth;
  readonly #fences = new LRUCache<string, number>({ max: REMEMBERED_FENCES });

  /** `health`: is told how each write went. */
  constructor(health: DirectoryHealth) {
    this.#health = health;
  }

  async write(file: JournalFile, appends: readonly Append[]): Promise<void> {
    let group: { append: Append; encoded: Encoded }[] = [];
    let tail = file.tail;
    let end = file.log.end;
    const commit = async () => {
      await this.#commit(file, group);
      group = [];
      tail = file.tail;
      end = file.log.end;
    };
    for (const append of appends) {
      // A rewind looks its target up in the file, so all before it must be there.
      if (group.length > 0 && append.records.some((record) => record.type === "rewind")) await commit();
      try {
        this.#check(file, tail, append);
        const { owner, records } = append;
        const before = { owner, tail, end, seal: await file.sealer(owner), inParts: records.length > 1 };
        const encoded = await encode(records, before, file);
        if (append.options.fence !== undefined) this.#fences.set(file.sessionId, append.options.fence);
        group.push({ append, encoded });
        tail = encoded.tail;
        end += encoded.lines.reduce((sum, line) => sum + line.length, 0);
      } catch (error) {
        append.reject(error);
      }
    }
    await commit();
  }

  async #commit(file: JournalFile, group: readonly { append: Append; encoded: Encoded }[]): Promise<void> {
    const last = group.at(-1);
    if (last === undefined) return;
    try {
      await file.log.append(Buffer.concat(group.flatMap(({ encoded }) => encoded.lines)));
      file.tail = last.encoded.tail;
      this.#health.wentWell();
      for (const { append, encoded } of group) append.resolve(encoded.records);
    } catch (error) {
      this.#health.failed();
      for (const { append } of group) append.reject(error);
    }
  }

  #check(file: JournalFile, tail: JournalTail, { owner, options }: Append): void {
    file.requireOwner(owner);
    if (options.expectedSeq !== undefined && options.expectedSeq !== tail.lastSeq) throw new AppError("SESSION_CHANGED");
    if (options.fence !== undefined && options.fence < (this.#fences.get(file.sessionId) ?? 0)) throw new AppError("FENCED");
  }
}

/** What records are encoded behind. */
interface Before {
  readonly owner: Owner;
  readonly tail: JournalTail;
  /** Of the file, in bytes. */
  readonly end: number;
  readonly seal: LineSealer | null;
  /** Each line says which of how many it is. */
  readonly inParts: boolean;
}

/** `file`: where a rewind's target is. @throws RECORD_TOO_LARGE, INVALID_REQUEST */
async function encode(
  records: readonly NewRecord[],
  { owner, tail: before, end, seal, inParts }: Before,
  file?: JournalFile,
): Promise<Encoded> {
  const mark = ownerMark(owner);
  const lines: Buffer[] = [];
  const kept: JournalRecord[] = [];
  let { lastSeq, lastTurn, summaryAt, rewindAt } = before;
  let at = end;
  for (const [index, given] of records.entries()) {
    const record = numbered(given, lastSeq + 1);
    lastSeq = record.seq;
    lastTurn = Math.max(lastTurn, record.turn);
    if (record.type === "summary") summaryAt = at;
    if (record.type === "rewind") {
      if (file === undefined || record.body.to_seq > before.lastSeq)
        throw new AppError("INVALID_REQUEST", { detail: "A rewind goes back to a record that was there before it was asked for." });
      const target = await file.endOf(record.body.to_seq);
      record.body.to_offset = target.offset;
      summaryAt = target.tail.summaryAt;
    }
    const parts = inParts && { part: [index + 1, records.length] satisfies [number, number] };
    const line = encodeLine(record, { owner: mark, last_turn: lastTurn, summary_at: summaryAt, rewind_at: rewindAt, ...parts }, seal);
    if (record.type === "rewind") rewindAt = at;
    kept.push(record);
    lines.push(line);
    at += line.length;
  }
  return { records: kept, lines, tail: { lastSeq, lastTurn, summaryAt, rewindAt } };
}

/** The records of a new journal, as {@link AppendWriter} would write them into an empty one. */
export async function encodeFirst(owner: Owner, records: readonly NewRecord[], seal: LineSealer | null): Promise<Encoded> {
  checkFirst(owner, records);
  const tail: JournalTail = { lastSeq: 0, lastTurn: 0, summaryAt: null, rewindAt: null };
  return encode(records, { owner, tail, end: 0, seal, inParts: false });
}
