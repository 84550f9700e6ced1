import type { Owner } from "../../domain/owner.js";
import type { JournalRecord } from "../../domain/session.js";
import { sessionEvents } from "../../domain/session-events.js";
import { AppError } from "../../platform/errors.js";
import { newId } from "../../platform/ids.js";
import type { ContentCodec } from "../../ports/content-codec.js";
import { sessionLockKey } from "../../ports/session-store.js";
import type { JournalEnd } from "../../ports/transfer.js";
import { NOTHING, rewindsIn, type SessionAppend, type SessionEngine } from "../journal/atomic-session-write.js";
import { inBatches } from "../journal/in-batches.js";
import { keptFor, openedJson } from "../journal/kept-content.js";
import { leaseKey } from "../journal/leased-lock.js";
import { highestTurn } from "../journal/new-records.js";
import { type RewindMark, rewoundGaps } from "../journal/rewound-records.js";
import type { SessionHead } from "../journal/session-heads.js";
import type { SessionChanges } from "../sqlite-index/session-changes.js";
import type { Standing } from "../sqlite-index/session-fold.js";
import { stateOf } from "../sqlite-index/sqlite-index-rows.js";
import type { PostgresDatabase, Queries } from "./database.js";
import type { OwnerRows } from "./owner-rows.js";
import type { PostgresEventLog } from "./postgres-event-log.js";
import type { Statement } from "./statement.js";
import { type Gaps, restoreStatement, writeStatement } from "./write-statement.js";

export interface PostgresHead extends SessionHead {
  /** The newest that wrote, or has the session's lock. */
  readonly fence: number;
}

/** Sessions are written by one statement each. */
export class PostgresSessionEngine implements SessionEngine<PostgresHead> {
  readonly #database: PostgresDatabase;
  readonly #owners: OwnerRows;
  readonly #codec: ContentCodec | null;
  readonly #events: PostgresEventLog | null;

  constructor(database: PostgresDatabase, owners: OwnerRows, codec: ContentCodec | null, events: PostgresEventLog | null) {
    this.#events = events;
    this.#database = database;
    this.#owners = owners;
    this.#codec = codec;
  }

