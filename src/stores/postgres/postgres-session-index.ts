// Over 300 lines: one port over the tables of one index, most of it SQL.

import { setTimeout as pause } from "node:timers/promises";
import { type Owner, ownerHash } from "../../domain/owner.js";
import type { JournalRecord, Session, SessionStatus } from "../../domain/session.js";
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
import type { AtomicSessionWrite } from "../journal/atomic-session-write.js";
import { type Kept, keptFor } from "../journal/kept-content.js";
import type { SessionHeads } from "../journal/session-heads.js";
import { withoutGap } from "../sqlite-index/journal-gap.js";
import { foldedTitle, type ListPosition, listed, type ReadSessions } from "../sqlite-index/list-cursor.js";
import { listedOwners } from "../sqlite-index/owner-cursor.js";
import { entryOf, pendingOf, sessionOf, stateOf } from "../sqlite-index/sqlite-index-rows.js";
import type { PostgresDatabase, Row } from "./database.js";
import { IDEMPOTENCY_MS } from "./index-parts.js";
import type { PostgresJournal } from "./postgres-journal.js";
import { escapedText } from "./record-rows.js";
import type { PostgresHead } from "./session-write.js";

const COLUMNS = `s.state,
  (SELECT count(*) FROM {pending} p WHERE p.session_id = s.id AND p.state = 'pending') AS pending,
  (SELECT count(*) FROM {pending} p WHERE p.session_id = s.id AND p.state = 'failed') AS failed`;

const LOOK_AGAIN_MS = 100;
const OF_SESSIONS = ["standings", "summaries", "pending", "idempotency"] as const;

/** What sessions look like, in tables that every write of a journal brings up to date with it. */
export class PostgresSessionIndex implements SessionIndex, RestoresPending {
  readonly #database: PostgresDatabase;
  readonly #write: AtomicSessionWrite<PostgresHead>;
  readonly #heads: SessionHeads<PostgresHead>;
  readonly #journal: PostgresJournal;
  readonly #codec: ContentCodec | null;
  readonly #now: () => number;

  constructor(parts: {
    readonly database: PostgresDatabase;
    readonly write: AtomicSessionWrite<PostgresHead>;
    readonly heads: SessionHeads<PostgresHead>;
    readonly journal: PostgresJournal;
    readonly codec: ContentCodec | null;
    readonly now: () => number;
  }) {
    this.#database = parts.database;
    this.#write = parts.write;
    this.#heads = parts.heads;
    this.#journal = parts.journal;
    this.#codec = parts.codec;
    this.#now = parts.now;
  }

  /** Has nothing to do for records that a journal's write brought; folds what a cleared index lacks. */
  async apply(owner: Owner, sessionId: string, records: readonly JournalRecord[]): Promise<void> {
    const last = records.at(-1);
    const known = this.#heads.known(owner, sessionId);
    if (last !== undefined && (known?.state?.indexedSeq ?? 0) >= last.seq) return;
    const head = await this.#heads.read(owner, sessionId);
    const read = (...[of, id, fromSeq]: readonly [Owner, string, number]) => this.#journal.read(of, id, { fromSeq, includeRewound: true });
    for await (const batch of withoutGap(owner, sessionId, head.state?.indexedSeq ?? 0, records, read))
      await this.#write.fold(owner, sessionId, batch);
  }

  async indexedSeq(sessionId: string): Promise<number> {
    const [row] = await this.#database.query("SELECT indexed_seq FROM {sessions} WHERE id = $1", [sessionId]);
    return Number(row?.indexed_seq ?? 0);
  }

