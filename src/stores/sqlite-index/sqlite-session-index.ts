// Over 300 lines: one port over one database, most of it statements; folding, rows, cursors and tables lie beside it.

import { LRUCache } from "lru-cache";
import type { Owner } from "../../domain/owner.js";
import type { JournalRecord, Session, SessionStatus } from "../../domain/session.js";
import { sessionEvents } from "../../domain/session-events.js";
import type { Clock } from "../../platform/clock.js";
import { AppError } from "../../platform/errors.js";
import type { Logger } from "../../platform/logger.js";
import { assertSound, isDamage, openSqlite, type Sqlite, type SqliteStatement, scrub } from "../../platform/sqlite.js";
import type { ContentCodec } from "../../ports/content-codec.js";
import type { OwnerActivity, OwnersQuery } from "../../ports/owner-activity.js";
import type {
  ClaimOptions,
  IdempotencyEntry,
  ListedSession,
  Page,
  PendingTurn,
  SessionIndex,
  SessionQuery,
} from "../../ports/session-store.js";
import type { RestoresPending } from "../../ports/transfer.js";
import { type Kept, keptFor, keptJson, openedJson } from "../journal/kept-content.js";
import { Claims } from "./claims.js";
import { hasDamaged, removeDamaged, setAside } from "./damaged-index.js";
import { GroupCommit } from "./group-commit.js";
import { type ReadJournal, withoutGap } from "./journal-gap.js";
import { foldedTitle, type ListPosition, listed, type ReadSessions } from "./list-cursor.js";
import { listedOwners } from "./owner-cursor.js";
import { type Effect, foldSession, type SessionState, type Standing } from "./session-fold.js";
import { SqliteEventLog } from "./sqlite-event-log.js";
import {
  entryOf,
  type PendingRow,
  pendingOf,
  SESSION_COLUMNS,
  type SessionRow,
  sessionOf,
  sessionWith,
  stateOf,
  type Unwritten,
} from "./sqlite-index-rows.js";
import { ensureTables, SESSION_TABLES } from "./sqlite-index-tables.js";

export interface SqliteIndexOptions {
  /** `:memory:` for one that is not kept. */
  readonly path: string;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Where records that the index missed are read from. Default: they are passed over until a rebuild. */
  readonly readJournal?: ReadJournal;
  /** What content passes. Default: it is kept as it stands. */
  readonly codec?: ContentCodec | null;
}

const IDEMPOTENCY_MS = 24 * 60 * 60 * 1000;
/** Sessions whose state is at hand: some KB each. */
const STATES = 2_000;
/** Stands before a summary that a codec has made: others are plain text. */
const SEALED_SUMMARY = "\u0000";

/**
 * The session index in SQLite: derived, so its commits are not synced one by one, and a damaged file is set aside and
 * rebuilt from the journals. Never slower than a few pages: every query has its index.
 */
export class SqliteSessionIndex implements SessionIndex, RestoresPending {
  readonly #db: Sqlite;
  readonly #commits: GroupCommit;
  readonly #statements = new Map<string, unknown>();
  readonly #path: string;
  readonly #clock: Clock;
  readonly #readJournal: ReadJournal | undefined;
  readonly #codec: ContentCodec | null;
  readonly #claims = new Claims();
  /** Of the sessions written last, by id, as the file has it. What a codec has made is not held as it stands: its key may go. */
  readonly #states = new LRUCache<string, SessionState>({ max: STATES });
  /** True when the index was made now, or made anew: it has to be filled from the journals. */
  readonly needsRebuild: boolean;
  /** What the journals tell of, written as they are folded in. */
  readonly events: SqliteEventLog;

  #cleared = false;

  /** Whether it was emptied since it was opened. */
  get wasCleared(): boolean {
    return this.#cleared;
  }

