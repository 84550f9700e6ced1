import { hash } from "node:crypto";
import { z } from "zod";
import type { Owner } from "../../domain/owner.js";
import { JOURNAL_VERSION, type JournalRecord, journalRecordSchema, MAX_RECORD_BYTES, type NewRecord } from "../../domain/session.js";
import { AppError } from "../../platform/errors.js";
import { isId } from "../../platform/ids.js";
import { type JsonlLog, type LineOpener, type LogLine, lineValue } from "../../platform/jsonl-log.js";

/**
 * One line of a journal: the record, and behind it what lets a reader start at the end.
 * All of `tail` can be worked out from the lines before; a line without it (written by hand) is read as well.
 */
const tailSchema = z.object({
  /** First 16 hex digits of SHA-256 of the owner: tells whose journal it is where the first line is damaged. */
  owner: z.string(),
  /** Highest turn so far: a rewind doesn't lower it. */
  last_turn: z.number().int().nonnegative(),
  /** The seq that the next record follows, where it is not this record's: after a rewrite that dropped the last ones. */
  last_seq: z.number().int().optional(),
  /** Byte offset of the newest summary that stands after this record. */
  summary_at: z.number().int().nullable(),
  /** Byte offset of the newest rewind before this record; null: there is none. Missing in lines of before: then all has to be read. */
  rewind_at: z.number().int().nullable().optional(),
  /** Which record of how many of one append, from 1; left out where it was alone. One that isn't followed by the next was torn off it. */
  part: z.tuple([z.number().int().positive(), z.number().int().positive()]).optional(),
});
type Tail = z.infer<typeof tailSchema>;

/** A line that was read once needs no second look: whoever reads it next gets the same record, which nobody changes. */
export class DecodedLine {
  readonly record: JournalRecord;
  readonly tail: Tail | null;

  constructor(record: JournalRecord, tail: Tail | null) {
    this.record = record;
    this.tail = tail;
  }
}

const tailOnly = z.object({ tail: tailSchema });

/** In a sealed body, behind what names the keys. */
export const KEYS_END = "~";

/** Of a line whose body is sealed: what of it stays in clear. */
const headSchema = z.object({
  seq: z.number().int(),
  type: z.enum(journalRecordSchema.options.map(({ shape }) => shape.type.value)),
  turn: z.number().int(),
  tail: tailSchema,
});

export function ownerMark(owner: Owner): string {
  return hash("sha256", owner).slice(0, 16);
}

/** Null for a line that is damaged, or of a version that is not known. */
export function decodeLine(line: LogLine): DecodedLine | null {
  if (line.made instanceof DecodedLine) return line.made;
  const value = opened(lineValue(line), line);
  const record = journalRecordSchema.safeParse(value);
  if (!record.success) return null;
  const decoded = new DecodedLine(record.data, tailOf(value));
  line.made = decoded;
  return decoded;
}

/** What a line says of its place in the journal. */
interface LineHead {
  readonly seq: number;
  readonly turn: number;
  readonly type: JournalRecord["type"];
  /** Of a session record: whose the journal is. */
  readonly owner: Owner | null;
  /** Of a rewind: the record that it goes back to. */
  readonly toSeq: number | null;
  readonly tail: Tail | null;
}

/** Null for a line that is damaged, or of a version that is not known. */
export function headOf(line: LogLine): LineHead | null {
  const decoded = decodeLine(line);
  if (decoded === null) return sealedHead(line);
  const { record, tail } = decoded;
  const { seq, turn, type } = record;
  // What create() wrote went through the owner port; journals are only ever written there.
  const owner = record.type === "session" ? (record.body.owner as Owner) : null;
  return { seq, turn, type, owner, toSeq: record.type === "rewind" ? record.body.to_seq : null, tail };
}

type SealedLine = Readonly<Record<string, unknown>> & { readonly sealed: string };

/** A line whose body is sealed; null for another. */
function sealedIn(value: unknown): SealedLine | null {
  const isSealed = typeof value === "object" && value !== null && "sealed" in value && typeof value.sealed === "string";
  return isSealed ? (value as SealedLine) : null;
}

/** With its body, where that is sealed and can be opened. Where lines are sealed one in clear was put there. */
function opened(value: unknown, { opens }: LogLine): unknown {
  const line = sealedIn(value);
  if (line === null) return opens == null || opens.takesClear === true ? value : null;
  const body = opens?.(line.sealed, placeOf(line));
  return body == null ? null : { ...line, body: JSON.parse(body) };
}

/** Of a line whose key is not at hand, or was destroyed. What was changed is damaged. */
function sealedHead(line: LogLine): LineHead | null {
  const sealed = sealedIn(lineValue(line));
  const head = headSchema.safeParse(sealed).data;
  if (sealed === null || head === undefined || (line.opens && line.opens(sealed.sealed, placeOf(sealed)) === undefined)) return null;
  return { ...head, owner: null, toSeq: null };
}

/** What is authenticated along with a body: it holds in its own line alone. */
function placeOf({ v, seq, type, id, turn, at, tail }: Readonly<Record<string, unknown>>): string {
  const { owner, last_turn, last_seq = null, summary_at, rewind_at = null, part = null } = (tail ?? {}) as Partial<Tail>;
  return JSON.stringify([v, seq, type, id, turn, at, owner, last_turn, last_seq, summary_at, rewind_at, part]);
}