  async get(owner: Owner, sessionId: string): Promise<Session | null> {
    const [row] = await this.#database.query(`SELECT ${COLUMNS} FROM {sessions} s WHERE s.id = $1 AND s.owner = $2`, [sessionId, owner]);
    return row === undefined ? null : asSession(row, await keptFor(this.#codec, owner));
  }

  async findByExternalId(owner: Owner, externalId: string): Promise<Session | null> {
    const [row] = await this.#database.query(`SELECT ${COLUMNS} FROM {sessions} s WHERE s.owner = $1 AND s.external_id = $2 LIMIT 1`, [
      owner,
      escapedText(externalId),
    ]);
    return row === undefined ? null : asSession(row, await keptFor(this.#codec, owner));
  }

  async list(owner: Owner, query: SessionQuery): Promise<Page<Session>> {
    const kept = await keptFor(this.#codec, owner);
    const read: ReadSessions = async (...asked) => (await this.#rows(owner, ...asked)).map((row) => asSession(row, kept));
    return listed(owner, query, { filters: kept === null, read });
  }

  #rows(owner: Owner, query: SessionQuery, after: ListPosition | null, limit: number): Promise<readonly Row[]> {
    return this.#database.query(
      `SELECT ${COLUMNS} FROM {sessions} s WHERE s.owner = $1 AND s.status = $2
         AND ($3::text IS NULL OR $3 = ANY (s.tags)) AND ($4::text IS NULL OR position($4 IN s.title_folded) > 0)
         AND ($5::text IS NULL OR (s.updated_at, s.id COLLATE "C") < ($5, $6))
       ORDER BY s.updated_at DESC, s.id COLLATE "C" DESC LIMIT $7`,
      [
        owner,
        query.status ?? "active",
        query.tag === undefined ? null : escapedText(query.tag),
        query.title === undefined ? null : escapedText(foldedTitle(query.title)),
        after?.updatedAt ?? null,
        after?.id ?? "",
        limit,
      ],
    );
  }

  async *pages(size: number): AsyncGenerator<readonly ListedSession[]> {
    for (let after = ""; ; ) {
      const rows = await this.#database.query("SELECT id, owner, state FROM {sessions} WHERE id > $1 ORDER BY id LIMIT $2", [after, size]);
      const listed = rows.map(async (row): Promise<ListedSession> => {
        const owner = String(row.owner) as Owner;
        return { owner, session: stateOf(String(row.state), await keptFor(this.#codec, owner)).session };
      });
      if (listed.length > 0) yield await Promise.all(listed);
      if (rows.length < size) return;
      after = String(rows.at(-1)?.id);
    }
  }

  owners(query: OwnersQuery): Promise<Page<OwnerActivity>> {
    return listedOwners(query, async (after, prefix, most) => {
      const rows = await this.#database.query(
        `SELECT owner, count(*) AS sessions, max(updated_at) AS last_active_at FROM {sessions}
         WHERE owner > $1 AND starts_with(owner, $2) GROUP BY owner ORDER BY owner LIMIT $3`,
        [after, prefix, most],
      );
      return rows.map(({ owner, sessions, last_active_at: at }) => {
        return { owner: String(owner) as Owner, sessions: Number(sessions), lastActiveAt: String(at) };
      });
    });
  }

  async findIdempotent(owner: Owner, key: string, now: Date): Promise<IdempotencyEntry | null> {
    const [row] = await this.#database.query("SELECT entry FROM {idempotency} WHERE owner = $1 AND key = $2 AND at_ms > $3", [
      owner,
      escapedText(key),
      now.getTime() - IDEMPOTENCY_MS,
    ]);
    return row === undefined ? null : entryOf(String(row.entry));
  }

  async due(nowMs: number, limit: number, { except = [] }: { readonly except?: readonly Owner[] } = {}): Promise<readonly PendingTurn[]> {
    const rows = await this.#database.query(
      `SELECT p.* FROM {pending} p
       WHERE p.state = 'pending' AND p.due_ms <= $1 AND p.owner <> ALL ($2::text[])
         AND (p.claimed_until IS NULL OR p.claimed_until < now()) AND NOT EXISTS
         (SELECT 1 FROM {pending} o WHERE o.session_id = p.session_id AND o.turn < p.turn AND o.state = 'pending')
       ORDER BY p.at_ms, p.session_id LIMIT $3`,
      [Math.floor(nowMs), except, limit],
    );
    return rows.map(asPending);
  }

  async claim(nowMs: number, limit: number, { except = [], only, leaseMs }: ClaimOptions): Promise<readonly PendingTurn[]> {
    const rows = await this.#database.query(
      `WITH due AS (
         SELECT p.session_id, p.turn FROM {pending} p
         WHERE p.state = 'pending' AND p.due_ms <= $1 AND p.owner <> ALL ($2::text[])
           AND ($5::text[] IS NULL OR p.owner = ANY ($5)) AND (p.claimed_until IS NULL OR p.claimed_until < now())
           AND NOT EXISTS (SELECT 1 FROM {pending} o WHERE o.session_id = p.session_id AND o.turn < p.turn AND o.state = 'pending')
           AND NOT EXISTS (SELECT 1 FROM {owners} w WHERE w.erasing AND w.key = encode(sha256(convert_to(p.owner, 'UTF8')), 'hex'))
         ORDER BY p.at_ms, p.session_id LIMIT $3 FOR UPDATE OF p SKIP LOCKED
       )
       UPDATE {pending} p SET claimed_until = now() + $4 * interval '1 millisecond' FROM due
       WHERE p.session_id = due.session_id AND p.turn = due.turn RETURNING p.*, p.claimed_until::text AS claim`,
      [Math.floor(nowMs), except, limit, leaseMs, only ?? null],
    );
    return rows.toSorted((a, b) => Number(a.at_ms) - Number(b.at_ms)).map((row) => ({ ...asPending(row), claim: String(row.claim) }));
  }

