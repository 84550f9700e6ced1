import { isUtf8 } from "node:buffer";
import { buffer } from "node:stream/consumers";
import { importedMemoryId, type Owner } from "../domain/owner.js";
import { titleFrom } from "../domain/title.js";
import type { Clock } from "../platform/clock.js";
import { AppError, type ErrorDetail } from "../platform/errors.js";
import { parsedJson } from "../platform/json.js";
import { jsonElements } from "../platform/json-elements.js";
import type { ImportResult, Imports } from "../ports/application.js";
import { sessionIdFor } from "../ports/session-names.js";
import { checkChatGpt, looksLikeChatGpt, readChatGpt } from "./chatgpt.js";
import type { ImportedMemory } from "./chroma.js";
import type { ImportLine } from "./import-line.js";
import { readNdjson } from "./ndjson.js";
import { readOtherProduct } from "./other-products.js";
import { type RestoreParts, restoreExport } from "./restore.js";
import { checkImportable, importSession, type SessionImportParts } from "./session-import.js";
import { Spool } from "./spool.js";

const MAX_IMPORT_BYTES = 64 * 1024 * 1024;
/** Of one conversation in a list: with the brackets around it, it is an import. */
export const MAX_CONVERSATION_BYTES = MAX_IMPORT_BYTES - 2;

/** Of another product's. */
const MEMORIES_AT_ONCE = 200;

export interface ImportParts extends SessionImportParts {
  readonly clock: Clock;
  /** Lets an erasure end the work and wait for it. @throws OWNER_ERASED, SHUTTING_DOWN */
  readonly gate: { begin(owner: Owner): { readonly signal: AbortSignal; end(): void } };
  /** Makes memories of a session's user messages: Promotion.session. Null where long-term memory is off. */
  readonly promote:
    | ((owner: Owner, sessionId: string, signal: AbortSignal, onMessage: (done: number, total: number) => void) => Promise<unknown>)
    | null;
  /** What an export holds beside sessions, and where it goes. */
  readonly restore: Omit<RestoreParts, keyof SessionImportParts>;
  /** Where lines are kept while the rest is checked. Default: the system's directory for temporary files. */
  readonly spoolDir?: string;
}

type ImportOptions = Parameters<Imports["import"]>[2];
/** What an import brings. Lines are checked as they are read. */
interface Brought {
  readonly lines: AsyncIterable<ImportLine> | Iterable<ImportLine>;
  /** By external id. Default: none has one. */
  readonly titles?: ReadonlyMap<string, string>;
  readonly memories?: readonly ImportedMemory[];
  /** What is known not to be kept here. Default: nothing. */
  readonly leftOut?: readonly ErrorDetail[];
}

type OnProgress = NonNullable<ImportOptions["onProgress"]>;

/**
 * Reads an import whole and keeps nothing, for one who sends it in parts: JSON lines, or a ChatGPT export of any size.
 * @throws INVALID_IMPORT
 */
export async function checkImport(body: AsyncIterable<Uint8Array>, format: "ndjson" | "chatgpt", now: Date): Promise<void> {
  if (format === "chatgpt") return checkChatGpt(parsed(jsonElements(body, MAX_CONVERSATION_BYTES)), now);
  for await (const _ of readNdjson(body, now));
}

async function* parsed(elements: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  for await (const element of elements) yield jsonOf(element);
}

/** @throws INVALID_IMPORT */
function jsonOf(bytes: Uint8Array): unknown {
  const value = isUtf8(bytes) ? parsedJson(new TextDecoder().decode(bytes)) : undefined;
  if (value === undefined) throw new AppError("INVALID_IMPORT", { detail: "The import is not JSON in UTF-8." });
  return value;
}

/** Lets bytes through up to a limit. @throws PAYLOAD_TOO_LARGE, and the signal's reason when it aborts */
async function* limitBytes(body: AsyncIterable<Uint8Array>, limit: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of body) {
    signal.throwIfAborted();
    bytes += chunk.byteLength;
    if (bytes > limit) throw new AppError("PAYLOAD_TOO_LARGE", { detail: `An import holds at most ${limit / 1024 / 1024} MiB.` });
    yield chunk;
  }
}

/** Takes conversations in: checked whole first, then written session by session. Doing it again adds what is missing and nothing else. */
export class ImportService implements Imports {
  readonly #parts: ImportParts;

  constructor(parts: ImportParts) {
    this.#parts = parts;
  }

