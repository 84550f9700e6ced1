import type { FileSystem, OpenFile } from "./file-system.js";
import { parsedJson } from "./json.js";
import { type LineOpener, type LogLine, MOST_BYTES, RecentLines } from "./recent-lines.js";

export type { LineOpener, LogLine } from "./recent-lines.js";

/** How much is read at once, backwards: a window of ten rounds usually fits. */
const BACKWARD_BLOCK_BYTES = 64 * 1024;
const FORWARD_BLOCK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;
/** Bytes of a line that is held because it was asked for by itself. */
const LONGEST_LOOKED_UP = 96 * 1024;

/** What a line says; null where it is damaged. */
export function lineValue({ bytes }: LogLine): unknown {
  return parsedJson(bytes.toString("utf8")) ?? null;
}

/** Counts the bytes that reads took from the medium. */
export interface ReadMeter {
  bytes: number;
}

/**
 * An append-only file of lines. The known end is always a line's end: what a crash left behind it is cut off at open,
 * what a failed append left is cut off at once, or, where even that fails, before the next append. Reads never pass it.
 * Not safe for two appends at a time: the caller queues them.
 */
export class JsonlLog {
  readonly #file: OpenFile;
  #end: number;
  #needsRepair = false;
  readonly #recent = new RecentLines();
  #opens: LineOpener | null = null;
  /** The last one further back that was asked for by itself. */
  #lookedUp: LogLine | null = null;

  private constructor(file: OpenFile, end: number) {
    this.#file = file;
    this.#end = end;
  }

