import type { Owner } from "../../domain/owner.js";
import { type JournalRecord, MAX_RECORD_BYTES, type NewRecord } from "../../domain/session.js";
import { AppError } from "../../platform/errors.js";
import type { ContentCodec } from "../../ports/content-codec.js";
import type {
  AppendOptions,
  CreateOptions,
  JournalCheck,
  NewestFirstOptions,
  ReadOptions,
  ShortTermMemory,
  WindowRead,
} from "../../ports/session-store.js";
import type { JournalEnd, RestoresJournals } from "../../ports/transfer.js";
import type { AtomicSessionWrite } from "../journal/atomic-session-write.js";
import { keptFor } from "../journal/kept-content.js";
import { checkSessionId } from "../journal/new-records.js";
import { outsideRewinds, standing } from "../journal/rewound-records.js";
import { throwIfAborted } from "../journal/selected-records.js";
import type { SessionHeads } from "../journal/session-heads.js";
import { windowOfRecords } from "../journal/window-of-records.js";
import type { RedisDatabase } from "./database.js";
import { REMOVE_JOURNAL, REWRITE, WINDOW } from "./journal-scripts.js";
import type { OwnerRegistry } from "./owner-registry.js";
import { changeRecord, decoded, encoded, isCounted } from "./records.js";
import { type RedisHead, rewindsOf } from "./session-heads.js";
import type { SessionOwners } from "./session-owners.js";
import type { Command } from "./write-script.js";

/** Records read at once. */
const PAGE = 200;
/** The same, newest first: about what a page of messages needs. */
const BACKWARD_PAGE = 100;
/** Another process may write a session while it is rewritten: so often it is begun anew. */
const MAX_TRIES = 5;

export interface JournalParts {
  readonly database: RedisDatabase;
  readonly write: AtomicSessionWrite<RedisHead>;
  readonly heads: SessionHeads<RedisHead>;
  readonly owners: SessionOwners;
  readonly registry: OwnerRegistry;
  readonly codec: ContentCodec | null;
}

/** Journals as hashes of records by seq. Written together with all that the index makes of them. */
export class RedisJournal implements ShortTermMemory, RestoresJournals {
  readonly #parts: JournalParts;

  constructor(parts: JournalParts) {
    this.#parts = parts;
  }

  create(owner: Owner, sessionId: string, records: readonly NewRecord[], options?: CreateOptions): Promise<readonly JournalRecord[]> {
    return this.#parts.write.create(owner, sessionId, records, options);
  }

  append(owner: Owner, sessionId: string, records: readonly NewRecord[], options?: AppendOptions): Promise<readonly JournalRecord[]> {
    return this.#parts.write.append(owner, sessionId, records, options);
  }