/** Has a log's lines opened, by what the newest of them that is sealed says. */
export async function unseal(log: JsonlLog, seals: JournalSeals | null, sessionId: string): Promise<void> {
  if (seals !== null) log.opens = await seals.opener(await keysOfLog(log), sessionId);
}

/** Empty: none is sealed. */
async function keysOfLog(log: JsonlLog): Promise<string> {
  for await (const lines of log.backwards())
    for (const line of lines) {
      const keys = sealedIn(lineValue(line))?.sealed.split(KEYS_END, 1)[0];
      if (keys !== undefined) return keys;
    }
  return "";
}

function tailOf(value: unknown): Tail | null {
  return tailOnly.safeParse(value).data?.tail ?? null;
}

const START = new RegExp(`^\\{"v":${JOURNAL_VERSION},"seq":(\\d+),"type":"([a-z_]+)"`);

/** Seq and type from a line's first bytes, without parsing the rest; null when it doesn't start as ours do. */
export function peekLine(line: LogLine): { readonly seq: number; readonly type: string } | null {
  if (line.made instanceof DecodedLine) return line.made.record;
  const match = START.exec(line.bytes.toString("latin1", 0, 64));
  return match?.[1] === undefined || match[2] === undefined ? null : { seq: Number(match[1]), type: match[2] };
}

/** Fills in what has a default. @throws INVALID_REQUEST for a record that doesn't fit the schema. */
export function numbered(record: NewRecord, seq: number): JournalRecord {
  const parsed = journalRecordSchema.safeParse({ ...record, v: JOURNAL_VERSION, seq });
  if (parsed.success) return parsed.data;
  throw new AppError("INVALID_REQUEST", { detail: `A ${record.type} record does not fit the journal's schema.`, cause: parsed.error });
}

/** The line with its line feed. Key order is fixed: {@link peekLine} relies on it. @throws RECORD_TOO_LARGE */
export function encodeLine(record: JournalRecord, tail: Tail, seal: LineSealer | null = null): Buffer {
  const { v, seq, type, id, turn, at } = record;
  const head = JSON.stringify({ v, seq, type, id, turn, at }).slice(0, -1);
  const lineWith = (name: "body" | "sealed", json: string) => `${head},"${name}":${json},"tail":${JSON.stringify(tail)}}\n`;
  const body = JSON.stringify(record.body);
  const line = lineWith("body", body);
  const bytes = Buffer.byteLength(line);
  if (bytes > MAX_RECORD_BYTES)
    throw new AppError("RECORD_TOO_LARGE", { detail: `A ${type} record takes ${bytes} bytes; at most ${MAX_RECORD_BYTES} fit.` });
  if (seal === null) return Buffer.from(line);
  return Buffer.from(lineWith("sealed", JSON.stringify(seal(body, placeOf({ ...record, tail })))));
}

/** What a line says, sealed at its place. */
export type LineSealer = (text: string, place: string) => string;

/** How the lines of journals in files are sealed: under the keys of whose they are, each in its session. */
export interface JournalSeals {
  /** For one who writes, and reads what was written. `seal` null: what is written is not sealed any more. */
  sealer(owner: Owner, sessionId: string): Promise<{ readonly seal: LineSealer | null; readonly opens: LineOpener }>;
  /** For one who reads. `keys`: as a sealed line names them; empty: there is none. */
  opener(keys: string, sessionId: string): Promise<LineOpener>;
}

/** What an append must know of all that went before it. */
export interface JournalTail {
  readonly lastSeq: number;
  readonly lastTurn: number;
  /** Byte offset of the newest summary that stands, or null. */
  readonly summaryAt: number | null;
  /** Byte offset of the newest rewind, whether or not a later one took it back; null: there is none. Undefined: the lines don't say. */
  readonly rewindAt: number | null | undefined;
}

/** @throws INVALID_SESSION_ID */
export function checkSessionId(sessionId: string): void {
  if (!isId(sessionId)) throw new AppError("INVALID_SESSION_ID");
}

/**
 * Records as a store keeps them, numbered on from a seq. Each is encoded as a line of a file too, so that one which is too large for a file
 * is refused by every store. @throws INVALID_REQUEST, RECORD_TOO_LARGE
 */
export function numberedAll(owner: Owner, records: readonly NewRecord[], lastSeq: number): JournalRecord[] {
  return records.map((record, index) => {
    const kept = numbered(structuredClone(record), lastSeq + index + 1);
    encodeLine(kept, { owner: ownerMark(owner), last_turn: kept.turn, summary_at: null });
    return kept;
  });
}

/** What a journal may start with. @throws INVALID_REQUEST */
export function checkFirst(owner: Owner, records: readonly NewRecord[]): void {
  const [first] = records;
  if (first?.type !== "session" || first.body.owner !== owner || records.some(({ type }) => type === "rewind"))
    throw new AppError("INVALID_REQUEST", {
      detail: "A journal starts with the session record of its owner, and with nothing to rewind.",
    });
}

/** @throws INVALID_REQUEST for a rewind to a record that was not there before it was asked for */
export function checkRewinds(records: readonly NewRecord[], lastSeq: number): void {
  if (records.some((record) => record.type === "rewind" && record.body.to_seq > lastSeq))
    throw new AppError("INVALID_REQUEST", { detail: "A rewind goes back to a record that was there before it was asked for." });
}
