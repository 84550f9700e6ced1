import type { IdempotencyEntry } from "../../ports/session-store.js";
import { type Kept, keptJson } from "../journal/kept-content.js";
import { foldedTitle } from "../sqlite-index/list-cursor.js";
import type { SessionChanges } from "../sqlite-index/session-changes.js";
import { escapedText } from "./record-rows.js";
import type { Statement } from "./statement.js";

/** How long an idempotency key is kept, in milliseconds. */
export const IDEMPOTENCY_MS = 24 * 60 * 60 * 1000;

/** Old keys that a write with a new one deletes at most. */
const PRUNED_KEYS = 20;

/** What records change in the tables of the index, as parts of the statement that writes them. */
export function addChanges(
  statement: Statement,
  { id, owner, isFold }: { readonly id: string; readonly owner: string; readonly isFold: boolean },
  changes: SessionChanges,
  kept: Kept,
): void {
  const { session, indexedSeq, statusSince } = changes.state;
  const p = (value: unknown, cast: string) => statement.parameter(value, cast);
  statement.part(
    "session",
    `INSERT INTO {sessions} (id, owner, external_id, status, title_folded, tags, updated_at, since_ms, expires_ms, indexed_seq, state)
     SELECT head.session_id, ${owner}, ${p(session.external_id === null ? null : escapedText(session.external_id), "text")},
       ${p(session.status, "text")}, ${p(kept === null ? escapedText(foldedTitle(session.title ?? "")) : "", "text")},
       ${p(kept === null ? session.tags.map(escapedText) : [], "text[]")}, ${p(new Date(session.updated_at).toISOString(), "text")},
       ${p(Date.parse(session.status === "active" ? session.updated_at : statusSince), "bigint")},
       ${p(session.expires_at === null ? null : Date.parse(session.expires_at), "bigint")},
       ${p(indexedSeq, "int")}, ${p(keptJson(changes.state, kept), "text")}
     FROM head
     ON CONFLICT (id) DO UPDATE SET external_id = excluded.external_id, status = excluded.status, title_folded = excluded.title_folded,
       tags = excluded.tags, updated_at = excluded.updated_at, since_ms = excluded.since_ms, expires_ms = excluded.expires_ms,
       indexed_seq = excluded.indexed_seq, state = excluded.state`,
  );
  const { standings, summaries, keys } = changes;
  if (summaries.size > 0)
    statement.part(
      "summaries",
      `INSERT INTO {summaries} (session_id, key, summary)
       SELECT head.session_id, s.* FROM head,
         unnest(${p([...summaries.keys()], "text[]")}, ${p(
           [...summaries.values()].map((each) => keptJson(each, kept)),
           "text[]",
         )}) s
       ON CONFLICT DO NOTHING`,
    );
  if (standings.length > 0)
    statement.part(
      "standings",
      `INSERT INTO {standings} (session_id, seq, message_count, opened_by, summary_key)
       SELECT head.session_id, s.* FROM head, unnest(${p(
         standings.map(({ seq }) => seq),
         "int[]",
       )},
         ${p(
           standings.map(({ standing }) => standing.messageCount),
           "int[]",
         )},
         ${p(
           standings.map(({ standing }) => standing.openedBy),
           "int[]",
         )}, ${p(
           standings.map(({ summaryKey }) => summaryKey),
           "text[]",
         )}) s
       ON CONFLICT (session_id, seq) DO UPDATE SET message_count = excluded.message_count, opened_by = excluded.opened_by,
         summary_key = excluded.summary_key`,
    );
  if (keys.length > 0) addKeys(statement, owner, keys, isFold);
  addPending(statement, { id, owner }, changes);
}

