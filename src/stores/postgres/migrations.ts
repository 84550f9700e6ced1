/**
 * The tables, version by version; each runs once, in order. One that is released is never changed. Texts that people wrote are kept as
 * JSON text, in which a NUL, which PostgreSQL's texts can't hold, is escaped. Owner first wherever something is listed or erased.
 */
export const MIGRATIONS: readonly (readonly string[])[] = [
  [
    // Grows with every lease of anything and never goes back, also over restarts.
    "CREATE SEQUENCE {fences}",
    `CREATE TABLE {leases} (
      key text PRIMARY KEY,
      fence bigint NOT NULL,
      until timestamptz NOT NULL,
      owner_key text,
      revoked boolean NOT NULL DEFAULT false
    )`,
    "CREATE INDEX leases_owner ON {leases} (owner_key) WHERE owner_key IS NOT NULL",
    `CREATE TABLE {journals} (
      session_id text PRIMARY KEY,
      owner text NOT NULL,
      last_seq integer NOT NULL,
      last_turn integer NOT NULL,
      fence bigint NOT NULL DEFAULT 0
    )`,
    "CREATE INDEX journals_owner ON {journals} (owner)",
    // mark: u a user's message, a a completed answer, b a failed turn that never came to a word, m any other message.
    // stands: false for what a rewind took back.
    `CREATE TABLE {records} (
      session_id text NOT NULL REFERENCES {journals} ON DELETE CASCADE,
      seq integer NOT NULL,
      turn integer NOT NULL,
      type text NOT NULL,
      mark text,
      stands boolean NOT NULL,
      record text NOT NULL,
      PRIMARY KEY (session_id, seq)
    )`,
    "CREATE INDEX records_answers ON {records} (session_id, seq DESC) WHERE mark = 'a' AND stands",
    "CREATE INDEX records_asked ON {records} (session_id, seq DESC) WHERE mark = 'u' AND stands",
    "CREATE INDEX records_summaries ON {records} (session_id, seq DESC) WHERE type = 'summary' AND stands",
    "CREATE INDEX records_rewinds ON {records} (session_id, seq) WHERE type = 'rewind'",
    "CREATE INDEX records_turns ON {records} (session_id, turn)",
    // The index: what sessions look like, which follows from their records.
    `CREATE TABLE {sessions} (
      id text PRIMARY KEY,
      owner text NOT NULL,
      external_id text,
      status text NOT NULL,
      title_folded text NOT NULL,
      tags text[] NOT NULL,
      updated_at text COLLATE "C" NOT NULL,
      since_ms bigint NOT NULL,
      expires_ms bigint,
      indexed_seq integer NOT NULL,
      state text NOT NULL
    )`,
    'CREATE INDEX sessions_newest ON {sessions} (owner, status, updated_at DESC, id COLLATE "C" DESC)',
    "CREATE INDEX sessions_external ON {sessions} (owner, external_id) WHERE external_id IS NOT NULL",
    'CREATE INDEX sessions_since ON {sessions} (status, since_ms, id COLLATE "C")',
    "CREATE INDEX sessions_expiring ON {sessions} (status, expires_ms) WHERE expires_ms IS NOT NULL",
    // The conversation as it was after a record: what a rewind goes back to.
    `CREATE TABLE {standings} (
      session_id text NOT NULL,
      seq integer NOT NULL,
      message_count integer NOT NULL,
      opened_by integer,
      summary_key text,
      PRIMARY KEY (session_id, seq)
    )`,
    `CREATE TABLE {summaries} (
      session_id text NOT NULL,
      key text NOT NULL,
      summary text NOT NULL,
      PRIMARY KEY (session_id, key)
    )`,
    `CREATE TABLE {pending} (
      session_id text NOT NULL,
      turn integer NOT NULL,
      owner text NOT NULL,
      from_seq integer NOT NULL,
      answered_seq integer NOT NULL,
      state text NOT NULL,
      planned boolean NOT NULL DEFAULT false,
      attempts integer NOT NULL DEFAULT 0,
      due_ms bigint NOT NULL,
      at_ms bigint NOT NULL,
      error_code text,
      -- Until when one worker has it, and nobody else is given it.
      claimed_until timestamptz,
      PRIMARY KEY (session_id, turn)
    )`,
    "CREATE INDEX pending_oldest ON {pending} (state, at_ms)",
    "CREATE INDEX pending_owner ON {pending} (owner)",
    `CREATE TABLE {idempotency} (
      owner text NOT NULL,
      key text NOT NULL,
      session_id text NOT NULL,
      at_ms bigint NOT NULL,
      entry text NOT NULL,
      PRIMARY KEY (owner, key)
    )`,
    "CREATE INDEX idempotency_at ON {idempotency} (at_ms)",
    "CREATE INDEX idempotency_session ON {idempotency} (session_id)",
    // Ends a statement that would give one key to two requests, and takes back all that it wrote.
    `CREATE FUNCTION {refuse_taken_key}() RETURNS integer LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'the idempotency key is taken' USING ERRCODE = 'MT001'; END $$`,
    `CREATE TABLE {images} (
      session_id text NOT NULL,
      id text NOT NULL,
      owner text NOT NULL,
      at timestamptz NOT NULL DEFAULT now(),
      data bytea NOT NULL,
      PRIMARY KEY (owner, session_id, id)
    )`,
    `CREATE TABLE {daily_tokens} (
      day text COLLATE "C" NOT NULL,
      tenant text NOT NULL,
      tokens bigint NOT NULL,
      PRIMARY KEY (day, tenant)
    )`,
    // As rate-limiter-flexible has it.
    "CREATE TABLE {request_counts} (key varchar(255) PRIMARY KEY, points integer NOT NULL DEFAULT 0, expire bigint)",
    // The concierge's. Times are ISO 8601 UTC, money is in cents, lists are JSON; an owner that is null was erased.
    `CREATE TABLE {concierge_quotes} (
      id text PRIMARY KEY, owner text NOT NULL, session_id text NOT NULL, turn integer NOT NULL,
      event_id text NOT NULL, title text NOT NULL, venue text NOT NULL, city text NOT NULL, starts_at text NOT NULL,
      section text NOT NULL, quantity integer NOT NULL, total_cents integer NOT NULL, companions text NOT NULL,
      stop text NOT NULL, absent text NOT NULL, mentioned text NOT NULL, waived text NOT NULL,
      created_at text NOT NULL, expires_at text COLLATE "C" NOT NULL, booking_id text
    )`,
    "CREATE INDEX concierge_quotes_session ON {concierge_quotes} (owner, session_id, turn)",
    `CREATE TABLE {concierge_bookings} (
      id text PRIMARY KEY, reference text UNIQUE, owner text, session_id text, turn integer, call_id text, quote_id text UNIQUE,
      event_id text NOT NULL, title text NOT NULL, venue text NOT NULL, city text NOT NULL, starts_at text NOT NULL,
      section text NOT NULL, quantity integer NOT NULL CHECK (quantity > 0), total_cents integer NOT NULL, companions text NOT NULL,
      waived text NOT NULL, status text NOT NULL CHECK (status IN ('confirmed', 'cancelled')), holds_seats integer NOT NULL,
      created_at text NOT NULL, cancelled_at text,
      UNIQUE (owner, session_id, turn, call_id)
    )`,
    "CREATE INDEX concierge_bookings_seats ON {concierge_bookings} (event_id, section) WHERE status = 'confirmed'",
    "CREATE INDEX concierge_bookings_owner ON {concierge_bookings} (owner, starts_at)",
    `CREATE TABLE {concierge_happenings} (
      owner text NOT NULL, seq integer NOT NULL, booking_id text NOT NULL, kind text NOT NULL, at text NOT NULL,
      PRIMARY KEY (owner, seq), UNIQUE (booking_id, kind)
    )`,
    // By the owner's hash: epochs, audit trails and receipts outlive an erasure, names don't.
    "CREATE TABLE {owners} (key text PRIMARY KEY, epoch integer NOT NULL, erasing boolean NOT NULL DEFAULT false)",
    `CREATE TABLE {ledger} (
      key text NOT NULL,
      slot text NOT NULL,
      id bigserial NOT NULL,
      entry text NOT NULL,
      PRIMARY KEY (key, slot)
    )`,
    "CREATE INDEX ledger_open ON {ledger} (slot) WHERE slot = 'erasure'",
    `CREATE TABLE {memory_log} (
      owner text COLLATE "C" NOT NULL,
      seq integer NOT NULL,
      entry text NOT NULL,
      PRIMARY KEY (owner, seq)
    )`,
  ],
  // Tells a session from one that was there before it under the same id.
  ["ALTER TABLE {journals} ADD COLUMN incarnation text NOT NULL DEFAULT ''"],
  [
    // One row: which installation all processes on this schema are.
    "CREATE TABLE {installation} (one boolean PRIMARY KEY DEFAULT true CHECK (one), id text NOT NULL)",
  ],
  [
    // What the window of so many rounds needs: from the first record of the oldest round's turn on, the newest summary, and the newest
    // user message; by index, whatever the session holds besides.
    `CREATE FUNCTION {read_window}(p_session text, p_owner text, p_rounds integer)
      RETURNS TABLE (last_seq integer, last_turn integer, seq integer, record text) LANGUAGE sql STABLE AS $$
      WITH head AS (SELECT j.session_id, j.last_seq, j.last_turn FROM {journals} j WHERE j.session_id = p_session AND j.owner = p_owner),
      answers AS (
        SELECT r.turn FROM {records} r, head WHERE r.session_id = head.session_id AND r.mark = 'a' AND r.stands
        ORDER BY r.seq DESC LIMIT p_rounds
      ),
      start AS (
        SELECT min(r.seq) AS seq FROM {records} r, head WHERE r.session_id = head.session_id AND r.turn IN (SELECT turn FROM answers)
      ),
      summary AS (
        SELECT r.seq FROM {records} r, head WHERE r.session_id = head.session_id AND r.type = 'summary' AND r.stands
        ORDER BY r.seq DESC LIMIT 1
      ),
      asked AS (
        SELECT r.seq FROM {records} r, head WHERE r.session_id = head.session_id AND r.mark = 'u' AND r.stands ORDER BY r.seq DESC LIMIT 1
      )
      SELECT head.last_seq, head.last_turn, r.seq, r.record FROM head LEFT JOIN {records} r ON r.session_id = head.session_id AND (
        (r.type IN ('message', 'step') AND r.stands AND r.seq >= (SELECT seq FROM start))
        OR r.seq = (SELECT seq FROM summary) OR r.seq = (SELECT seq FROM asked))
      ORDER BY r.seq $$`,
    // A session's lock, and what a turn goes out from. Each statement in it sees what was committed before it began: so what is read is
    // what the lock's last holder left. No row where somebody else has the lock.
    `CREATE FUNCTION {start_turn}(
        p_lock text, p_lease_ms double precision, p_owner text, p_owner_key text, p_session text, p_rounds integer)
      RETURNS TABLE (
        fence bigint, epoch integer, incarnation text, last_fence bigint, last_seq integer, last_turn integer, state text,
        records text[], entries text[], memory_seq integer)
      LANGUAGE plpgsql AS $$
      #variable_conflict use_column
      DECLARE taken bigint;
      BEGIN
        INSERT INTO {owners} (key, epoch) VALUES (p_owner_key, 0) ON CONFLICT DO NOTHING;
        INSERT INTO {leases} AS l (key, fence, until, owner_key)
          SELECT p_lock, nextval('{fences}'), now() + p_lease_ms * interval '1 millisecond', p_owner_key
          WHERE NOT EXISTS (SELECT 1 FROM {owners} o WHERE o.key = p_owner_key AND o.erasing)
          ON CONFLICT (key) DO UPDATE
            SET fence = excluded.fence, until = excluded.until, owner_key = excluded.owner_key, revoked = false WHERE l.until < now()
          RETURNING l.fence INTO taken;
        RETURN QUERY SELECT taken, o.epoch, j.incarnation, j.fence, j.last_seq, j.last_turn, s.state,
            (SELECT array_agg(w.record ORDER BY w.seq) FROM {read_window}(p_session, p_owner, p_rounds) w WHERE w.record IS NOT NULL),
            (SELECT array_agg(e.entry ORDER BY e.id) FROM {ledger} e
              WHERE e.key = p_owner_key AND (e.slot = 'user' OR e.slot LIKE 'tombstone:%')),
            (SELECT COALESCE(max(m.seq), 0) FROM {memory_log} m WHERE m.owner = p_owner)
          FROM {owners} o LEFT JOIN {journals} j ON j.session_id = p_session AND j.owner = p_owner
          LEFT JOIN {sessions} s ON s.id = j.session_id
          WHERE o.key = p_owner_key AND (taken IS NOT NULL OR o.erasing);
      END $$`,
  ],
  [
    // In the order of their transactions: `xid` grows with each, `seq` within one.
    `CREATE TABLE {events} (
      seq bigserial NOT NULL,
      xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
      id text PRIMARY KEY,
      owner text COLLATE "C" NOT NULL,
      tenant text COLLATE "C" NOT NULL,
      type text NOT NULL,
      at_ms bigint NOT NULL,
      event text NOT NULL
    )`,
    "CREATE INDEX events_in_order ON {events} (xid, seq)",
    "CREATE INDEX events_owner ON {events} (owner, xid, seq)",
    "CREATE INDEX events_tenant ON {events} (tenant, xid, seq)",
    "CREATE INDEX events_at ON {events} (at_ms)",
    // What is to be delivered.
    `CREATE TABLE {events_waiting} (
      place bigint NOT NULL,
      xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
      id text PRIMARY KEY,
      owner text COLLATE "C" NOT NULL,
      tenant text NOT NULL,
      type text NOT NULL,
      event text NOT NULL
    )`,
    "CREATE INDEX events_waiting_owner ON {events_waiting} (owner, xid, place)",
    // An owner some of whose events may wait; `touched` counts what was added.
    `CREATE TABLE {events_queue} (
      owner text PRIMARY KEY,
      due timestamptz,
      leased timestamptz NOT NULL DEFAULT '-infinity',
      attempts integer NOT NULL DEFAULT 0,
      touched bigint NOT NULL DEFAULT 0
    )`,
    "CREATE INDEX events_queue_due ON {events_queue} (due) WHERE due IS NOT NULL",
    `CREATE TABLE {events_dead} (
      place bigserial NOT NULL,
      id text PRIMARY KEY,
      owner text COLLATE "C" NOT NULL,
      tenant text NOT NULL,
      type text NOT NULL,
      event text NOT NULL,
      attempts integer NOT NULL,
      error text NOT NULL,
      since text NOT NULL
    )`,
    "CREATE INDEX events_dead_tenant ON {events_dead} (tenant, place)",
    "CREATE INDEX events_dead_owner ON {events_dead} (owner)",
  ],
];

/** What is there once so many have run. */
export function tablesOf(version: number): readonly string[] {
  return MIGRATIONS.slice(0, version)
    .flat()
    .flatMap((statement) => /^CREATE TABLE \{([a-z_]+)\}/.exec(statement)?.[1] ?? []);
}
