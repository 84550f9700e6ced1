import { join } from "node:path";
import { pipeline, Readable, type Transform } from "node:stream";
import { constants, createGunzip, createGzip, gunzipSync, gzipSync } from "node:zlib";
import { z } from "zod";
import type { Owner } from "../../domain/owner.js";
import type { FileSystem, OpenFile } from "../../platform/file-system.js";
import { isId } from "../../platform/ids.js";
import { JsonlLog, type LineOpener, type LogLine } from "../../platform/jsonl-log.js";
import { headOf, ownerMark } from "../journal/journal-codec.js";
import { ownerOfLog } from "./journal-file.js";

type JournalKind = "journal" | "packed";
const SUFFIX = { journal: ".jsonl", packed: ".jsonl.gz" } as const;
const TEMPORARY = ".tmp";
const NAME = /^(.{36})\.jsonl(\.gz)?(\.tmp)?$/;

/** The names in a storage directory. Only ids that were checked become part of a path. */
export class JournalDirectory {
  readonly #dir: string;
  readonly #fs: FileSystem;

  constructor(dir: string, fs: FileSystem) {
    this.#dir = dir;
    this.#fs = fs;
  }

  path(sessionId: string, kind: JournalKind): string {
    return join(this.#dir, `${sessionId}${SUFFIX[kind]}`);
  }

  /** Removes the temporary files that a crash left. */
  async prepare(): Promise<void> {
    for (const name of await this.#fs.readdir(this.#dir)) {
      if (name.endsWith(TEMPORARY) && idOf(name) !== null) await this.#fs.unlink(join(this.#dir, name));
    }
  }

  /** Ids of all sessions that have a file of any kind here, temporary ones included. */
  async sessionIds(): Promise<string[]> {
    const names = await this.#fs.readdir(this.#dir);
    return [...new Set(names.map(idOf).filter((id) => id !== null))];
  }

  /** Puts a new file in the place of the old one, or of none: written and synced aside, renamed, name synced. */
  async replaceRaw(sessionId: string, kind: JournalKind, fill: (file: OpenFile) => Promise<void>): Promise<void> {
    const file = await this.#fs.open(this.#temporary(sessionId, kind), "create");
    await this.#moveIn(sessionId, kind, file, () => fill(file));
  }

  async replaceLog(sessionId: string, fill: (log: JsonlLog) => Promise<void>): Promise<void> {
    const log = await JsonlLog.create(this.#fs, this.#temporary(sessionId, "journal"));
    await this.#moveIn(sessionId, "journal", log, () => fill(log));
  }

  async #moveIn(sessionId: string, kind: JournalKind, file: { close(): Promise<void> }, fill: () => Promise<void>): Promise<void> {
    const temporary = this.#temporary(sessionId, kind);
    try {
      try {
        await fill();
      } finally {
        await file.close();
      }
      await this.#fs.rename(temporary, this.path(sessionId, kind));
    } catch (error) {
      await this.#fs.unlink(temporary).catch(() => undefined);
      throw error;
    }
    await this.#fs.syncDirectory(this.#dir);
  }

  /** Without effect when it isn't there. */
  async remove(sessionId: string, kind: JournalKind): Promise<void> {
    await this.#removePath(this.path(sessionId, kind));
  }

  async removeTemporary(sessionId: string): Promise<void> {
    for (const kind of ["journal", "packed"] as const) await this.#removePath(this.#temporary(sessionId, kind));
  }

  async #removePath(path: string): Promise<void> {
    if ((await this.#fs.stat(path)) === null) return;
    await this.#fs.unlink(path);
    await this.#fs.syncDirectory(this.#dir);
  }

  /** How many of a session's files, temporary ones included, are this owner's, by what stands in them. */
  async filesOf(sessionId: string, owner: Owner): Promise<number> {
    let found = 0;
    for (const suffix of ["", TEMPORARY]) {
      if (await this.#logBelongs(`${this.path(sessionId, "journal")}${suffix}`, owner)) found += 1;
      const header = await readPackedHeader(this.#fs, `${this.path(sessionId, "packed")}${suffix}`);
      if (header?.owner === owner) found += 1;
    }
    return found;
  }

  async #logBelongs(path: string, owner: Owner): Promise<boolean> {
    const opened = await JsonlLog.open(this.#fs, path);
    if (opened === null) return false;
    try {
      const head = await opened.log.lineAt(0);
      const whose = head === null ? null : headOf(head)?.owner;
      if (whose != null) return whose === owner;
      return (await ownerOfLog(opened.log))?.mark === ownerMark(owner);
    } finally {
      await opened.log.close();
    }
  }

  #temporary(sessionId: string, kind: JournalKind): string {
    return `${this.path(sessionId, kind)}${TEMPORARY}`;
  }
}

function idOf(name: string): string | null {
  const id = NAME.exec(name)?.[1];
  return id !== undefined && isId(id) ? id : null;
}

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
