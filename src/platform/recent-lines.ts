const NEWLINE = 0x0a;

/** One line, without its line feed. `offset` is where it starts in the file. */
export interface LogLine {
  readonly offset: number;
  readonly bytes: Buffer;
  /** What its reader made of it, where it is held for the next one. */
  made?: unknown;
  /** Of a log whose lines are sealed. */
  readonly opens?: LineOpener | null;
}

/** What was sealed at a place; null where its key was destroyed, undefined where it is not what was sealed there. */
export interface LineOpener {
  (sealed: string, place: string): string | null | undefined;
  /** Lines in clear are read as well. Default: they are damaged. */
  readonly takesClear?: true;
}

/** Of the end of each open log, held in memory without asking: the window of a short session. */
const OWN_BYTES = 96 * 1024;
/** Of a log whose readers go further back time and again: the window of a long one, with what its answers were made from. */
export const MOST_BYTES = 384 * 1024;
/** What all logs of the process hold beyond their own, together. Who comes later reads from the medium. */
const SHARED_BYTES = 8 * 1024 * 1024;
/** What stays when more came than is held. */
const KEPT_OF_FULL = 0.75;
let sharedLeft = SHARED_BYTES;

/**
 * The last lines of a log, without a gap up to its end, so that what is asked for after every append is not read from the medium again.
 * Bounded by their bytes: the oldest go first. As much is held as is asked for, up to 384 KiB; what is over 96 KiB comes out of 8 MiB
 * that all logs share.
 */
export class RecentLines {
  /** Oldest first. */
  #lines: LogLine[] = [];
  #bytes = 0;
  #maxBytes = OWN_BYTES;

  /** Offset of the oldest; null where none is held. */
  get start(): number | null {
    return this.#lines[0]?.offset ?? null;
  }

  /** Takes in whole lines that were appended at `offset`, which was the log's end. */
  appended(data: Uint8Array, offset: number, opens: LineOpener | null = null): void {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    let start = 0;
    for (let newline = bytes.indexOf(NEWLINE); newline >= 0; newline = bytes.indexOf(NEWLINE, start)) {
      this.#lines.push({ offset: offset + start, bytes: bytes.subarray(start, newline), opens });
      start = newline + 1;
    }
    this.#bytes += data.byteLength;
    this.#shrink();
  }

  /** Takes in what was read just before what is held, or before the log's end where nothing is; newest first, as many as have room. */
  found(newestFirst: readonly LogLine[]): void {
    this.#reserve(this.#bytes + newestFirst.reduce((sum, { bytes }) => sum + bytes.length + 1, 0));
    const taken: LogLine[] = [];
    for (const line of newestFirst) {
      if (this.#bytes + line.bytes.length + 1 > this.#maxBytes) break;
      this.#bytes += line.bytes.length + 1;
      taken.push(line);
    }
    this.#lines = [...taken.reverse(), ...this.#lines];
  }

  /** Those that start before `end`, newest first. */
  before(end: number): LogLine[] {
    return this.#lines.filter(({ offset }) => offset < end).reverse();
  }

  /** Those that start from `start` on and before `end`, oldest first. */
  between(start: number, end: number): LogLine[] {
    return this.#lines.filter(({ offset }) => offset >= start && offset < end);
  }

  /** The one that starts there. */
  at(start: number): LogLine | null {
    if (this.start === null || start < this.start) return null;
    return this.#lines.find(({ offset }) => offset === start) ?? null;
  }

  /** Lets go of all of it, and of its part of what all logs share. */
  clear(): void {
    this.#lines = [];
    this.#bytes = 0;
    sharedLeft += this.#maxBytes - OWN_BYTES;
    this.#maxBytes = OWN_BYTES;
  }

  /** Room for so much, and for what an append lets go of at once, where there still is any. */
  #reserve(bytes: number): void {
    const wanted = Math.min(MOST_BYTES, Math.ceil(bytes / KEPT_OF_FULL));
    const more = wanted - this.#maxBytes;
    if (more <= 0 || more > sharedLeft) return;
    sharedLeft -= more;
    this.#maxBytes = wanted;
  }

  /** By a quarter more than has to go, so that not every append moves all lines. */
  #shrink(): void {
    if (this.#bytes <= this.#maxBytes) return;
    let gone = 0;
    while (this.#bytes > this.#maxBytes * KEPT_OF_FULL) {
      const line = this.#lines[gone];
      if (line === undefined) break;
      this.#bytes -= line.bytes.length + 1;
      gone += 1;
    }
    this.#lines = this.#lines.slice(gone);
  }
}