  async create(
    owner: Owner,
    sessionId: string,
    records: readonly JournalRecord[],
    changes: SessionChanges | null,
    epoch?: number,
  ): Promise<PostgresHead> {
    const ownerKey = await this.#owners.ensure(owner);
    const after = { owner, incarnation: newId(), lastSeq: records.length, lastTurn: highestTurn(records), fence: 0, state: null };
    const kept = await keptFor(this.#codec, owner);
    const write = { kind: "create", sessionId, after, ownerKey, epoch: epoch ?? null, kept } as const;
    const events = sessionEvents(owner, sessionId, records);
    const tell = (statement: Statement) => this.#events?.tell(statement, "head", owner, events);
    const { sql, values } = writeStatement(write, records, changes, null, tell);
    if ((await this.#database.query(sql, values)).length > 0) {
      this.#events?.added(owner, events);
      return after;
    }
    if (await this.#owners.refuses(ownerKey, epoch ?? null)) throw new AppError("OWNER_ERASED", { retryAfterSeconds: 5 });
    throw new AppError("SESSION_CHANGED");
  }

  async append(head: PostgresHead, sessionId: string, { records, changes, fence, endsLock }: SessionAppend): Promise<PostgresHead | null> {
    if (fence !== null && fence < head.fence) throw new AppError("FENCED");
    const after = {
      ...head,
      lastSeq: head.lastSeq + records.length,
      lastTurn: Math.max(head.lastTurn, highestTurn(records)),
      fence: Math.max(head.fence, fence ?? 0),
    };
    const lock = leaseKey(sessionLockKey(head.owner, sessionId));
    const gaps = await this.#gaps(sessionId, records);
    const kept = await keptFor(this.#codec, head.owner);
    const events = sessionEvents(head.owner, sessionId, records);
    const { sql, values } = writeStatement(
      { kind: "append", sessionId, before: head, after, fence, lock, endsLock, kept },
      records,
      changes,
      gaps,
      (statement) => this.#events?.tell(statement, "head", head.owner, events),
    );
    if ((await this.#database.query(sql, values)).length === 0) return null;
    this.#events?.added(head.owner, events);
    return after;
  }

  async fold(before: PostgresHead, sessionId: string, changes: SessionChanges): Promise<boolean> {
    const kept = await keptFor(this.#codec, before.owner);
    const { sql, values } = writeStatement({ kind: "fold", sessionId, before, kept }, [], changes, null);
    return (await this.#database.query(sql, values)).length > 0;
  }

  async restore(owner: Owner, sessionId: string, records: () => AsyncIterable<JournalRecord>, end: JournalEnd): Promise<void> {
    const rewinds: RewindMark[] = [];
    for await (const record of records()) rewinds.push(...rewindsIn([record]));
    const gaps = rewoundGaps(rewinds);
    const added = await this.#database.run(
      `INSERT INTO {journals} (session_id, owner, incarnation, last_seq, last_turn) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
      [sessionId, owner, newId(), end.lastSeq, end.lastTurn],
    );
    if (added === 0) throw new AppError("SESSION_CHANGED");
    const kept = await keptFor(this.#codec, owner);
    for await (const batch of inBatches(records())) {
      const { sql, values } = restoreStatement(sessionId, batch, gaps, kept);
      await this.#database.run(sql, values);
    }
  }

  async standingAt(owner: Owner, sessionId: string, seq: number): Promise<Standing> {
    const [row] = await this.#database.query(
      `SELECT t.message_count, t.opened_by, m.summary FROM {standings} t
       LEFT JOIN {summaries} m ON m.session_id = t.session_id AND m.key = t.summary_key
       WHERE t.session_id = $1 AND t.seq <= $2 ORDER BY t.seq DESC LIMIT 1`,
      [sessionId, seq],
    );
    if (row === undefined) return NOTHING;
    const kept = await keptFor(this.#codec, owner);
    return {
      messageCount: Number(row.message_count),
      openedBy: row.opened_by === null ? null : Number(row.opened_by),
      summary: row.summary === null ? null : (openedJson(String(row.summary), kept) as NonNullable<Standing["summary"]>),
    };
  }

  async #gaps(sessionId: string, records: readonly JournalRecord[]): Promise<Gaps> {
    const added = rewindsIn(records);
    if (added.length === 0) return null;
    const rows = await this.#database.query(
      "SELECT seq, (record::json #>> '{body,to_seq}')::int AS to_seq FROM {records} WHERE session_id = $1 AND type = 'rewind' ORDER BY seq",
      [sessionId],
    );
    return rewoundGaps([...rows.map((row) => ({ seq: Number(row.seq), toSeq: Number(row.to_seq) })), ...added]);
  }
}

/** @throws SESSION_NOT_FOUND, also for somebody else's */
export async function readHead(database: Queries, owner: Owner, sessionId: string, codec: ContentCodec | null): Promise<PostgresHead> {
  const [row] = await database.query(
    `SELECT j.incarnation, j.last_seq, j.last_turn, s.state,
       GREATEST(j.fence, (SELECT l.fence FROM {leases} l WHERE l.key = $3)) AS fence
     FROM {journals} j LEFT JOIN {sessions} s ON s.id = j.session_id WHERE j.session_id = $1 AND j.owner = $2`,
    [sessionId, owner, leaseKey(sessionLockKey(owner, sessionId))],
  );
  if (row === undefined) throw new AppError("SESSION_NOT_FOUND");
  return {
    owner,
    incarnation: String(row.incarnation),
    lastSeq: Number(row.last_seq),
    lastTurn: Number(row.last_turn),
    fence: Number(row.fence),
    state: row.state === null ? null : stateOf(String(row.state), await keptFor(codec, owner)),
  };
}
