import type { Owner } from "../../domain/owner.js";
import { AppError } from "../../platform/errors.js";
import type { FileSystem } from "../../platform/file-system.js";
import { JsonlLog, type LogLine } from "../../platform/jsonl-log.js";
import type { Logger } from "../../platform/logger.js";
import { headOf, type JournalSeals, type JournalTail, type LineSealer, ownerMark, peekLine, unseal } from "../journal/journal-codec.js";
import { type RewindMark, rewindsOf, standing } from "../journal/selected-records.js";

interface JournalOpenOptions {
  readonly logger: Logger;
  /** Called with how many bytes of a torn last line were cut off. */
  onTorn(bytes: number): void;
  /** Null: lines are not sealed. */
  readonly seals: JournalSeals | null;
}

interface JournalHead {
  readonly sessionId: string;
  readonly owner: Owner | null;
  readonly mark: string | null;
  readonly place: FilePlace;
  readonly seals: JournalSeals | null;
}

/** One open journal. Its tail is what the last durable append left. */
export class JournalFile {
  readonly log: JsonlLog;
  readonly sessionId: string;
  /** Null where the first line is damaged. */
  readonly owner: Owner | null;
  readonly place: FilePlace;
  /** Whose it is, as {@link ownerMark} has it. */
  readonly mark: string | null;
  readonly #seals: JournalSeals | null;
  tail: JournalTail;

  private constructor(log: JsonlLog, { sessionId, owner, mark, place, seals }: JournalHead, tail: JournalTail) {
    this.log = log;
    this.sessionId = sessionId;
    this.owner = owner;
    this.mark = owner === null ? mark : ownerMark(owner);
    this.place = place;
    this.#seals = seals;
    this.tail = tail;
  }

  /** Null when there is no such file, or no record in it. */
  static async open(fs: FileSystem, path: string, sessionId: string, options: JournalOpenOptions): Promise<JournalFile | null> {
    const opened = await JsonlLog.open(fs, path);
    if (opened === null) return null;
    const { log } = opened;
    const { logger, onTorn, seals } = options;
    try {
      await unseal(log, seals, sessionId);
      const tornBytes = opened.tornBytes + (await cutTornRewind(log));
      if (tornBytes > 0) {
        logger.warn({ sessionId, tornBytes }, "A torn append was cut off a journal; what was acknowledged before it is intact.");
        onTorn(tornBytes);
      }
      const whose = await ownerOfLog(log);
      const tail = whose === null ? null : await tailAt(log, log.end);
      if (whose !== null && tail !== null) {
        return new JournalFile(log, { sessionId, ...whose, place: await FilePlace.of(fs, path), seals }, tail);
      }
      if (log.end > 0) logger.warn({ sessionId }, "A journal holds no readable record.");
    } catch (error) {
      await log.close();
      throw error;
    }
    await log.close();
    return null;
  }

  /** @throws SESSION_NOT_FOUND for somebody else's */
  requireOwner(owner: Owner): void {
    if (this.owner === null ? this.mark !== ownerMark(owner) : this.owner !== owner) throw new AppError("SESSION_NOT_FOUND");
  }

