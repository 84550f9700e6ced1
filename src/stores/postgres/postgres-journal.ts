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
import { type Kept, keptFor } from "../journal/kept-content.js";
import { checkSessionId } from "../journal/new-records.js";
import { markOf } from "../journal/record-mark.js";
import { outsideRewinds } from "../journal/rewound-records.js";
import { throwIfAborted } from "../journal/selected-records.js";
import type { SessionHeads } from "../journal/session-heads.js";
import { windowOfRecords } from "../journal/window-of-records.js";
import type { PostgresDatabase, Queries, Row } from "./database.js";
import { decoded, encoded } from "./record-rows.js";
import type { PostgresHead } from "./session-write.js";

/** Records and sessions read at once. */
const PAGE = 500;
/** The same, newest first: about what a page of messages needs. */
const BACKWARD_PAGE = 100;

/** Journals as rows. Written in one statement with all that the index makes of them. */
export class PostgresJournal implements ShortTermMemory, RestoresJournals {
  readonly #database: PostgresDatabase;
  readonly #write: AtomicSessionWrite<PostgresHead>;
  readonly #heads: SessionHeads<PostgresHead>;
  readonly #codec: ContentCodec | null;

  constructor(
    database: PostgresDatabase,
    write: AtomicSessionWrite<PostgresHead>,
    heads: SessionHeads<PostgresHead>,
    codec: ContentCodec | null,
  ) {
    this.#codec = codec;
    this.#database = database;
    this.#write = write;
    this.#heads = heads;
  }

  create(owner: Owner, sessionId: string, records: readonly NewRecord[], options?: CreateOptions): Promise<readonly JournalRecord[]> {
    return this.#write.create(owner, sessionId, records, options);
  }

  append(owner: Owner, sessionId: string, records: readonly NewRecord[], options?: AppendOptions): Promise<readonly JournalRecord[]> {
    return this.#write.append(owner, sessionId, records, options);
  }

