import { AppError } from "./errors.js";

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const ARRAY = 0x5b;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/**
 * The elements of a JSON array in UTF-8, as bytes, one after the other: of a file that is too large to be parsed whole. Where an
 * element ends is seen by brackets and strings alone; whether it is JSON, the one who parses it sees.
 * @throws INVALID_IMPORT for what is no array of elements, PAYLOAD_TOO_LARGE for an element over `maxBytes`
 */
export async function* jsonElements(body: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let [depth, ended, inString, escaped] = [0, false, false, false];
  let [count, at] = [0, 0];
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  const keep = (piece: Uint8Array) => {
    bytes += piece.length;
    if (bytes > maxBytes)
      throw new AppError("PAYLOAD_TOO_LARGE", { detail: `Element ${count + 1} of the list is over ${maxBytes / 1024 / 1024} MiB.` });
    pieces.push(piece);
  };
  const take = () => {
    const element = Buffer.concat(pieces);
    pieces = [];
    bytes = 0;
    return element;
  };
  for await (const chunk of body) {
    let start = 0;
    for (let i = 0; i < chunk.length; i += 1, at += 1) {
      const byte = chunk[i] ?? 0;
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) inString = false;
      } else if (depth === 0) {
        if (byte === ARRAY && !ended) {
          depth = 1;
          start = i + 1;
        } else if (!isBlank(byte) && byte !== BYTE_ORDER_MARK[at]) throw noArray();
      } else if (byte === QUOTE) inString = true;
      else if (opens(byte)) depth += 1;
      else if (depth === 1 && (byte === COMMA || closes(byte))) {
        keep(chunk.subarray(start, i));
        const element = take();
        start = i + 1;
        ended = byte !== COMMA;
        if (ended) depth = 0;
        const blank = element.every(isBlank);
        if (blank && !(ended && count === 0)) throw noArray();
        count += 1;
        if (!blank) yield element;
      } else if (closes(byte)) depth -= 1;
    }
    // The reader may use its buffer again.
    if (depth > 0 && start < chunk.length) keep(chunk.slice(start));
  }
  if (!ended) throw noArray();
}

const isBlank = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
const opens = (byte: number) => byte === 0x7b || byte === ARRAY;
const closes = (byte: number) => byte === 0x7d || byte === 0x5d;

function noArray(): AppError {
  return new AppError("INVALID_IMPORT", { detail: "The import is not a whole JSON list in UTF-8." });
}