/** What a fold finds was said long ago: it takes no key from a newer message, and refuses none. */
function addKeys(statement: Statement, owner: string, keys: SessionChanges["keys"], isFold: boolean): void {
  const at = ({ entry }: { readonly entry: IdempotencyEntry }) => Date.parse(entry.at);
  const names = statement.parameter(
    keys.map(({ key }) => escapedText(key)),
    "text[]",
  );
  statement.part(
    "keys",
    `INSERT INTO {idempotency} (owner, key, session_id, at_ms, entry)
     SELECT ${owner}, k.key, head.session_id, k.at_ms, k.entry
     FROM head, unnest(${names},
       ${statement.parameter(keys.map(at), "bigint[]")},
       ${statement.parameter(
         keys.map(({ entry }) => JSON.stringify(entry)),
         "text[]",
       )}) k (key, at_ms, entry)
     ON CONFLICT (owner, key) DO UPDATE SET session_id = excluded.session_id, at_ms = excluded.at_ms, entry = excluded.entry
       WHERE {idempotency}.at_ms <= excluded.at_ms - ${isFold ? 0 : IDEMPOTENCY_MS}
         OR ({idempotency}.session_id = excluded.session_id AND {idempotency}.at_ms <= excluded.at_ms)
     RETURNING 1`,
  );
  if (!isFold) statement.check(`CASE WHEN (SELECT count(*) FROM keys) < ${keys.length} THEN {refuse_taken_key}() END`);
  const oldest = statement.parameter(Math.max(...keys.map(at)) - IDEMPOTENCY_MS, "bigint");
  // A few of those whose time has passed, whoever's; another writer may be at them too.
  statement.part(
    "pruned",
    `DELETE FROM {idempotency} WHERE (owner, key) IN (SELECT i.owner, i.key FROM {idempotency} i
       WHERE i.at_ms < ${oldest} AND NOT (i.owner = ${owner} AND i.key = ANY (${names})) LIMIT ${PRUNED_KEYS} FOR UPDATE SKIP LOCKED)`,
  );
}

function addPending(statement: Statement, { id, owner }: { readonly id: string; readonly owner: string }, changes: SessionChanges): void {
  const { pending, planned, done, failed, takenBackTo } = changes;
  const p = (value: unknown, cast: string) => statement.parameter(value, cast);
  if (pending.length > 0)
    statement.part(
      "waiting",
      `INSERT INTO {pending} (session_id, turn, owner, from_seq, answered_seq, state, planned, attempts, due_ms, at_ms, error_code)
       SELECT head.session_id, w.turn, ${owner}, w.from_seq, w.answered_seq, w.state, w.planned, w.attempts, w.at_ms, w.at_ms, w.code
       FROM head, unnest(${p(
         pending.map((each) => each.turn),
         "int[]",
       )}, ${p(
         pending.map((each) => each.fromSeq),
         "int[]",
       )},
         ${p(
           pending.map((each) => each.answeredSeq),
           "int[]",
         )}, ${p(
           pending.map((each) => each.state),
           "text[]",
         )},
         ${p(
           pending.map((each) => each.planned),
           "bool[]",
         )}, ${p(
           pending.map((each) => each.attempts),
           "int[]",
         )},
         ${p(
           pending.map((each) => each.atMs),
           "bigint[]",
         )}, ${p(
           pending.map((each) => each.errorCode),
           "text[]",
         )})
         w (turn, from_seq, answered_seq, state, planned, attempts, at_ms, code)
       ON CONFLICT (session_id, turn) DO NOTHING`,
    );
  if (planned.length > 0)
    statement.part(
      "planned",
      `UPDATE {pending} SET planned = true FROM head WHERE {pending}.session_id = ${id} AND turn = ANY(${p(planned, "int[]")})`,
    );
  if (failed.length > 0)
    statement.part(
      "failed",
      `UPDATE {pending} SET state = 'failed', attempts = f.attempts, error_code = f.code, claimed_until = NULL
       FROM head, unnest(${p(
         failed.map(({ turn }) => turn),
         "int[]",
       )}, ${p(
         failed.map(({ attempts }) => attempts),
         "int[]",
       )},
         ${p(
           failed.map(({ errorCode }) => errorCode),
           "text[]",
         )}) f (turn, attempts, code)
       WHERE {pending}.session_id = ${id} AND {pending}.turn = f.turn`,
    );
  if (done.length > 0 || takenBackTo !== null)
    statement.part(
      "over",
      `DELETE FROM {pending} USING head WHERE {pending}.session_id = ${id}
         AND (turn = ANY(${p(done, "int[]")}) OR answered_seq > ${p(takenBackTo, "int")})`,
    );
}
