import type { JournalRecord } from "../../domain/session.js";
import type { Kept } from "../journal/kept-content.js";
import { markOf } from "../journal/record-mark.js";
import type { SessionHead } from "../journal/session-heads.js";
import type { SessionChanges } from "../sqlite-index/session-changes.js";
import type { Values } from "./database.js";
import { addChanges } from "./index-parts.js";
import { encoded } from "./record-rows.js";
import { Statement } from "./statement.js";

/** Which session is written, what it and its owner must be like for the write to happen, and how its content is kept. */
export type SessionWrite = { readonly sessionId: string; readonly kept: Kept } & (
  | {
      readonly kind: "create";
      readonly after: SessionHead;
      readonly ownerKey: string;
      /** That the owner must be in; null for any. */
      readonly epoch: number | null;
    }
  | {
      readonly kind: "append";
      readonly before: SessionHead;
      readonly after: SessionHead;
      readonly fence: number | null;
      /** The session's: one who lost it to another writes nothing. */
      readonly lock: string;
      /** With this write, if it has that fence. */
      readonly endsLock: boolean;
    }
  | { readonly kind: "fold"; readonly before: SessionHead }
);

/** Conversation records that stand or don't after a rewind; null where the write holds none. */
export type Gaps = readonly { readonly from: number; readonly to: number }[] | null;

/**
 * One statement, so one round trip and all or nothing: the head, which decides whether anything happens, the records, and all that the
 * index makes of them. It returns a row where the write happened. `tell`: adds what happens with it, where `head` gives a row.
 */
export function writeStatement(
  write: SessionWrite,
  records: readonly JournalRecord[],
  changes: SessionChanges | null,
  gaps: Gaps,
  tell: (statement: Statement) => void = () => {},
): { readonly sql: string; readonly values: Values } {
  const statement = new Statement();
  const id = statement.parameter(write.sessionId, "text");
  const owner = statement.parameter((write.kind === "create" ? write.after : write.before).owner, "text");
  statement.part("head", headOf(statement, write, { id, owner }));
  if (write.kind === "append" && write.endsLock) {
    const [lock, fence] = [statement.parameter(write.lock, "text"), statement.parameter(write.fence, "bigint")];
    statement.part("released", `DELETE FROM {leases} l USING head WHERE l.key = ${lock} AND l.fence = ${fence}`);
  }
  if (write.kind !== "fold") addRecords(statement, records, gaps, write.kept);
  if (write.kind === "append" && gaps !== null) changeStanding(statement, id, gaps);
  if (changes !== null) addChanges(statement, { id, owner, isFold: write.kind === "fold" }, changes, write.kept);
  tell(statement);
  return { sql: statement.toString(), values: statement.values };
}

function headOf(statement: Statement, write: SessionWrite, { id, owner }: { readonly id: string; readonly owner: string }): string {
  const p = (value: unknown, cast: string) => statement.parameter(value, cast);
  switch (write.kind) {
    case "create": {
      const { ownerKey, epoch, after } = write;
      // Locked, so that an erasure either finds the session or is seen here.
      statement.part("own", `SELECT epoch, erasing FROM {owners} WHERE key = ${p(ownerKey, "text")} FOR SHARE`);
      return `INSERT INTO {journals} (session_id, owner, incarnation, last_seq, last_turn)
         SELECT ${id}, ${owner}, ${p(after.incarnation, "text")}, ${p(after.lastSeq, "int")}, ${p(after.lastTurn, "int")} FROM own
         WHERE NOT own.erasing AND own.epoch = COALESCE(${p(epoch, "int")}, own.epoch)
         ON CONFLICT DO NOTHING RETURNING session_id`;
    }
    case "append": {
      const { before, after, lock } = write;
      const fence = p(write.fence, "bigint");
      return `UPDATE {journals} SET last_seq = ${p(after.lastSeq, "int")}, last_turn = ${p(after.lastTurn, "int")},
           fence = GREATEST(fence, ${fence})
         WHERE session_id = ${id} AND owner = ${owner} AND incarnation = ${p(before.incarnation, "text")}
           AND last_seq = ${p(before.lastSeq, "int")} AND fence <= COALESCE(${fence}, fence)
           AND NOT EXISTS (SELECT 1 FROM {leases} l WHERE l.key = ${p(lock, "text")} AND l.fence > ${fence})
         RETURNING session_id`;
    }
    case "fold": {
      const { incarnation, state } = write.before;
      return `SELECT j.session_id FROM {journals} j WHERE j.session_id = ${id} AND j.owner = ${owner}
           AND j.incarnation = ${p(incarnation, "text")}
           AND COALESCE((SELECT s.indexed_seq FROM {sessions} s WHERE s.id = j.session_id), 0) = ${p(state?.indexedSeq ?? 0, "int")}
         FOR UPDATE OF j`;
    }
  }
}

/** Records of a session whose head is there, as they are. */
export function restoreStatement(
  sessionId: string,
  records: readonly JournalRecord[],
  gaps: Gaps,
  kept: Kept,
): { readonly sql: string; readonly values: Values } {
  const statement = new Statement();
  statement.part("head", `SELECT session_id FROM {journals} WHERE session_id = ${statement.parameter(sessionId, "text")}`);
  addRecords(statement, records, gaps, kept);
  return { sql: statement.toString(), values: statement.values };
}

function addRecords(statement: Statement, records: readonly JournalRecord[], gaps: Gaps, kept: Kept): void {
  const within = (seq: number) => gaps?.some(({ from, to }) => seq >= from && seq <= to) ?? false;
  const columns = [
    statement.parameter(
      records.map(({ seq }) => seq),
      "int[]",
    ),
    statement.parameter(
      records.map(({ turn }) => turn),
      "int[]",
    ),
    statement.parameter(
      records.map(({ type }) => type),
      "text[]",
    ),
    statement.parameter(records.map(markOf), "text[]"),
    statement.parameter(
      records.map(({ seq, type }) => !(CONVERSATION.has(type) && within(seq))),
      "bool[]",
    ),
    statement.parameter(
      records.map((record) => encoded(record, kept)),
      "text[]",
    ),
  ];
  statement.part(
    "added",
    `INSERT INTO {records} (session_id, seq, turn, type, mark, stands, record)
     SELECT head.session_id, r.* FROM head, unnest(${columns.join(", ")}) r`,
  );
}

const CONVERSATION: ReadonlySet<string> = new Set(["message", "step", "summary"]);

function changeStanding(statement: Statement, id: string, gaps: NonNullable<Gaps>): void {
  const from = statement.parameter(
    gaps.map((gap) => gap.from),
    "int[]",
  );
  const to = statement.parameter(
    gaps.map((gap) => gap.to),
    "int[]",
  );
  const gone = `EXISTS (SELECT 1 FROM unnest(${from}, ${to}) g (first, last) WHERE r.seq BETWEEN g.first AND g.last)`;
  statement.part(
    "stood",
    `UPDATE {records} r SET stands = NOT ${gone} FROM head
     WHERE r.session_id = ${id} AND r.type IN ('message', 'step', 'summary') AND r.stands = ${gone}`,
  );
}
