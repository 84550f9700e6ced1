import type { OwnerEvent } from "../../domain/event.js";
import { type Owner, parseOwner } from "../../domain/owner.js";
import type { EventLog, EventQuery, EventScope, KeptEvent } from "../../ports/event-log.js";
import { AddedEvents } from "../journal/added-events.js";
import type { PostgresDatabase, Row } from "./database.js";
import { Statement } from "./statement.js";

/** How often a process looks for what others have added, in milliseconds. */
const POLL_MS = 500;

/**
 * Events are ordered by the transaction that wrote them, and read once every transaction that began before has ended: so nothing ever comes
 * up behind what a reader has. Another transaction that writes for long, in any database of the server, holds them up as long.
 */
const SETTLED = "xid < pg_snapshot_xmin(pg_current_snapshot())";

/** Events in PostgreSQL, written by the statements that write what they tell of. */
export class PostgresEventLog implements EventLog {
  readonly pollMs = POLL_MS;
  readonly #database: PostgresDatabase;
  readonly #queued: boolean;
  readonly #added = new AddedEvents();

  constructor(database: PostgresDatabase, options: { /** Whether events are also to be delivered. */ readonly queued: boolean }) {
    this.#database = database;
    this.#queued = options.queued;
  }

  /** To be called before anything is written: in a database that was restored elsewhere transactions are counted anew. */
  async open(): Promise<void> {
    for (const table of ["events", "events_waiting"])
      await this.#database.run(`UPDATE {${table}} SET xid = '1' WHERE xid > pg_current_xact_id()`);
  }

  /** Adds events to a statement, where its part of this name gives a row. Call {@link added} once it has run. */
  tell(statement: Statement, when: string, owner: Owner, events: readonly OwnerEvent[]): void {
    if (events.length === 0) return;
    const p = (values: readonly unknown[], cast: string) => statement.parameter(values, `${cast}[]`);
    const columns = [
      p(
        events.map(({ id }) => id),
        "text",
      ),
      p(
        events.map(({ type }) => type),
        "text",
      ),
      p(
        events.map(({ timestamp }) => Date.parse(timestamp)),
        "bigint",
      ),
      p(
        events.map((event) => JSON.stringify(event)),
        "text",
      ),
    ];
    const [of, tenant] = [statement.parameter(owner, "text"), statement.parameter(parseOwner(owner).tenant, "text")];
    statement.part(
      "told_events",
      `INSERT INTO {events} (id, owner, tenant, type, at_ms, event)
       SELECT e.id, ${of}, ${tenant}, e.type, e.at_ms, e.event FROM ${when}, unnest(${columns.join(", ")}) e (id, type, at_ms, event)
       ON CONFLICT (id) DO NOTHING RETURNING seq, id, owner, tenant, type, event`,
    );
    if (!this.#queued) return;
    statement.part(
      "waiting_events",
      `INSERT INTO {events_waiting} (place, id, owner, tenant, type, event) SELECT seq, id, owner, tenant, type, event FROM told_events
       ON CONFLICT (id) DO NOTHING`,
    );
    statement.part(
      "queued_owner",
      `INSERT INTO {events_queue} AS q (owner, due) SELECT DISTINCT owner, now() FROM told_events
       ON CONFLICT (owner) DO UPDATE SET touched = q.touched + 1, due = COALESCE(q.due, excluded.due)`,
    );
  }

  /** Tells those who listen within this process. */
  added(owner: Owner, events: readonly OwnerEvent[]): void {
    if (events.length > 0) this.#added.tell(owner);
  }

  onAdded(listener: (owner: Owner) => void): () => void {
    return this.#added.listen(listener);
  }

  async add(owner: Owner, events: readonly OwnerEvent[]): Promise<void> {
    if (events.length === 0) return;
    const statement = new Statement();
    statement.part("head", "SELECT 1");
    this.tell(statement, "head", owner, events);
    await this.#database.query(statement.toString(), statement.values);
    this.added(owner, events);
  }

  async read(scope: EventScope, { after, limit }: EventQuery): Promise<readonly KeptEvent[]> {
    const { where, values } = whereOf(scope, 3);
    const rows = await this.#database.query(
      `SELECT owner, event FROM {events} e WHERE ${where} AND ${SETTLED}
         AND (xid, seq) > (SELECT COALESCE(max(a.xid), '0'), COALESCE(max(a.seq), 0) FROM {events} a WHERE a.id = $1 AND ${where})
       ORDER BY xid, seq LIMIT $2`,
      [after, limit, ...values],
    );
    return rows.map(keptEvent);
  }

  async newest(scope: EventScope): Promise<string | null> {
    const { where, values } = whereOf(scope, 1);
    const [row] = await this.#database.query(
      `SELECT id FROM {events} WHERE ${where} AND ${SETTLED} ORDER BY xid DESC, seq DESC LIMIT 1`,
      values,
    );
    return row === undefined ? null : String(row.id);
  }

  async prune(before: Date): Promise<number> {
    return this.#database.run("DELETE FROM {events} WHERE at_ms < $1", [before.getTime()]);
  }

  async erase(owner: Owner): Promise<number> {
    return this.#database.transaction(async ({ run }) => {
      for (const table of ["events_waiting", "events_dead"])
        await run(`DELETE FROM {${table}} WHERE owner = $1 AND type <> 'owner.erased'`, [owner]);
      return run("DELETE FROM {events} WHERE owner = $1 AND type <> 'owner.erased'", [owner]);
    });
  }

  async residue(owner: Owner): Promise<number> {
    const [row] = await this.#database.query(
      `SELECT (SELECT count(*) FROM {events} WHERE owner = $1 AND type <> 'owner.erased')
         + (SELECT count(*) FROM {events_waiting} WHERE owner = $1 AND type <> 'owner.erased')
         + (SELECT count(*) FROM {events_dead} WHERE owner = $1 AND type <> 'owner.erased') AS events`,
      [owner],
    );
    return Number(row?.events ?? 0);
  }
}

export function keptEvent({ owner, event }: Row): KeptEvent {
  return { owner: String(owner) as Owner, event: JSON.parse(String(event)) as OwnerEvent };
}

function whereOf(scope: EventScope, place: number): { readonly where: string; readonly values: readonly string[] } {
  if (scope === "all") return { where: "true", values: [] };
  return "owner" in scope ? { where: `owner = $${place}`, values: [scope.owner] } : { where: `tenant = $${place}`, values: [scope.tenant] };
}