  async window(owner: Owner, sessionId: string, options: { readonly rounds: number; readonly signal?: AbortSignal }): Promise<WindowRead> {
    checkSessionId(sessionId);
    throwIfAborted(options.signal);
    const { database } = this.#parts;
    const reply = await database.run(WINDOW, database.keys(owner, sessionId), options.rounds);
    const [lastSeq, lastTurn, ...lines] = reply as readonly string[];
    if (lastSeq === undefined) throw new AppError("SESSION_NOT_FOUND");
    throwIfAborted(options.signal);
    const bytesRead = lines.reduce((bytes, line) => bytes + Buffer.byteLength(line), 0);
    const kept = await keptFor(this.#parts.codec, owner);
    const records = lines.map((line) => decoded(line, kept));
    const found = windowOfRecords(records, options.rounds);
    return { ...found, lastSeq: Number(lastSeq), lastTurn: Number(lastTurn), bytesRead };
  }

  async *read(owner: Owner, sessionId: string, options: ReadOptions = {}): AsyncGenerator<JournalRecord> {
    const { fromSeq = 1, includeRewound = false, signal } = options;
    const head = await this.#head(owner, sessionId);
    const kept = await keptFor(this.#parts.codec, owner);
    const stands = includeRewound ? () => true : standing(rewindsOf(head.rewinds));
    for await (const line of this.#lines(owner, sessionId, Math.max(1, fromSeq), head.lastSeq, signal)) {
      throwIfAborted(signal);
      const record = decoded(line, kept);
      if (stands(record)) yield record;
    }
    throwIfAborted(signal);
  }

  newestFirst(owner: Owner, sessionId: string, options?: NewestFirstOptions): AsyncGenerator<JournalRecord> {
    return outsideRewinds(this.#backwards(owner, sessionId, options));
  }

  async *#backwards(owner: Owner, sessionId: string, { beforeSeq, signal }: NewestFirstOptions = {}): AsyncGenerator<JournalRecord> {
    const { lastSeq } = await this.#head(owner, sessionId);
    const kept = await keptFor(this.#parts.codec, owner);
    let last = Math.min(lastSeq, (beforeSeq ?? Number.MAX_SAFE_INTEGER) - 1);
    for (; last >= 1; last -= BACKWARD_PAGE) {
      const page: string[] = [];
      for await (const line of this.#lines(owner, sessionId, Math.max(1, last - BACKWARD_PAGE + 1), last, signal)) page.push(line);
      for (const line of page.reverse()) yield decoded(line, kept);
    }
  }

  async rewrite(owner: Owner, sessionId: string, change: (record: JournalRecord) => JournalRecord | null): Promise<void> {
    const { database, codec } = this.#parts;
    const keys = database.keys(owner, sessionId);
    const kept = await keptFor(codec, owner);
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      const head = await this.#head(owner, sessionId);
      const commands: Command[] = [];
      let counted = 0;
      for await (const line of this.#lines(owner, sessionId, 1, head.lastSeq)) {
        const before = decoded(line, kept);
        const after = change(structuredClone(before)) ?? (before.type === "session" ? before : null);
        const json = after === null ? null : encoded({ ...after, seq: before.seq }, null);
        if (json === encoded(before, null)) continue;
        if (json !== null && Buffer.byteLength(json) > MAX_RECORD_BYTES) throw new AppError("RECORD_TOO_LARGE");
        counted += Number(after !== null && isCounted(after)) - Number(isCounted(before));
        commands.push(...changeRecord(before, after, kept));
      }
      const plan = JSON.stringify([["HINCRBY", "head", "messages", counted], ...commands]);
      if ((await database.run(REWRITE, keys, head.lastSeq, head.rewrites, plan)) === 1) return;
    }
    throw new AppError("SESSION_CHANGED");
  }

  async restore(owner: Owner, sessionId: string, records: () => AsyncIterable<JournalRecord>, end: JournalEnd): Promise<void> {
    await this.remove(owner, sessionId);
    await this.#parts.write.restore(owner, sessionId, records, end);
  }

  /** Without effect: Redis packs nothing. */
  async compress(owner: Owner, sessionId: string): Promise<void> {
    await this.#head(owner, sessionId);
  }

  async remove(owner: Owner, sessionId: string): Promise<boolean> {
    checkSessionId(sessionId);
    return (await this.#remove(owner, sessionId)) !== null;
  }

  async *list(): AsyncGenerator<{ readonly owner: Owner; readonly sessionId: string; readonly lastSeq: number }> {
    for await (const owner of this.#parts.registry.owners())
      for (const [sessionId, lastSeq] of await this.#sessionsOf(owner)) yield { owner, sessionId, lastSeq };
  }

  async *check(): AsyncGenerator<JournalCheck> {
    for await (const { owner, sessionId, lastSeq } of this.list()) {
      const kept = await keptFor(this.#parts.codec, owner);
      const damagedLines: number[] = [];
      let records = 0;
      let line = 0;
      for await (const json of this.#lines(owner, sessionId, 1, lastSeq)) {
        line += 1;
        try {
          decoded(json, kept);
          records += 1;
        } catch {
          damagedLines.push(line);
        }
      }
      if (line > 0) yield { sessionId, path: null, records, damagedLines, tornBytes: 0 };
    }
  }

  async erase(owner: Owner): Promise<{ readonly sessions: number; readonly messages: number }> {
    const erased = { sessions: 0, messages: 0 };
    for (const [sessionId] of await this.#sessionsOf(owner)) {
      const messages = await this.#remove(owner, sessionId);
      if (messages === null) continue;
      erased.sessions += 1;
      erased.messages += messages;
    }
    await this.#parts.registry.leave(owner);
    return erased;
  }

  async residue(owner: Owner): Promise<number> {
    return (await this.#sessionsOf(owner)).length;
  }

  async #sessionsOf(owner: Owner): Promise<readonly (readonly [sessionId: string, lastSeq: number])[]> {
    const { database } = this.#parts;
    const found = (await database.command("HGETALL", database.keys(owner).journals)) as readonly string[];
    return found.flatMap((each, at) => (at % 2 === 0 ? [[each, Number(found[at + 1])] as const] : []));
  }

  /** How many messages went; null where there is no such session. */
  async #remove(owner: Owner, sessionId: string): Promise<number | null> {
    const { database, heads, owners } = this.#parts;
    heads.forget(sessionId);
    const messages = (await database.run(REMOVE_JOURNAL, database.keys(owner, sessionId), sessionId)) as number | null;
    await owners.release(owner, sessionId);
    return messages;
  }

  /** @throws SESSION_NOT_FOUND */
  async #head(
    owner: Owner,
    sessionId: string,
  ): Promise<{ readonly lastSeq: number; readonly rewrites: number; readonly rewinds: string | null }> {
    checkSessionId(sessionId);
    const { database } = this.#parts;
    const reply = await database.command("HMGET", database.keys(owner, sessionId).head, "last_seq", "rewrites", "rewinds");
    const [lastSeq, rewrites, rewinds = null] = reply as readonly (string | null)[];
    if (lastSeq == null) throw new AppError("SESSION_NOT_FOUND");
    return { lastSeq: Number(lastSeq), rewrites: Number(rewrites ?? 0), rewinds };
  }

  /** Records as they stand in Redis, in order, page by page. */
  async *#lines(owner: Owner, sessionId: string, fromSeq: number, lastSeq: number, signal?: AbortSignal): AsyncGenerator<string> {
    const { database } = this.#parts;
    const { records } = database.keys(owner, sessionId);
    for (let next = fromSeq; next <= lastSeq; next += PAGE) {
      throwIfAborted(signal);
      const seqs = Array.from({ length: Math.min(PAGE, lastSeq - next + 1) }, (_, index) => next + index);
      for (const line of (await database.command("HMGET", records, ...seqs)) as readonly (string | null)[]) if (line !== null) yield line;
    }
  }
}
