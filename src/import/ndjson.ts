import { isUtf8 } from "node:buffer";
import { parsedJson } from "../platform/json.js";
import { checkLine, type ImportLine, ImportProblems, type LinePlace } from "./import-line.js";

/** A line becomes a journal record, which has its own limit of 1 MiB. */
const MAX_LINE_BYTES = 512 * 1024;

/**
 * Reads JSON lines, streamed; blank lines are passed over, a byte order mark and CRLF are let through. Lines that are wrong are
 * noted, and thrown together at the end (or as soon as there are too many), so what was yielded counts only if the reading ends well.
 * @throws INVALID_IMPORT with the numbers of the lines, from 1
 */
export async function* readNdjson(body: AsyncIterable<Uint8Array>, now: Date): AsyncGenerator<ImportLine> {
  const problems = new ImportProblems();
  for await (const lines of linesOf(body)) {
    for (const { number, bytes } of lines) {
      const line = parse(bytes, { line: number, now }, problems);
      if (line !== null) yield line;
    }
  }
  problems.throwIfAny();
}

function parse(bytes: Uint8Array, place: LinePlace, problems: ImportProblems): ImportLine | null {
  const wrong = bytes.length > MAX_LINE_BYTES ? "is over 512 KiB" : !isUtf8(bytes) ? "is not UTF-8" : null;
  if (wrong !== null) {
    problems.add(place.line, "", wrong);
    return null;
  }
  const text = new TextDecoder().decode(bytes);
  const value = parsedJson(text);
  if (value !== undefined) return checkLine(value, place, problems);
  if (text.trim() !== "") problems.add(place.line, "", "is not JSON");
  return null;
}

interface NumberedLine {
  /** From 1. */
  readonly number: number;
  readonly bytes: Uint8Array;
}

const NEWLINE = 0x0a;

/** The lines that end within each chunk, without the empty ones; cut in bytes, as a chunk may end within a character. */
async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<readonly NumberedLine[]> {
  let pieces: Uint8Array[] = [];
  let number = 1;
  for await (const chunk of body) {
    const lines: NumberedLine[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      if (pieces.length > 0 || end > start) lines.push({ number, bytes: Buffer.concat([...pieces, chunk.subarray(start, end)]) });
      pieces = [];
      number += 1;
      start = end + 1;
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
    yield lines;
  }
  if (pieces.length > 0) yield [{ number, bytes: Buffer.concat(pieces) }];
}