  private constructor(db: Sqlite, options: SqliteIndexOptions, needsRebuild: boolean) {
    this.#db = db;
    this.#commits = new GroupCommit(db, () => this.#states.clear());
    this.#path = options.path;
    this.#clock = options.clock;
    this.#readJournal = options.readJournal;
    this.#codec = options.codec ?? null;
    this.needsRebuild = needsRebuild;
    this.events = new SqliteEventLog(db, options.clock, { lost: needsRebuild });
  }

  static async open(options: SqliteIndexOptions): Promise<SqliteSessionIndex> {
    try {
      return SqliteSessionIndex.#openSound(options);
    } catch (error) {
      if (!isDamage(error)) throw error;
      options.logger.warn(
        { path: options.path, code: error.code },
        "The session index is damaged: it is set aside and rebuilt from the journals.",
      );
      await setAside(options.path);
      return SqliteSessionIndex.#openSound(options);
    }
  }

  static #openSound(options: SqliteIndexOptions): SqliteSessionIndex {
    const db = openSqlite(options.path, { durability: "normal" });
    try {
      const fresh = ensureTables(db);
      assertSound(db);
      return new SqliteSessionIndex(db, options, fresh);
    } catch (error) {
      db.close();
      throw error;
    }
  }

  async apply(owner: Owner, sessionId: string, records: readonly JournalRecord[]): Promise<void> {
    try {
      const indexed = await this.indexedSeq(sessionId);
      for await (const batch of withoutGap(owner, sessionId, indexed, records, this.#readJournal)) {
        const kept = await keptFor(this.#codec, owner);
        await this.#commits.run(() => this.#fold(owner, sessionId, batch, kept));
        this.events.added(owner);
        for (const turn of writtenBack(sessionId, batch)) this.#claims.letGo(turn);
      }
    } catch (error) {
      // The journal has it that they are done: nobody is given them again, though the file can't say so yet.
      for (const turn of writtenBack(sessionId, records)) this.#claims.keepForGood(turn);
      throw error;
    }
  }

  #fold(owner: Owner, sessionId: string, records: readonly JournalRecord[], kept: Kept): void {
    const before = this.#stateFor(owner, sessionId, kept);
    let state = before;
    const told: JournalRecord[] = [];
    for (const record of records) {
      const folded = foldSession(state, sessionId, record, (seq) => this.#standingAt(sessionId, seq, kept));
      if (folded === null) continue;
      if (folded.state.owner !== owner) throw new AppError("SESSION_NOT_FOUND");
      for (const effect of folded.effects) this.#effect(owner, sessionId, effect, kept);
      state = folded.state;
      told.push(record);
    }
    if (state !== null && state !== before) this.#store(sessionId, state, kept);
    this.events.insert(owner, sessionEvents(owner, sessionId, told));
  }

  /** @throws SESSION_NOT_FOUND for one that is somebody else's */
  #stateFor(owner: Owner, sessionId: string, kept: Kept): SessionState | null {
    const known = this.#states.get(sessionId);
    if (known !== undefined) {
      if (known.owner !== owner) throw new AppError("SESSION_NOT_FOUND");
      return known;
    }
    const row = this.#statement<[string], { owner: string; state: string }>("SELECT owner, state FROM sessions WHERE id = ?").get(
      sessionId,
    );
    if ((row?.owner ?? owner) !== owner) throw new AppError("SESSION_NOT_FOUND");
    return row === undefined ? null : stateOf(row.state, kept);
  }

  #store(id: string, state: SessionState, kept: Kept): void {
    const { session, owner, indexedSeq, statusSince } = state;
    const updatedAt = new Date(session.updated_at).toISOString();
    this.#statement(
      `INSERT INTO sessions (id, owner, external_id, status, title_folded, updated_at, since_ms, expires_ms, indexed_seq, state)
         VALUES (@id, @owner, @externalId, @status, @title, @updatedAt, @sinceMs, @expiresMs, @indexedSeq, @state)
         ON CONFLICT (id) DO UPDATE SET external_id = excluded.external_id, status = excluded.status, title_folded = excluded.title_folded,
           updated_at = excluded.updated_at, since_ms = excluded.since_ms, expires_ms = excluded.expires_ms,
           indexed_seq = excluded.indexed_seq, state = excluded.state`,
    ).run({
      id,
      owner,
      externalId: session.external_id,
      status: session.status,
      title: kept === null ? foldedTitle(session.title ?? "") : "",
      updatedAt,
      sinceMs: Date.parse(session.status === "active" ? session.updated_at : statusSince),
      expiresMs: session.expires_at === null ? null : Date.parse(session.expires_at),
      indexedSeq,
      state: keptJson(state, kept),
    });
    if (kept === null) this.#states.set(id, state);
  }

  #effect(owner: Owner, sessionId: string, effect: Effect, kept: Kept): void {
    if (effect.kind !== "standing" && effect.kind !== "idempotency") this.#claims.changed();
    switch (effect.kind) {
      case "standing":
        this.#keepStanding(sessionId, effect.seq, effect.standing, kept);
        return;
      case "idempotency":
        this.#keepKey(owner, effect.key, effect.entry);
        return;
      case "pending":
        this.#statement(
          `INSERT INTO pending (session_id, turn, owner, from_seq, answered_seq, state, due_ms, at_ms)
             VALUES (?, ?, ?, ?, ?, 'pending', ?, ?)
             ON CONFLICT (session_id, turn) DO NOTHING`,
        ).run(sessionId, effect.turn, owner, effect.seq, effect.answeredSeq, effect.atMs, effect.atMs);
        return;
      case "planned":
        this.#statement("UPDATE pending SET planned = 1 WHERE session_id = ? AND turn = ?").run(sessionId, effect.turn);
        return;
      case "done":
        this.#statement("DELETE FROM pending WHERE session_id = ? AND turn = ?").run(sessionId, effect.turn);
        return;
      case "failed":
        this.#statement("UPDATE pending SET state = 'failed', attempts = ?, error_code = ? WHERE session_id = ? AND turn = ?").run(
          effect.attempts,
          effect.errorCode,
          sessionId,
          effect.turn,
        );
        return;
      case "taken_back":
        this.#statement("DELETE FROM pending WHERE session_id = ? AND answered_seq > ?").run(sessionId, effect.toSeq);
    }
  }

  #keepStanding(sessionId: string, seq: number, { messageCount, openedBy, summary }: Standing, kept: Kept): void {
    let summaryId: number | bigint | null = null;
    if (summary !== null) {
      const { at, text } = summary;
      const same = this.#statement<[string, string], { id: number; text: string }>(
        "SELECT id, text FROM summaries WHERE session_id = ? AND at = ?",
      )
        .all(sessionId, at)
        .find((row) => summaryText(row.text, kept) === text);
      summaryId =
        same?.id ??
        this.#statement("INSERT INTO summaries (session_id, at, text) VALUES (?, ?, ?)").run(
          sessionId,
          at,
          kept === null ? text : `${SEALED_SUMMARY}${keptJson(text, kept)}`,
        ).lastInsertRowid;
    }
    this.#statement("INSERT OR REPLACE INTO standings (session_id, seq, message_count, opened_by, summary_id) VALUES (?, ?, ?, ?, ?)").run(
      sessionId,
      seq,
      messageCount,
      openedBy,
      summaryId,
    );
  }

  #standingAt(sessionId: string, seq: number, kept: Kept): Standing {
    const row = this.#statement<
      [string, number],
      { message_count: number; opened_by: number | null; at: string | null; text: string | null }
    >(
      `SELECT t.message_count, t.opened_by, m.at, m.text FROM standings t LEFT JOIN summaries m ON m.id = t.summary_id
         WHERE t.session_id = ? AND t.seq <= ? ORDER BY t.seq DESC LIMIT 1`,
    ).get(sessionId, seq);
    const summary = row?.text == null || row.at === null ? null : { text: summaryText(row.text, kept), at: row.at };
    return { messageCount: row?.message_count ?? 0, openedBy: row?.opened_by ?? null, summary };
  }

  #keepKey(owner: Owner, key: string, entry: IdempotencyEntry): void {
    const atMs = Date.parse(entry.at);
    this.#statement("DELETE FROM idempotency WHERE at_ms < ?").run(atMs - IDEMPOTENCY_MS);
    this.#statement(
      `INSERT INTO idempotency (owner, key, session_id, at_ms, entry) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (owner, key) DO UPDATE SET session_id = excluded.session_id, at_ms = excluded.at_ms, entry = excluded.entry
         WHERE excluded.at_ms >= idempotency.at_ms`,
    ).run(owner, key, entry.sessionId, atMs, JSON.stringify(entry));
  }

  async indexedSeq(sessionId: string): Promise<number> {
    const known = this.#states.get(sessionId);
    if (known !== undefined) return known.indexedSeq;
    const row = this.#statement<[string], { indexed_seq: number }>("SELECT indexed_seq FROM sessions WHERE id = ?").get(sessionId);
    return row?.indexed_seq ?? 0;
  }

  /** Of all owners. */
  sessionIds(): ReadonlySet<string> {
    return new Set(
      this.#statement<[], { id: string }>("SELECT id FROM sessions")
        .all()
        .map(({ id }) => id),
    );
  }

  async get(owner: Owner, sessionId: string): Promise<Session | null> {
    const known = this.#states.get(sessionId);
    if (known !== undefined) return known.owner === owner ? sessionWith(known, this.#unwritten(sessionId)) : null;
    const row = this.#statement<[string, string], SessionRow>(
      `SELECT ${SESSION_COLUMNS} FROM sessions s WHERE s.id = ? AND s.owner = ?`,
    ).get(sessionId, owner);
    return row === undefined ? null : sessionOf(row, await keptFor(this.#codec, owner));
  }

  #unwritten(sessionId: string): Unwritten {
    return (
      this.#statement<[string], Unwritten>(
        `SELECT count(*) FILTER (WHERE state = 'pending') AS pending, count(*) FILTER (WHERE state = 'failed') AS failed
           FROM pending WHERE session_id = ?`,
      ).get(sessionId) ?? { pending: 0, failed: 0 }
    );
  }

  async findByExternalId(owner: Owner, externalId: string): Promise<Session | null> {
    const row = this.#statement<[string, string], SessionRow>(
      `SELECT ${SESSION_COLUMNS} FROM sessions s WHERE s.owner = ? AND s.external_id = ? LIMIT 1`,
    ).get(owner, externalId);
    return row === undefined ? null : sessionOf(row, await keptFor(this.#codec, owner));
  }

  async list(owner: Owner, query: SessionQuery): Promise<Page<Session>> {
    const kept = await keptFor(this.#codec, owner);
    const read: ReadSessions = async (...asked) => this.#rows(owner, ...asked).map((row) => sessionOf(row, kept));
    return listed(owner, query, { filters: kept === null, read });
  }

  #rows(owner: Owner, query: SessionQuery, after: ListPosition | null, limit: number): readonly SessionRow[] {
    const conditions = ["s.owner = @owner", "s.status = @status"];
    if (query.tag !== undefined) conditions.push("EXISTS (SELECT 1 FROM json_each(s.state, '$.session.tags') t WHERE t.value = @tag)");
    if (query.title !== undefined) conditions.push("instr(s.title_folded, @title) > 0");
    if (after !== null) conditions.push("(s.updated_at, s.id) < (@updatedAt, @id)");
    return this.#statement<[Record<string, unknown>], SessionRow>(
      `SELECT ${SESSION_COLUMNS} FROM sessions s WHERE ${conditions.join(" AND ")} ORDER BY s.updated_at DESC, s.id DESC LIMIT @limit`,
    ).all({
      owner,
      status: query.status ?? "active",
      limit,
      ...(query.tag !== undefined && { tag: query.tag }),
      ...(query.title !== undefined && { title: foldedTitle(query.title) }),
      ...after,
    });
  }

  async *pages(size: number): AsyncGenerator<readonly ListedSession[]> {
    for (let after = ""; ; ) {
      const rows = this.#statement<[string, number], { id: string; owner: Owner; state: string }>(
        "SELECT id, owner, state FROM sessions WHERE id > ? ORDER BY id LIMIT ?",
      ).all(after, size);
      const listed = rows.map(async ({ owner, state }): Promise<ListedSession> => {
        return { owner, session: stateOf(state, await keptFor(this.#codec, owner)).session };
      });
      if (listed.length > 0) yield await Promise.all(listed);
      if (rows.length < size) return;
      after = rows.at(-1)?.id ?? "";
    }
  }

  owners(query: OwnersQuery): Promise<Page<OwnerActivity>> {
    return listedOwners(query, async (after, prefix, most) =>
      this.#statement<[string, string, string, number], OwnerActivity>(
        `SELECT owner, count(*) AS sessions, max(updated_at) AS lastActiveAt FROM sessions
           WHERE owner > ? AND owner >= ? AND owner < ? GROUP BY owner ORDER BY owner LIMIT ?`,
      ).all(after, prefix, `${prefix}\u{10ffff}`, most),
    );
  }

  async findIdempotent(owner: Owner, key: string, now: Date): Promise<IdempotencyEntry | null> {
    const row = this.#statement<[string, string, number], { entry: string }>(
      "SELECT entry FROM idempotency WHERE owner = ? AND key = ? AND at_ms > ?",
    ).get(owner, key, now.getTime() - IDEMPOTENCY_MS);
    return row === undefined ? null : entryOf(row.entry);
  }

  async due(nowMs: number, limit: number, { except = [] }: { readonly except?: readonly Owner[] } = {}): Promise<readonly PendingTurn[]> {
    return this.#dueBut(except, nowMs, limit);
  }

  #dueBut(except: readonly Owner[], nowMs: number, limit: number): readonly PendingTurn[] {
    return this.#statement<[number, string, number], PendingRow>(
      `SELECT p.* FROM pending p
         WHERE p.state = 'pending' AND p.due_ms <= ? AND p.owner NOT IN (SELECT value FROM json_each(?)) AND NOT EXISTS
           (SELECT 1 FROM pending o WHERE o.session_id = p.session_id AND o.turn < p.turn AND o.state = 'pending')
         ORDER BY p.at_ms, p.session_id LIMIT ?`,
    )
      .all(nowMs, JSON.stringify(except), limit)
      .map(pendingOf);
  }

  async claim(nowMs: number, limit: number, { except = [], only, leaseMs }: ClaimOptions): Promise<readonly PendingTurn[]> {
    this.#claims.expire(nowMs);
    if (only === undefined && this.#claims.isNothing(nowMs, except)) return [];
    const due = only === undefined ? this.#dueBut(except, nowMs, limit + this.#claims.size) : this.#dueOf(only, nowMs);
    const free = this.#claims.take(due, limit, nowMs + leaseMs);
    if (only === undefined && free.length === 0) this.#claims.foundNothing(nowMs, except);
    return free;
  }

  #dueOf(owners: readonly Owner[], nowMs: number): readonly PendingTurn[] {
    return this.#statement<[number, string], PendingRow>(
      `SELECT p.* FROM pending p WHERE p.state = 'pending' AND p.due_ms <= ? AND p.owner IN (SELECT value FROM json_each(?)) AND NOT EXISTS
         (SELECT 1 FROM pending o WHERE o.session_id = p.session_id AND o.turn < p.turn AND o.state = 'pending')
       ORDER BY p.at_ms, p.session_id`,
    )
      .all(nowMs, JSON.stringify(owners))
      .map(pendingOf);
  }

  async letGo(turn: Pick<PendingTurn, "sessionId" | "turn">): Promise<void> {
    this.#claims.letGo(turn);
  }

  /** The file is one process's. */
  async unclaimed(): Promise<void> {}

  async pendingOf(owner: Owner, sessionId?: string): Promise<readonly PendingTurn[]> {
    const rows =
      sessionId === undefined
        ? this.#statement<[string], PendingRow>("SELECT * FROM pending WHERE owner = ? ORDER BY session_id, turn").all(owner)
        : this.#statement<[string, string], PendingRow>("SELECT * FROM pending WHERE session_id = ? AND owner = ? ORDER BY turn").all(
            sessionId,
            owner,
          );
    return rows.map(pendingOf);
  }

  async pendingCounts(): Promise<{ readonly pending: number; readonly failed: number }> {
    const count = this.#statement<[string], { n: number }>("SELECT count(*) AS n FROM pending WHERE state = ?");
    return { pending: count.get("pending")?.n ?? 0, failed: count.get("failed")?.n ?? 0 };
  }

  async oldestPendingAtMs(): Promise<number | null> {
    const oldest = this.#statement<[], { at: number | null }>("SELECT min(at_ms) AS at FROM pending WHERE state = 'pending'");
    return oldest.get()?.at ?? null;
  }

  async recordAttempt(
    owner: Owner,
    sessionId: string,
    turn: number,
    attempt: { readonly attempts: number; readonly dueAtMs: number; readonly errorCode: string },
  ): Promise<void> {
    this.#statement("UPDATE pending SET attempts = ?, due_ms = ?, error_code = ? WHERE session_id = ? AND turn = ? AND owner = ?").run(
      attempt.attempts,
      Math.ceil(attempt.dueAtMs),
      attempt.errorCode,
      sessionId,
      turn,
      owner,
    );
    // Where that can't be written, the turn stays taken until its lease ends: else it would be tried without a pause.
    this.#claims.letGo({ sessionId, turn });
  }

  async restorePending({ owner, sessionId, turn, state, attempts, dueAtMs, errorCode }: PendingTurn): Promise<void> {
    this.#statement(
      "UPDATE pending SET state = ?, attempts = ?, due_ms = ?, error_code = ? WHERE session_id = ? AND turn = ? AND owner = ?",
    ).run(state, attempts, dueAtMs, errorCode, sessionId, turn, owner);
    this.#claims.changed();
  }

  async retryFailed(owner: Owner, sessionId: string): Promise<number> {
    this.#claims.changed();
    return this.#statement(
      `UPDATE pending SET state = 'pending', attempts = 0, due_ms = ?, error_code = NULL
         WHERE session_id = ? AND owner = ? AND state = 'failed'`,
    ).run(this.#clock.now().getTime(), sessionId, owner).changes;
  }

  async expiring(query: Parameters<SessionIndex["expiring"]>[0]): ReturnType<SessionIndex["expiring"]> {
    const after = query.after === undefined ? null : this.#sinceOf(query.after);
    const rows = this.#statement<[Record<string, unknown>], SessionRow & { readonly owner: Owner }>(
      `SELECT ${SESSION_COLUMNS}, s.owner FROM sessions s
         WHERE s.status = @status AND (s.since_ms < @inactiveSince OR s.expires_ms < @expiresBefore)
           ${after === null ? "" : "AND (s.since_ms, s.id) > (@afterMs, @afterId)"}
         ORDER BY s.since_ms, s.id LIMIT @limit`,
    ).all({
      status: query.status,
      inactiveSince: Date.parse(query.inactiveSince),
      expiresBefore: Date.parse(query.expiresBefore),
      limit: query.limit,
      ...(after !== null && { afterMs: after, afterId: query.after }),
    });
    return Promise.all(
      rows.map(async (row) => {
        const kept = await keptFor(this.#codec, row.owner);
        const { statusSince, statusBeforeDelete } = stateOf(row.state, kept);
        return { owner: row.owner, session: sessionOf(row, kept), statusSince, statusBeforeDelete };
      }),
    );
  }

  #sinceOf(sessionId: string): number | null {
    const row = this.#statement<[string], { since_ms: number }>("SELECT since_ms FROM sessions WHERE id = ?").get(sessionId);
    return row?.since_ms ?? null;
  }

  async statusBeforeDelete(owner: Owner, sessionId: string): Promise<SessionStatus | null> {
    if (this.#ownerOf(sessionId) !== owner) return null;
    return this.#state(sessionId, await keptFor(this.#codec, owner))?.statusBeforeDelete ?? null;
  }

  async remove(owner: Owner, sessionId: string): Promise<void> {
    this.#commits.flush();
    this.#claims.changed();
    if (this.#ownerOf(sessionId) !== owner) return;
    this.#states.delete(sessionId);
    this.#db.transaction(() => {
      for (const table of SESSION_TABLES) this.#statement(`DELETE FROM ${table} WHERE session_id = ?`).run(sessionId);
      this.#statement("DELETE FROM sessions WHERE id = ?").run(sessionId);
    })();
    scrub(this.#db);
  }

  async clear(): Promise<void> {
    this.#cleared = true;
    this.#commits.flush();
    this.#claims.changed();
    this.#states.clear();
    this.#db.transaction(() => {
      for (const table of [...SESSION_TABLES, "sessions"]) this.#db.exec(`DELETE FROM ${table}`);
    })();
    scrub(this.#db);
    await removeDamaged(this.#path);
  }

  async erase(owner: Owner): Promise<{ readonly sessions: number; readonly idempotencyKeys: number; readonly pendingTurns: number }> {
    this.#commits.flush();
    this.#claims.changed();
    this.#states.clear();
    const gone = this.#db.transaction(() => {
      const ofOwner = "session_id IN (SELECT id FROM sessions WHERE owner = ?)";
      for (const table of ["standings", "summaries"]) this.#statement(`DELETE FROM ${table} WHERE ${ofOwner}`).run(owner);
      const remove = (table: string) => this.#statement(`DELETE FROM ${table} WHERE owner = ?`).run(owner).changes;
      return { pendingTurns: remove("pending"), idempotencyKeys: remove("idempotency"), sessions: remove("sessions") };
    })();
    scrub(this.#db);
    // What was set aside as damaged holds owners' words as well.
    await removeDamaged(this.#path);
    return gone;
  }

  async residue(owner: Owner): Promise<number> {
    this.#commits.flush();
    const count = (table: string) =>
      this.#statement<[string], { n: number }>(`SELECT count(*) AS n FROM ${table} WHERE owner = ?`).get(owner)?.n ?? 0;
    return count("sessions") + count("pending") + count("idempotency") + ((await hasDamaged(this.#path)) ? 1 : 0);
  }

  /** To be called when the journals are folded in: what was set aside as damaged is not needed any more. */
  async rebuilt(): Promise<void> {
    await removeDamaged(this.#path);
  }

  async close(): Promise<void> {
    if (!this.#db.open) return;
    this.#commits.flush();
    scrub(this.#db);
    this.#db.close();
  }

  /** Compiled once: compiling costs more than most of them take to run. */
  #statement<P extends unknown[] | object = unknown[], R = unknown>(sql: string): SqliteStatement<P, R> {
    const known = this.#statements.get(sql) ?? this.#db.prepare<P, R>(sql);
    this.#statements.set(sql, known);
    return known as SqliteStatement<P, R>;
  }

  #ownerOf(sessionId: string): string | null {
    return this.#statement<[string], { owner: string }>("SELECT owner FROM sessions WHERE id = ?").get(sessionId)?.owner ?? null;
  }

  #state(sessionId: string, kept: Kept): SessionState | null {
    const row = this.#statement<[string], { state: string }>("SELECT state FROM sessions WHERE id = ?").get(sessionId);
    return row === undefined ? null : stateOf(row.state, kept);
  }
}

/** The turns whose write-back these records end. */
function writtenBack(sessionId: string, records: readonly JournalRecord[]): readonly Pick<PendingTurn, "sessionId" | "turn">[] {
  return records.filter(({ type }) => type === "write_back_done").map(({ turn }) => ({ sessionId, turn }));
}

function summaryText(text: string, kept: Kept): string {
  return text.startsWith(SEALED_SUMMARY) ? String(openedJson(text.slice(SEALED_SUMMARY.length), kept)) : text;
}
