import { pipeline, Readable, type Transform } from "node:stream";
import { constants, createGunzip, createGzip, gunzipSync, gzipSync } from "node:zlib";
import { z } from "zod";
import type { Owner } from "../../domain/owner.js";
import type { FileSystem, OpenFile } from "../../platform/file-system.js";
import type { LineOpener, LogLine } from "../../platform/jsonl-log.js";

/**
 * The journal of an archived session, packed: a gzip file (RFC 1952) of two members. The first unpacks to one line
 * that says whose it is and where it ends, so that this can be known without unpacking the rest; the second to the
 * journal's own bytes.
 */
const headerSchema = z.object({
  packed: z.object({ owner: z.string(), last_seq: z.number().int(), last_turn: z.number().int() }),
});
interface PackedHeader {
  readonly owner: Owner;
  readonly lastSeq: number;
  readonly lastTurn: number;
}

const HEADER_READ_BYTES = 8 * 1024;
const BLOCK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

/** Null when there is no such file. Undefined header: it is there and can't be read. */
export async function readPackedHeader(fs: FileSystem, path: string): Promise<PackedHeader | null | undefined> {
  if ((await fs.stat(path)) === null) return null;
  const file = await fs.open(path, "read");
  try {
    return parseHeader(await file.read(0, HEADER_READ_BYTES));
  } finally {
    await file.close();
  }
}

function parseHeader(start: Buffer): PackedHeader | undefined {
  try {
    const text = gunzipSync(start, { finishFlush: constants.Z_SYNC_FLUSH });
    const { packed } = headerSchema.parse(JSON.parse(text.toString("utf8", 0, text.indexOf(NEWLINE))));
    return { owner: packed.owner as Owner, lastSeq: packed.last_seq, lastTurn: packed.last_turn };
  } catch {
    return undefined;
  }
}

/** Writes the packed form of `blocks` into an empty file; durable on resolve. */
export async function packInto(file: OpenFile, header: PackedHeader, blocks: AsyncIterable<Buffer>): Promise<void> {
  const { owner, lastSeq, lastTurn } = header;
  const first = gzipSync(`${JSON.stringify({ packed: { owner, last_seq: lastSeq, last_turn: lastTurn } })}\n`);
  await file.write(first, 0);
  let at = first.length;
  for await (const packed of through(createGzip(), blocks)) {
    await file.write(packed, at);
    at += packed.length;
  }
  await file.datasync();
}

/** The journal's own bytes. Rejects where the file is damaged. */
export async function* unpack(fs: FileSystem, path: string): AsyncGenerator<Buffer> {
  const file = await fs.open(path, "read");
  let inHeader = true;
  try {
    for await (const block of through(createGunzip(), blocksOf(file))) {
      const newline = inHeader ? block.indexOf(NEWLINE) : -1;
      if (!inHeader) yield block;
      else if (newline >= 0) {
        inHeader = false;
        yield block.subarray(newline + 1);
      }
    }
  } finally {
    await file.close();
  }
}

export async function* unpackedLines(fs: FileSystem, path: string, opens: LineOpener | null = null): AsyncGenerator<readonly LogLine[]> {
  let rest: Buffer = Buffer.alloc(0);
  let offset = 0;
  for await (const block of unpack(fs, path)) {
    const data = rest.length === 0 ? block : Buffer.concat([rest, block]);
    const lines: LogLine[] = [];
    let start = 0;
    for (let newline = data.indexOf(NEWLINE); newline >= 0; newline = data.indexOf(NEWLINE, start)) {
      lines.push({ offset: offset + start, bytes: data.subarray(start, newline), opens });
      start = newline + 1;
    }
    rest = data.subarray(start);
    offset += start;
    if (lines.length > 0) yield lines;
  }
}

async function* blocksOf(file: OpenFile): AsyncGenerator<Buffer> {
  for (let at = 0; ; ) {
    const block = await file.read(at, BLOCK_BYTES);
    if (block.length === 0) return;
    at += block.length;
    yield block;
  }
}

async function* through(transform: Transform, input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  // An error anywhere destroys the transform with it, and so comes out of the loop below.
  pipeline(Readable.from(input), transform, () => undefined);
  for await (const block of transform) yield block;
}
