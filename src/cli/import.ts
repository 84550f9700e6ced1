import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { checkImport, MAX_CONVERSATION_BYTES } from "../import/import.js";
import { AppError, type ErrorDetail, isAppError } from "../platform/errors.js";
import { parsedJson } from "../platform/json.js";
import { jsonElements } from "../platform/json-elements.js";
import type { Backend } from "./backend.js";
import { EXIT, type ExitCode } from "./errors.js";
import { printable, type Terminal } from "./terminal.js";

export interface ImportCommand {
  readonly file: string;
  /** `export` is any JSON document: Maitred's own export, or another product's. Default: by what the file begins with. */
  readonly format?: "ndjson" | "export";
  readonly extract: boolean;
  readonly signal: AbortSignal;
}

/** Below the API's 64 MiB. A larger file of lines or of conversations is checked whole, then sent in parts. */
const PART_BYTES = 48 * 1024 * 1024;
/** More than a line can have: a journal record holds 1 MiB at most. */
const SNIFF_BYTES = 2 * 1024 * 1024;
const NEWLINE = 0x0a;

/** What a line of an import holds, for `--help`. */
export const LINE_HELP = `A line is one message, in order:
  {"session_id":"their-id","role":"user","content":"Two in the stalls, please.","created_at":"2026-03-01T19:30:00Z"}
session_id, role (user, assistant or system) and content are needed; created_at, message_id, name and metadata can be left out.
created_at has its own offset; one that has not come yet is taken as now, and is refused where it lies over 24 hours ahead.`;

type Kind = "lines" | "list" | "document";

/** Takes a file in. Idempotent: broken off, the same command again passes over what is there and adds the rest. */
export async function importCommand(terminal: Terminal, backend: Backend, command: ImportCommand): Promise<ExitCode> {
  const { file, extract, signal } = command;
  const { kind, large } = await lookAt(file, command.format);
  const format = kind === "lines" ? "ndjson" : "export";
  if (large && kind !== "document") await checkImport(createReadStream(file), kind === "lines" ? "ndjson" : "chatgpt", new Date());
  const progress = terminal.progress(extract ? "Importing and reading" : "Importing");
  const sum = { sessions: 0, messages: 0, skipped_duplicates: 0 };
  const leftOut: ErrorDetail[] = [];
  let memories: number | undefined;
  try {
    for await (const part of large ? PARTS[kind](file) : wholeFile(file)) {
      const onProgress = (done: number, total: number) => progress.update(sum.messages + sum.skipped_duplicates + done, total);
      const result = await backend.import(part, { format, extract, signal, onProgress });
      sum.sessions += result.sessions;
      sum.messages += result.messages;
      sum.skipped_duplicates += result.skipped_duplicates;
      if (result.memories !== undefined) memories = (memories ?? 0) + result.memories;
      leftOut.push(...(result.left_out ?? []));
    }
  } catch (error) {
    throw kind === "document" && isAppError(error, "PAYLOAD_TOO_LARGE") ? withoutServer(error) : error;
  } finally {
    progress.stop();
  }
  terminal.result({ ...sum, ...(memories !== undefined && { memories }), ...(leftOut.length > 0 && { left_out: leftOut }) });
  const skipped = sum.skipped_duplicates === 0 ? "" : `; ${sum.skipped_duplicates} were there already`;
  const known = memories === undefined ? "" : ` ${memories} memories.`;
  terminal.line(`${sum.messages} messages of ${sum.sessions} sessions${skipped}.${known}`);
  if (leftOut.length === 0) return EXIT.ok;
  if (!terminal.json) for (const { detail } of leftOut) terminal.note(`Left out: ${printable(detail)}.`);
  return EXIT.attention;
}

/** Only what stands in parts can be sent in parts. */
function withoutServer(cause: AppError): AppError {
  const hint = "Stop the server and run this without --url: on the storage directory itself it may hold 512 MiB.";
  return new AppError("PAYLOAD_TOO_LARGE", { detail: cause.message, hint, cause });
}

async function lookAt(path: string, format: ImportCommand["format"]): Promise<{ readonly kind: Kind; readonly large: boolean }> {
  const file = await open(path, "r").catch((cause: unknown) => {
    throw new AppError("NOT_FOUND", { detail: `${path} can't be read.`, hint: "Check the path.", cause });
  });
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SNIFF_BYTES), 0, SNIFF_BYTES, 0);
    const beginning = buffer.toString("utf8", 0, bytesRead).replace(/^\ufeff/, "");
    const large = (await file.stat()).size > PART_BYTES;
    if (format === "ndjson" || (format === undefined && beginsWithLine(beginning))) return { kind: "lines", large };
    return { kind: beginning.trimStart().startsWith("[") ? "list" : "document", large };
  } finally {
    await file.close();
  }
}

/** True when the first line is a JSON object of its own with a message in it. */
function beginsWithLine(text: string): boolean {
  const first = parsedJson(text.trimStart().split("\n", 1)[0] ?? "");
  return typeof first === "object" && first !== null && "session_id" in first && "role" in first;
}

/** Each part must be read to its end before the next is asked for. */
const PARTS: Readonly<Record<Kind, (path: string) => AsyncIterable<AsyncIterable<Uint8Array>>>> = {
  lines: lineParts,
  list: listParts,
  document: wholeFile,
};

async function* wholeFile(path: string): AsyncGenerator<AsyncIterable<Uint8Array>> {
  yield createReadStream(path);
}

/** The list in shorter lists. */
async function* listParts(path: string): AsyncGenerator<AsyncIterable<Uint8Array>> {
  let part: Uint8Array[] = [];
  let bytes = 0;
  for await (const element of jsonElements(createReadStream(path), MAX_CONVERSATION_BYTES)) {
    if (bytes > 0 && bytes + element.length > PART_BYTES) {
      yield listOf(part);
      part = [];
      bytes = 0;
    }
    part.push(element);
    bytes += element.length + 1;
  }
  yield listOf(part);
}

async function* listOf(elements: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield Buffer.from("[");
  for (const [i, element] of elements.entries()) {
    if (i > 0) yield Buffer.from(",");
    yield element;
  }
  yield Buffer.from("]");
}

/** The file in parts that end with a line. */
async function* lineParts(path: string): AsyncGenerator<AsyncIterable<Uint8Array>> {
  const chunks = createReadStream(path)[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const state: { rest: Buffer | null; ended: boolean } = { rest: null, ended: false };
  const next = async (): Promise<Buffer | null> => {
    const { rest } = state;
    state.rest = null;
    if (rest !== null) return rest;
    const { done, value } = await chunks.next();
    state.ended = done === true;
    return done === true ? null : value;
  };
  async function* part(): AsyncGenerator<Uint8Array> {
    for (let sent = 0; ; ) {
      const chunk = await next();
      if (chunk === null) return;
      sent += chunk.length;
      const end = sent < PART_BYTES ? -1 : chunk.indexOf(NEWLINE);
      if (end === -1) yield chunk;
      else {
        if (end + 1 < chunk.length) state.rest = chunk.subarray(end + 1);
        yield chunk.subarray(0, end + 1);
        return;
      }
    }
  }
  do {
    yield part();
    if (state.rest === null && !state.ended) state.rest = await next();
  } while (state.rest !== null);
}