  async import(owner: Owner, body: AsyncIterable<Uint8Array>, options: ImportOptions): Promise<ImportResult> {
    if (options.extract && this.#parts.promote === null) throw new AppError("LONG_TERM_MEMORY_DISABLED");
    const running = this.#parts.gate.begin(owner);
    try {
      const signal = options.signal === undefined ? running.signal : AbortSignal.any([options.signal, running.signal]);
      const now = this.#parts.clock.now();
      const limited = limitBytes(body, options.maxBytes ?? MAX_IMPORT_BYTES, signal);
      if (options.format === "ndjson") return await this.#take(owner, { lines: readNdjson(limited, now) }, options, signal);
      const document = jsonOf(await buffer(limited));
      if (looksLikeChatGpt(document)) return await this.#take(owner, readChatGpt(document, now), options, signal);
      const other = readOtherProduct(document, now);
      if (other !== null) return await this.#take(owner, other, options, signal);
      const restored = await restoreExport({ ...this.#parts, ...this.#parts.restore }, owner, document, { ...options, signal });
      const { messages, skipped_duplicates: skipped } = restored.result;
      if (options.extract) await this.#promote(owner, restored.sessionIds, signal, progressFrom(messages + skipped, options.onProgress));
      return restored.result;
    } finally {
      running.end();
    }
  }

  /** Before what was said, as nothing is kept then where long-term memory is off. How many are new, and what was refused. */
  async #memories(owner: Owner, memories: readonly ImportedMemory[], { onProgress }: ImportOptions, signal: AbortSignal) {
    let added = 0;
    const leftOut: ErrorDetail[] = [];
    for (let done = 0; done < memories.length; done += MEMORIES_AT_ONCE) {
      signal.throwIfAborted();
      const batch = memories.slice(done, done + MEMORIES_AT_ONCE);
      const own = batch.map(({ externalId, ...memory }) => ({ ...memory, id: importedMemoryId(owner, externalId) }));
      const onLeftOut = (at: number, detail: string) =>
        void leftOut.push({ pointer: "/ids", detail: `${batch[at]?.externalId}: ${detail}` });
      added += await this.#parts.restore.longTerm.restore(owner, own, { onLeftOut });
      onProgress?.(done + batch.length, memories.length);
    }
    return { added, leftOut };
  }

  async #take(owner: Owner, brought: Brought, options: ImportOptions, signal: AbortSignal): Promise<ImportResult> {
    const { lines, titles, memories = [], leftOut: known = [] } = brought;
    const spool = await Spool.open(this.#parts.spoolDir);
    try {
      for await (const line of lines) await spool.add(line);
      const sessions: { readonly externalId: string; readonly sessionId: string }[] = [];
      for (const externalId of spool.sessions)
        sessions.push({ externalId, sessionId: await sessionIdFor(this.#parts.store.index, owner, externalId) });
      for (const { sessionId } of sessions) await checkImportable(this.#parts.store, owner, sessionId);
      const { added, leftOut: refused } = await this.#memories(owner, memories, options, signal);
      let [messages, skipped, done] = [0, 0, 0];
      for (const { externalId, sessionId } of sessions) {
        const counts = await importSession(this.#parts, {
          owner,
          sessionId,
          externalId,
          title: titled(titles?.get(externalId)),
          now: this.#parts.clock.now().toISOString(),
          lines: spool.linesOf(externalId),
          signal,
          onMessage: () => {
            done += 1;
            options.onProgress?.(done, spool.count);
          },
        });
        messages += counts.added;
        skipped += counts.skipped;
      }
      if (options.extract)
        await this.#promote(
          owner,
          sessions.map(({ sessionId }) => sessionId),
          signal,
          progressFrom(done, options.onProgress),
        );
      const leftOut = [...known, ...refused];
      return {
        ...{ sessions: sessions.length, messages, skipped_duplicates: skipped },
        ...(memories.length > 0 && { memories: added }),
        ...(leftOut.length > 0 && { left_out: leftOut }),
      };
    } finally {
      await spool.close();
    }
  }

  async #promote(owner: Owner, sessionIds: readonly string[], signal: AbortSignal, onSession: () => OnProgress): Promise<void> {
    for (const sessionId of sessionIds) await this.#parts.promote?.(owner, sessionId, signal, onSession());
  }
}

/** Goes on counting after `kept` messages, session by session: of one that begins it is known only then how much of it is read. */
function progressFrom(kept: number, onProgress: OnProgress = () => {}): () => OnProgress {
  let before = kept;
  let latest = 0;
  return () => {
    before += latest;
    latest = 0;
    return (done, total) => {
      latest = done;
      onProgress(before + done, before + total);
    };
  };
}

/** Of another product's, whose models repeat what they are told: as one that is made here. Null where there is none. */
function titled(title: string | undefined): string | null {
  return title === undefined ? null : titleFrom(title);
}