  async renewClaim({ owner, sessionId, turn, claim }: PendingTurn, leaseMs: number): Promise<string | null> {
    const [row] = await this.#database.query(
      `UPDATE {pending} SET claimed_until = now() + $5 * interval '1 millisecond'
       WHERE session_id = $1 AND turn = $2 AND owner = $3 AND claimed_until = $4::timestamptz
         AND NOT EXISTS (SELECT 1 FROM {owners} w WHERE w.erasing AND w.key = $6)
       RETURNING claimed_until::text AS claim`,
      [sessionId, turn, owner, claim, leaseMs, ownerHash(owner)],
    );
    return row === undefined ? null : String(row.claim);
  }

  async letGo({ owner, sessionId, turn, claim }: Pick<PendingTurn, "owner" | "sessionId" | "turn" | "claim">): Promise<void> {
    await this.#database.run(
      `UPDATE {pending} SET claimed_until = NULL
       WHERE session_id = $1 AND turn = $2 AND owner = $3 AND ($4::timestamptz IS NULL OR claimed_until = $4)`,
      [sessionId, turn, owner, claim ?? null],
    );
  }

  async unclaimed(owner: Owner, { sessionId, signal }: { readonly sessionId?: string; readonly signal: AbortSignal }): Promise<void> {
    for (;;) {
      const [row] = await this.#database.query(
        `SELECT 1 FROM {pending} WHERE owner = $1 AND ($2::text IS NULL OR session_id = $2) AND claimed_until >= now() LIMIT 1`,
        [owner, sessionId ?? null],
      );
      if (row === undefined || signal.aborted) return;
      await pause(LOOK_AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async pendingOf(owner: Owner, sessionId?: string): Promise<readonly PendingTurn[]> {
    const rows = await this.#database.query(
      `SELECT * FROM {pending} WHERE owner = $1 AND ($2::text IS NULL OR session_id = $2) ORDER BY session_id COLLATE "C", turn`,
      [owner, sessionId ?? null],
    );
    return rows.map(asPending);
  }

  async pendingCounts(): Promise<{ readonly pending: number; readonly failed: number }> {
    const rows = await this.#database.query("SELECT state, count(*) AS n FROM {pending} GROUP BY state");
    const count = (state: string) => Number(rows.find((row) => row.state === state)?.n ?? 0);
    return { pending: count("pending"), failed: count("failed") };
  }

  async oldestPendingAtMs(): Promise<number | null> {
    const [row] = await this.#database.query("SELECT min(at_ms) AS at FROM {pending} WHERE state = 'pending'");
    return row?.at === null || row?.at === undefined ? null : Number(row.at);
  }

  async recordAttempt(
    owner: Owner,
    sessionId: string,
    turn: number,
    attempt: { readonly attempts: number; readonly dueAtMs: number; readonly errorCode: string },
  ): Promise<void> {
    await this.#database.run(
      `UPDATE {pending} SET attempts = $4, due_ms = $5, error_code = $6, claimed_until = NULL
       WHERE session_id = $1 AND turn = $2 AND owner = $3`,
      [sessionId, turn, owner, attempt.attempts, Math.ceil(attempt.dueAtMs), attempt.errorCode],
    );
  }

  async restorePending({ owner, sessionId, turn, state, attempts, dueAtMs, errorCode }: PendingTurn): Promise<void> {
    await this.#database.run(
      "UPDATE {pending} SET state = $4, attempts = $5, due_ms = $6, error_code = $7 WHERE session_id = $1 AND turn = $2 AND owner = $3",
      [sessionId, turn, owner, state, attempts, dueAtMs, errorCode],
    );
  }

  async retryFailed(owner: Owner, sessionId: string): Promise<number> {
    return this.#database.run(
      `UPDATE {pending} SET state = 'pending', attempts = 0, due_ms = $3, error_code = NULL, claimed_until = NULL
       WHERE session_id = $1 AND owner = $2 AND state = 'failed'`,
      [sessionId, owner, this.#now()],
    );
  }

  async expiring(query: Parameters<SessionIndex["expiring"]>[0]): ReturnType<SessionIndex["expiring"]> {
    const rows = await this.#database.query(
      `SELECT ${COLUMNS}, s.owner FROM {sessions} s
       WHERE s.status = $1 AND (s.since_ms < $2 OR s.expires_ms < $3)
         AND (NOT EXISTS (SELECT 1 FROM {sessions} a WHERE a.id = $4)
           OR (s.since_ms, s.id COLLATE "C") > (SELECT a.since_ms, a.id COLLATE "C" FROM {sessions} a WHERE a.id = $4))
       ORDER BY s.since_ms, s.id COLLATE "C" LIMIT $5`,
      [query.status, Date.parse(query.inactiveSince), Date.parse(query.expiresBefore), query.after ?? null, query.limit],
    );
    return Promise.all(
      rows.map(async (row) => {
        const owner = String(row.owner) as Owner;
        const kept = await keptFor(this.#codec, owner);
        const { statusSince, statusBeforeDelete } = stateOf(String(row.state), kept);
        return { owner, session: asSession(row, kept), statusSince, statusBeforeDelete };
      }),
    );
  }

  async statusBeforeDelete(owner: Owner, sessionId: string): Promise<SessionStatus | null> {
    const [row] = await this.#database.query("SELECT state FROM {sessions} WHERE id = $1 AND owner = $2", [sessionId, owner]);
    return row === undefined ? null : stateOf(String(row.state), await keptFor(this.#codec, owner)).statusBeforeDelete;
  }

  async remove(owner: Owner, sessionId: string): Promise<void> {
    this.#heads.forget(sessionId);
    await this.#database.transaction(async ({ query, run }) => {
      const [own] = await query("SELECT 1 FROM {sessions} WHERE id = $1 AND owner = $2 FOR UPDATE", [sessionId, owner]);
      if (own === undefined) return;
      for (const table of OF_SESSIONS) await run(`DELETE FROM {${table}} WHERE session_id = $1`, [sessionId]);
      await run("DELETE FROM {sessions} WHERE id = $1", [sessionId]);
    });
  }

  async clear(): Promise<void> {
    this.#heads.clear();
    await this.#database.transaction(async ({ run }) => {
      for (const table of [...OF_SESSIONS, "sessions"]) await run(`DELETE FROM {${table}}`);
    });
  }

  async erase(owner: Owner): Promise<{ readonly sessions: number; readonly idempotencyKeys: number; readonly pendingTurns: number }> {
    this.#heads.clear();
    return this.#database.transaction(async ({ run }) => {
      for (const table of ["standings", "summaries"])
        await run(`DELETE FROM {${table}} WHERE session_id IN (SELECT id FROM {sessions} WHERE owner = $1)`, [owner]);
      const remove = (table: string) => run(`DELETE FROM {${table}} WHERE owner = $1`, [owner]);
      return {
        pendingTurns: await remove("pending"),
        idempotencyKeys: await remove("idempotency"),
        sessions: await remove("sessions"),
      };
    });
  }

  async residue(owner: Owner): Promise<number> {
    const [row] = await this.#database.query(
      `SELECT (SELECT count(*) FROM {sessions} WHERE owner = $1) + (SELECT count(*) FROM {pending} WHERE owner = $1)
         + (SELECT count(*) FROM {idempotency} WHERE owner = $1) AS left`,
      [owner],
    );
    return Number(row?.left ?? 0);
  }
}

function asSession(row: Row, kept: Kept): Session {
  return sessionOf({ state: String(row.state), pending: Number(row.pending), failed: Number(row.failed) }, kept);
}

function asPending(row: Row): PendingTurn {
  return pendingOf({
    owner: String(row.owner) as Owner,
    session_id: String(row.session_id),
    turn: Number(row.turn),
    from_seq: Number(row.from_seq),
    state: row.state === "failed" ? "failed" : "pending",
    planned: row.planned === true ? 1 : 0,
    attempts: Number(row.attempts),
    due_ms: Number(row.due_ms),
    error_code: row.error_code === null ? null : String(row.error_code),
  });
}