  /** Cuts off a torn last line and says how many bytes it had. Null when there is no such file. */
  static async open(fs: FileSystem, path: string): Promise<{ log: JsonlLog; tornBytes: number } | null> {
    if ((await fs.stat(path)) === null) return null;
    const file = await fs.open(path, "update");
    try {
      const size = await file.size();
      const end = await endOfLastLine(file, size);
      if (end < size) {
        await file.truncate(end);
        await file.datasync();
      }
      return { log: new JsonlLog(file, end), tornBytes: size - end };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** An empty log; one that is there already is emptied. Its name is durable only after `syncDirectory`. */
  static async create(fs: FileSystem, path: string): Promise<JsonlLog> {
    return new JsonlLog(await fs.open(path, "create"), 0);
  }

  /** Goes along with each line that is read from now on. Default: they are not sealed. */
  set opens(opens: LineOpener) {
    // What is held came without.
    if (this.#opens === null) this.#forget();
    this.#opens = opens;
  }

  /** Length in bytes of all that was appended and synced. */
  get end(): number {
    return this.#end;
  }

  /** True after a failed append whose bytes could not be cut off yet. */
  get needsRepair(): boolean {
    return this.#needsRepair;
  }

  /** Appends whole lines in one write; durable on resolve. On rejection nothing of them is part of the log. */
  async append(lines: Uint8Array): Promise<void> {
    await this.repair();
    try {
      await this.#file.write(lines, this.#end);
      if (this.#file.needsSync !== false) await this.#file.datasync();
      this.#recent.appended(lines, this.#end, this.#opens);
      this.#end += lines.byteLength;
    } catch (error) {
      this.#needsRepair = true;
      await this.#cutBack().catch(() => undefined);
      throw error;
    }
  }

  /** Cuts off what a failed append left, if that is still to be done. */
  async repair(): Promise<void> {
    if (this.#needsRepair) await this.#cutBack();
  }

  /** Cuts off all from `offset` on, which must be a line's start. Durable on resolve. */
  async cutFrom(offset: number): Promise<void> {
    this.#end = offset;
    this.#forget();
    await this.#cutBack();
  }

  #forget(): void {
    this.#recent.clear();
    this.#lookedUp = null;
  }

  async #cutBack(): Promise<void> {
    await this.#file.truncate(this.#end);
    await this.#file.datasync();
    this.#needsRepair = false;
  }

  /** Lines before `end`, newest first, a block of them at a time. `end` must be a line's end. What little was read is held for the next. */
  async *backwards(end: number = this.#end, meter?: ReadMeter): AsyncGenerator<readonly LogLine[]> {
    const fromEnd = end === this.#end;
    const recent = this.#recent.before(end);
    if (recent.length > 0) yield recent;
    const readFrom = recent.at(-1)?.offset ?? end;
    let read: LogLine[] = [];
    try {
      for await (const lines of this.#readBackwards(readFrom, meter)) {
        const reached = lines.at(-1)?.offset ?? 0;
        read = fromEnd && end - reached <= MOST_BYTES ? [...read, ...lines] : [];
        yield lines;
      }
    } finally {
      if (read.length > 0 && (this.#recent.start ?? this.#end) === readFrom) this.#recent.found(read);
    }
  }

  async *#readBackwards(end: number, meter: ReadMeter | undefined): AsyncGenerator<readonly LogLine[]> {
    let begun: Buffer[] = [];
    for (let at = end; at > 0; ) {
      const length = Math.min(BACKWARD_BLOCK_BYTES, at);
      at -= length;
      const block = await this.#read(at, length, meter);
      // Within a line longer than a block: keep the pieces and join them once, so that a long line costs its length.
      const searchFrom = begun.length === 0 ? length - 2 : length - 1;
      if (at > 0 && lastNewline(block, searchFrom) < 0) {
        begun.unshift(block);
        continue;
      }
      const { lines, rest } = linesBackwards(begun.length === 0 ? block : Buffer.concat([block, ...begun]), at, this.#opens);
      begun = rest.length === 0 ? [] : [rest];
      if (lines.length > 0) yield lines;
    }
  }

  /** Lines from `start` (a line's start) to `end`, oldest first, a block of them at a time. */
  async *forwards(start = 0, end: number = this.#end, meter?: ReadMeter): AsyncGenerator<readonly LogLine[]> {
    const recent = this.#recent.between(start, end);
    const readTo = recent[0]?.offset ?? end;
    let at = start;
    let begun: Buffer[] = [];
    let begunBytes = 0;
    while (at < readTo) {
      const block = await this.#read(at, Math.min(FORWARD_BLOCK_BYTES, readTo - at), meter);
      const offset = at - begunBytes;
      at += block.length;
      if (!block.includes(NEWLINE)) {
        begun.push(block);
        begunBytes += block.length;
        continue;
      }
      const { lines, rest } = linesForwards(begun.length === 0 ? block : Buffer.concat([...begun, block]), offset, this.#opens);
      begun = rest.length === 0 ? [] : [rest];
      begunBytes = rest.length;
      yield lines;
    }
    if (recent.length > 0) yield recent;
  }

  /** All of it, as it stands in the file, a block at a time. */
  async *bytes(): AsyncGenerator<Buffer> {
    const end = this.#end;
    for (let at = 0; at < end; at += FORWARD_BLOCK_BYTES) yield await this.#read(at, Math.min(FORWARD_BLOCK_BYTES, end - at), undefined);
  }

  /** The line that starts at `offset`, or null at the end. */
  async lineAt(offset: number, meter?: ReadMeter): Promise<LogLine | null> {
    if (offset < 0 || offset >= this.#end) return null;
    const held = this.#lookedUp?.offset === offset ? this.#lookedUp : this.#recent.at(offset);
    if (held !== null) return held;
    const pieces: Buffer[] = [];
    for (let at = offset, length = 4096; at < this.#end; length = BACKWARD_BLOCK_BYTES) {
      const block = await this.#read(at, Math.min(length, this.#end - at), meter);
      const newline = block.indexOf(NEWLINE);
      pieces.push(newline < 0 ? block : block.subarray(0, newline));
      if (newline >= 0) break;
      at += block.length;
    }
    // Copied, so that a short line doesn't hold on to all that was read with it.
    const line = { offset, bytes: Buffer.concat(pieces), opens: this.#opens };
    if (line.bytes.length <= LONGEST_LOOKED_UP) this.#lookedUp = line;
    return line;
  }

  /**
   * Binary search in a log whose lines are ordered: the offset of the first line for which `isBefore` is false, else the end.
   * `isBefore` gives null for a line that can't be read; such a line counts with the one after it.
   */
  async seek(isBefore: (line: LogLine) => boolean | null, end: number = this.#end): Promise<number> {
    const [oldest] = this.#recent.between(0, end);
    const isRecent = oldest !== undefined && isBefore(oldest) === true;
    let low = isRecent ? oldest.offset : 0;
    let high = isRecent ? low : end;
    while (high - low > BACKWARD_BLOCK_BYTES) {
      const middle = low + Math.floor((high - low) / 2);
      const found = await this.#firstReadable(middle, high, isBefore);
      if (found?.before) low = found.offset;
      else high = middle;
    }
    let candidate = -1;
    for await (const lines of this.forwards(low, end)) {
      for (const line of lines) {
        const before = isBefore(line);
        if (before === false) return candidate >= 0 ? candidate : line.offset;
        if (before === null && candidate < 0) candidate = line.offset;
        if (before === true) candidate = -1;
      }
    }
    return candidate >= 0 ? candidate : end;
  }

  /** The first readable line that starts behind `from` and before `to`. */
  async #firstReadable(from: number, to: number, isBefore: (line: LogLine) => boolean | null) {
    const first = await this.lineAt(from);
    if (first === null) return null;
    for (let line: LogLine | null = first; ; ) {
      line = await this.lineAt(line.offset + line.bytes.length + 1);
      if (line === null || line.offset >= to) return null;
      const before = isBefore(line);
      if (before !== null) return { offset: line.offset, before };
    }
  }

  close(): Promise<void> {
    this.#recent.clear();
    return this.#file.close();
  }

  async #read(position: number, length: number, meter: ReadMeter | undefined): Promise<Buffer> {
    const block = await this.#file.read(position, length);
    if (meter !== undefined) meter.bytes += block.length;
    if (block.length === length) return block;
    // Somebody cut the file under us: hand out what is missing as an unreadable line rather than loop.
    return Buffer.concat([block, Buffer.alloc(length - block.length)]);
  }
}

function lastNewline(data: Buffer, from: number): number {
  return from < 0 ? -1 : data.lastIndexOf(NEWLINE, from);
}

/** `data` ends with a line feed. What stands before its first line feed is `rest`, unless `data` starts the file. */
function linesBackwards(data: Buffer, at: number, opens: LineOpener | null): { lines: LogLine[]; rest: Buffer } {
  const lines: LogLine[] = [];
  let stop = data.length;
  for (let newline = lastNewline(data, stop - 2); newline >= 0; newline = lastNewline(data, stop - 2)) {
    lines.push({ offset: at + newline + 1, bytes: data.subarray(newline + 1, stop - 1), opens });
    stop = newline + 1;
  }
  if (at > 0) return { lines, rest: data.subarray(0, stop) };
  if (stop > 0) lines.push({ offset: 0, bytes: data.subarray(0, stop - 1), opens });
  return { lines, rest: data.subarray(0, 0) };
}

function linesForwards(data: Buffer, at: number, opens: LineOpener | null): { lines: LogLine[]; rest: Buffer } {
  const lines: LogLine[] = [];
  let start = 0;
  for (let newline = data.indexOf(NEWLINE); newline >= 0; newline = data.indexOf(NEWLINE, start)) {
    lines.push({ offset: at + start, bytes: data.subarray(start, newline), opens });
    start = newline + 1;
  }
  return { lines, rest: data.subarray(start) };
}

async function endOfLastLine(file: OpenFile, size: number): Promise<number> {
  for (let at = size; at > 0; ) {
    const length = Math.min(BACKWARD_BLOCK_BYTES, at);
    at -= length;
    const newline = (await file.read(at, length)).lastIndexOf(NEWLINE);
    if (newline >= 0) return at + newline + 1;
  }
  return 0;
}