  async window(owner: Owner, sessionId: string, options: { readonly rounds: number; readonly signal?: AbortSignal }): Promise<WindowRead> {
    checkSessionId(sessionId);
    throwIfAborted(options.signal);
    const rows = await this.#database.query("SELECT * FROM {read_window}($1, $2, $3)", [sessionId, owner, options.rounds]);
    const [first] = rows;
    if (first === undefined) throw new AppError("SESSION_NOT_FOUND");
    throwIfAborted(options.signal);
    return windowOfRows(
      first,
      rows.flatMap(({ record }) => (record === null ? [] : [String(record)])),
      options.rounds,
      await keptFor(this.#codec, owner),
    );
  }

  async *read(owner: Owner, sessionId: string, options: ReadOptions = {}): AsyncGenerator<JournalRecord> {
    const { fromSeq = 1, includeRewound = false, signal } = options;
    const head = await this.#owned(owner, sessionId);
    const kept = await keptFor(this.#codec, owner);
    let next = fromSeq;
    for (;;) {
      throwIfAborted(signal);
      const rows = await this.#database.query(
        `SELECT r.seq, r.record FROM {records} r JOIN {journals} j ON j.session_id = r.session_id
         WHERE j.owner = $1 AND r.session_id = $2 AND r.seq >= $3 AND r.seq <= $4 AND (r.stands OR $5) ORDER BY r.seq LIMIT ${PAGE}`,
        [owner, sessionId, next, head, includeRewound],
      );
      for (const row of rows) {
        throwIfAborted(signal);
        yield decoded(row.record, kept);
      }
      if (rows.length < PAGE) return;
      next = Number(rows.at(-1)?.seq) + 1;
    }
  }

  newestFirst(owner: Owner, sessionId: string, options?: NewestFirstOptions): AsyncGenerator<JournalRecord> {
    return outsideRewinds(this.#backwards(owner, sessionId, options));
  }

  async *#backwards(owner: Owner, sessionId: string, { beforeSeq, signal }: NewestFirstOptions = {}): AsyncGenerator<JournalRecord> {
    let before = Math.min(beforeSeq ?? Number.MAX_SAFE_INTEGER, (await this.#owned(owner, sessionId)) + 1);
    const kept = await keptFor(this.#codec, owner);
    for (;;) {
      throwIfAborted(signal);
      const rows = await this.#database.query(
        `SELECT r.seq, r.record FROM {records} r JOIN {journals} j ON j.session_id = r.session_id
         WHERE j.owner = $1 AND r.session_id = $2 AND r.seq < $3 AND r.stands ORDER BY r.seq DESC LIMIT ${BACKWARD_PAGE}`,
        [owner, sessionId, before],
      );
      for (const row of rows) yield decoded(row.record, kept);
      if (rows.length < BACKWARD_PAGE) return;
      before = Number(rows.at(-1)?.seq);
    }
  }

  async rewrite(owner: Owner, sessionId: string, change: (record: JournalRecord) => JournalRecord | null): Promise<void> {
    checkSessionId(sessionId);
    const kept = await keptFor(this.#codec, owner);
    await this.#database.transaction(async ({ query, run }) => {
      const [head] = await query("SELECT 1 FROM {journals} WHERE session_id = $1 AND owner = $2 FOR UPDATE", [sessionId, owner]);
      if (head === undefined) throw new AppError("SESSION_NOT_FOUND");
      for (let after = 0; ; ) {
        const rows = await query(`SELECT seq, record FROM {records} WHERE session_id = $1 AND seq > $2 ORDER BY seq LIMIT ${PAGE}`, [
          sessionId,
          after,
        ]);
        for (const row of rows) await this.#rewriteOne(run, sessionId, row, change, kept);
        if (rows.length < PAGE) return;
        after = Number(rows.at(-1)?.seq);
      }
    });
  }

  async #rewriteOne(
    run: Queries["run"],
    sessionId: string,
    row: Row,
    change: (record: JournalRecord) => JournalRecord | null,
    kept: Kept,
  ): Promise<void> {
    const before = decoded(row.record, kept);
    const changed = change(structuredClone(before)) ?? (before.type === "session" ? before : null);
    if (changed === null) {
      await run("DELETE FROM {records} WHERE session_id = $1 AND seq = $2", [sessionId, before.seq]);
      return;
    }
    const after = { ...changed, seq: before.seq };
    const plain = encoded(after, null);
    if (plain === encoded(before, null)) return;
    if (Buffer.byteLength(plain) > MAX_RECORD_BYTES) throw new AppError("RECORD_TOO_LARGE");
    await run("UPDATE {records} SET record = $3, mark = $4 WHERE session_id = $1 AND seq = $2", [
      sessionId,
      before.seq,
      encoded(after, kept),
      markOf(after),
    ]);
  }

  async restore(owner: Owner, sessionId: string, records: () => AsyncIterable<JournalRecord>, end: JournalEnd): Promise<void> {
    await this.remove(owner, sessionId);
    await this.#write.restore(owner, sessionId, records, end);
  }

  /** PostgreSQL packs long texts by itself. */
  async compress(owner: Owner, sessionId: string): Promise<void> {
    await this.#owned(owner, sessionId);
  }

  async remove(owner: Owner, sessionId: string): Promise<boolean> {
    checkSessionId(sessionId);
    this.#heads.forget(sessionId);
    return (await this.#database.run("DELETE FROM {journals} WHERE session_id = $1 AND owner = $2", [sessionId, owner])) > 0;
  }

  async *list(): AsyncGenerator<{ readonly owner: Owner; readonly sessionId: string; readonly lastSeq: number }> {
    for (let after = ""; ; ) {
      const rows = await this.#database.query(
        `SELECT session_id, owner, last_seq FROM {journals} WHERE session_id > $1 ORDER BY session_id LIMIT ${PAGE}`,
        [after],
      );
      for (const row of rows) yield { owner: String(row.owner) as Owner, sessionId: String(row.session_id), lastSeq: Number(row.last_seq) };
      if (rows.length < PAGE) return;
      after = String(rows.at(-1)?.session_id);
    }
  }

  async *check(): AsyncGenerator<JournalCheck> {
    for await (const { owner, sessionId } of this.list()) {
      const damagedLines: number[] = [];
      let records = 0;
      const kept = await keptFor(this.#codec, owner);
      const rows = await this.#database.query("SELECT seq, record FROM {records} WHERE session_id = $1 ORDER BY seq", [sessionId]);
      for (const { seq, record } of rows) {
        try {
          decoded(record, kept);
          records += 1;
        } catch {
          damagedLines.push(Number(seq));
        }
      }
      if (rows.length > 0 || (await this.residue(owner)) > 0) yield { sessionId, path: null, records, damagedLines, tornBytes: 0 };
    }
  }

  async erase(owner: Owner): Promise<{ readonly sessions: number; readonly messages: number }> {
    this.#heads.clear();
    return this.#database.transaction(async ({ query, run }) => {
      const [row] = await query(
        `SELECT count(*) AS messages FROM {records} r JOIN {journals} j ON j.session_id = r.session_id
         WHERE j.owner = $1 AND r.type = 'message' AND r.mark <> 'b'`,
        [owner],
      );
      return { sessions: await run("DELETE FROM {journals} WHERE owner = $1", [owner]), messages: Number(row?.messages ?? 0) };
    });
  }

  async residue(owner: Owner): Promise<number> {
    const [row] = await this.#database.query("SELECT count(*) AS sessions FROM {journals} WHERE owner = $1", [owner]);
    return Number(row?.sessions ?? 0);
  }

  /** The last seq. @throws SESSION_NOT_FOUND */
  async #owned(owner: Owner, sessionId: string): Promise<number> {
    checkSessionId(sessionId);
    const [row] = await this.#database.query("SELECT last_seq FROM {journals} WHERE session_id = $1 AND owner = $2", [sessionId, owner]);
    if (row === undefined) throw new AppError("SESSION_NOT_FOUND");
    return Number(row.last_seq);
  }
}

/** `last`: with the last seq and turn of the journal. */
export function windowOfRows(last: Row, records: readonly string[], rounds: number, kept: Kept): WindowRead {
  const bytesRead = records.reduce((bytes, record) => bytes + Buffer.byteLength(record), 0);
  const found = windowOfRecords(
    records.map((record) => decoded(record, kept)),
    rounds,
  );
  return { ...found, lastSeq: Number(last.last_seq), lastTurn: Number(last.last_turn), bytesRead };
}
