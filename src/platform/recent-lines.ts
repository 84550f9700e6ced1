const NEWLINE = 0x0a;

/** One line, without its line feed. `offset` is where it starts in the file. */
export interface LogLine {
  readonly offset: number;
  readonly bytes: Buffer;
  /** What its reader made of it, where it is held for the next one. */
  made?: unknown;
}

/**
 * The last lines of a log, without a gap up to its end, so that what is asked for after every append is not read from the medium again.
 * Bounded by their bytes: the oldest go first.
 */
export class RecentLines {
  readonly #maxBytes: number;
  /** Oldest first. */
  #lines: LogLine[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Offset of the oldest; null where none is held. */
  get start(): number | null {
    return this.#lines[0]?.offset ?? null;
  }

  /** Takes in whole lines that were appended at `offset`, which was the log's end. */
  appended(data: Uint8Array, offset: number): void {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    let start = 0;
    for (let newline = bytes.indexOf(NEWLINE); newline >= 0; newline = bytes.indexOf(NEWLINE, start)) {
      this.#lines.push({ offset: offset + start, bytes: bytes.subarray(start, newline) });
      start = newline + 1;
    }
    this.#bytes += data.byteLength;
    this.#shrink();
  }

  /** Takes in what was read of the log's end, newest first, where nothing is held. */
  found(newestFirst: readonly LogLine[]): void {
    if (this.#lines.length > 0) return;
    this.#lines = newestFirst.toReversed();
    this.#bytes = newestFirst.reduce((sum, { bytes }) => sum + bytes.length + 1, 0);
    this.#shrink();
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

  clear(): void {
    this.#lines = [];
    this.#bytes = 0;
  }

  /** By a quarter more than has to go, so that not every append moves all lines. */
  #shrink(): void {
    if (this.#bytes <= this.#maxBytes) return;
    let gone = 0;
    while (this.#bytes > this.#maxBytes * 0.75) {
      const line = this.#lines[gone];
      if (line === undefined) break;
      this.#bytes -= line.bytes.length + 1;
      gone += 1;
    }
    this.#lines = this.#lines.slice(gone);
  }
}
