import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { AppError } from "../errors.js";
import type { Backend } from "./backend.js";
import type { Terminal } from "./terminal.js";

export interface ImportCommand {
  readonly file: string;
  /** `export` is any JSON document: Maitred's own export, or ChatGPT's `conversations.json`. Default: by what the file begins with. */
  readonly format?: "ndjson" | "export";
  readonly extract: boolean;
  readonly signal: AbortSignal;
}

/** Below the API's 64 MiB. A larger file of lines is sent in parts; each is checked whole before anything of it is kept. */
const PART_BYTES = 48 * 1024 * 1024;
/** More than a line can have: a journal record holds 1 MiB at most. */
const SNIFF_BYTES = 2 * 1024 * 1024;
const NEWLINE = 0x0a;

/** Takes a file in. Idempotent: broken off, the same command again passes over what is there and adds the rest. */
export async function importCommand(terminal: Terminal, backend: Backend, command: ImportCommand): Promise<void> {
  const { file, extract, signal } = command;
  const format = command.format ?? (await formatOf(file));
  const progress = terminal.progress("Importing");
  const sum = { sessions: 0, messages: 0, skipped_duplicates: 0 };
  try {
    for await (const part of format === "ndjson" ? lineParts(file) : wholeFile(file)) {
      const onProgress = (done: number, total: number) => progress.update(sum.messages + sum.skipped_duplicates + done, total);
      const result = await backend.import(part, { format, extract, signal, onProgress });
      sum.sessions += result.sessions;
      sum.messages += result.messages;
      sum.skipped_duplicates += result.skipped_duplicates;
    }
  } finally {
    progress.stop();
  }
  terminal.result(sum);
  const skipped = sum.skipped_duplicates === 0 ? "" : `; ${sum.skipped_duplicates} were there already`;
  terminal.line(`${sum.messages} messages of ${sum.sessions} sessions${skipped}.`);
}

/** Lines, when the first line is a JSON object of its own with a message in it; a document otherwise. */
async function formatOf(path: string): Promise<"ndjson" | "export"> {
  const file = await open(path, "r").catch((cause: unknown) => {
    throw new AppError("NOT_FOUND", { detail: `${path} can't be read.`, hint: "Check the path.", cause });
  });
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SNIFF_BYTES), 0, SNIFF_BYTES, 0);
    const [line = ""] = buffer
      .toString("utf8", 0, bytesRead)
      .replace(/^\ufeff/, "")
      .trimStart()
      .split("\n");
    const first: unknown = JSON.parse(line);
    return typeof first === "object" && first !== null && "session_id" in first && "role" in first ? "ndjson" : "export";
  } catch {
    return "export";
  } finally {
    await file.close();
  }
}

async function* wholeFile(path: string): AsyncGenerator<AsyncIterable<Uint8Array>> {
  yield createReadStream(path);
}

/** The file in parts that end with a line. Each part must be read to its end before the next is asked for. */
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