  /** By which its next lines are sealed; null: they are not. What was sealed so can be read here from then on. */
  async sealer(owner: Owner): Promise<LineSealer | null> {
    if (this.#seals === null) return null;
    const { seal, opens } = await this.#seals.sealer(owner, this.sessionId);
    this.log.opens = opens;
    return seal;
  }

  /** Offset of the end of record `toSeq`, and the tail as it was there. */
  async endOf(toSeq: number): Promise<{ offset: number; tail: JournalTail }> {
    const offset = await this.log.seek((line) => {
      const start = peekLine(line) ?? headOf(line);
      return start === null ? null : start.seq <= toSeq;
    });
    const tail = await tailAt(this.log, offset);
    if (tail === null) throw new AppError("INVALID_REQUEST", { detail: `A rewind to record ${toSeq}, which the journal does not hold.` });
    return { offset, tail };
  }
}

/**
 * Cuts off a last line that is a rewind and announces more of its append, and says how many bytes it had: without what a crash
 * tore off behind it, it would take a message back and put nothing in its place.
 */
async function cutTornRewind(log: JsonlLog): Promise<number> {
  const { end } = log;
  for await (const [last] of log.backwards()) {
    if (last === undefined || peekLine(last)?.type !== "rewind") break;
    const [part, of] = headOf(last)?.tail?.part ?? [1, 1];
    if (part < of) await log.cutFrom(last.offset);
    break;
  }
  return end - log.end;
}

/** By the first line, or, where that is damaged, the mark on the newest line that has one. */
export async function ownerOfLog(log: JsonlLog): Promise<{ owner: Owner | null; mark: string | null } | null> {
  const first = await log.lineAt(0);
  const head = first === null ? null : headOf(first);
  if (head?.owner != null) return { owner: head.owner, mark: head.tail?.owner ?? null };
  for await (const lines of log.backwards()) {
    for (const line of lines) {
      const mark = headOf(line)?.tail?.owner;
      if (mark !== undefined) return { owner: null, mark };
    }
  }
  return null;
}

/**
 * Rewinds between two ends of lines, in seq order. Each line says where the newest rewind before it is, so that they cost what they are
 * themselves; where a line doesn't say, or can't be read, all of them are looked at.
 */
export async function rewindsBetween(log: JsonlLog, start: number, end: number): Promise<readonly RewindMark[]> {
  const found: RewindMark[] = [];
  let at = (await tailAt(log, end))?.rewindAt;
  while (at === undefined || (at !== null && at >= start)) {
    const line: LogLine | null = at === undefined ? null : await log.lineAt(at);
    const head = line === null ? null : headOf(line);
    if (head === null || head.toSeq === null) return rewindsOf(log.forwards(start, end));
    found.unshift({ seq: head.seq, toSeq: head.toSeq });
    at = head.tail?.rewind_at;
  }
  return found;
}

/** The tail as it was when the file ended at `end`. Null when there is no readable record before it. */
async function tailAt(log: JsonlLog, end: number): Promise<JournalTail | null> {
  let damaged = 0;
  for await (const lines of log.backwards(end)) {
    for (const line of lines) {
      const decoded = headOf(line);
      if (decoded === null) {
        damaged += 1;
        continue;
      }
      if (decoded.tail === null) return scanTail(log, end);
      // A damaged line had a seq as well, which the index may know: it is not given out again.
      const { last_seq, last_turn, summary_at, rewind_at } = decoded.tail;
      const rewindAt = decoded.toSeq === null ? rewind_at : line.offset;
      return { lastSeq: (last_seq ?? decoded.seq) + damaged, lastTurn: last_turn, summaryAt: summary_at, rewindAt };
    }
  }
  return null;
}

/** The same by reading all of it: for lines that carry no tail. */
async function scanTail(log: JsonlLog, end: number): Promise<JournalTail | null> {
  const rewinds: RewindMark[] = [];
  let rewindAt: number | null = null;
  const summaries: { seq: number; type: string; offset: number }[] = [];
  let lastSeq = 0;
  let lastTurn = 0;
  for await (const lines of log.forwards(0, end)) {
    for (const line of lines) {
      const head = headOf(line);
      lastSeq = head?.seq ?? lastSeq + 1;
      lastTurn = Math.max(lastTurn, head?.turn ?? 0);
      if (head !== null && head.toSeq !== null) {
        rewinds.push({ seq: head.seq, toSeq: head.toSeq });
        rewindAt = line.offset;
      }
      if (head?.type === "summary") summaries.push({ seq: head.seq, type: head.type, offset: line.offset });
    }
  }
  const stands = standing(rewinds);
  return lastSeq === 0 ? null : { lastSeq, lastTurn, summaryAt: summaries.findLast(stands)?.offset ?? null, rewindAt };
}

/** How long what was seen in its place is taken to be there by whoever says that this is enough, in milliseconds. */
const SEEN_MS = 1_000;

/**
 * The place of an open file: it may be deleted, or another one put there, and what is written to it then is lost. To look costs more than
 * to write, as a thread has to be woken for it.
 */
class FilePlace {
  readonly #fs: FileSystem;
  readonly #path: string;
  readonly #identity: string | null;
  #seenAt = performance.now();

  private constructor(fs: FileSystem, path: string, identity: string | null) {
    this.#fs = fs;
    this.#path = path;
    this.#identity = identity;
  }

  /** Of the file that stands there now. */
  static async of(fs: FileSystem, path: string): Promise<FilePlace> {
    return new FilePlace(fs, path, await fs.identity(path));
  }

  /** False where the file was deleted, or another one stands in its place. */
  async isHeld(): Promise<boolean> {
    const held = this.#identity !== null && (await this.#fs.identity(this.#path)) === this.#identity;
    if (held) this.#seenAt = performance.now();
    return held;
  }

  /** The same, without another look where it was seen within the last second. */
  async wasHeld(): Promise<boolean> {
    return (this.#identity !== null && performance.now() - this.#seenAt < SEEN_MS) || this.isHeld();
  }
}
