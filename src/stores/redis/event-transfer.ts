import { BEGINNING } from "../../ports/event-log.js";
import type { TransferableRow, TransferableTable } from "../../ports/transfer.js";
import { deadEventOfRow, deadEventRow, EVENT_ROWS, EVENT_TABLES, eventOfRow, eventRow } from "../journal/event-rows.js";
import type { RedisDatabase } from "./database.js";
import { type EventKey, eventKeysOf, marksOf, unplaced } from "./event-keys.js";
import { LOG_EVENTS } from "./event-log-scripts.js";
import { type KeptRow, parsedRow } from "./event-outbox.js";
import { RESTORE_DEAD, RESTORE_WAITING } from "./event-queue-scripts.js";
import type { RedisEventLog } from "./redis-event-log.js";
import { type DeadRow, deadRowOf } from "./redis-event-queue.js";

/** Behind all that an erasure took. */
const LAST_PLACE = Number.MAX_SAFE_INTEGER;

/** Events, an owner's in order, as they are moved. What waited is due at once where it comes. */
export function eventTablesOf(database: RedisDatabase, log: RedisEventLog): readonly TransferableTable[] {
  const keys = eventKeysOf(database.prefix);
  const kept = (row: TransferableRow, queued: boolean): KeptRow => ({ v: 1, queued, ...eventOfRow(row) });
  const table = (name: string, rows: TransferableTable["rows"], put: (row: TransferableRow) => Promise<unknown>): TransferableTable => ({
    name,
    rows,
    restore: async (given) => {
      for (const row of given) await put(row);
    },
  });
  return [
    table(
      EVENT_TABLES.log,
      () => loggedIn(log),
      (row) => {
        const { owner, event } = eventOfRow(row);
        const args = [LAST_PLACE, event.id, event.type, Date.parse(event.timestamp), 0, JSON.stringify(kept(row, false))];
        return database.run(LOG_EVENTS, keys, ...marksOf(owner), ...args);
      },
    ),
    table(
      EVENT_TABLES.waiting,
      async function* () {
        await log.level();
        for await (const json of rowsOf(database, "line", "waiting")) {
          const { owner, event } = parsedRow(json);
          yield eventRow(owner, event);
        }
      },
      (row) => {
        const { owner, event } = eventOfRow(row);
        const [tag] = marksOf(owner);
        return database.run(RESTORE_WAITING, keys, tag, event.id, JSON.stringify(kept(row, true)));
      },
    ),
    table(
      EVENT_TABLES.dead,
      async function* () {
        for await (const json of rowsOf(database, "deadLine", "dead", "t:")) yield deadEventRow(JSON.parse(json) as DeadRow);
      },
      (row) => {
        const dead = deadEventOfRow(row);
        const json = JSON.stringify(deadRowOf(dead));
        return database.run(RESTORE_DEAD, keys, ...marksOf(dead.owner), dead.event.id, json, Date.parse(dead.deadSince));
      },
    ),
  ];
}

async function* loggedIn(log: RedisEventLog): AsyncGenerator<TransferableRow> {
  await log.level();
  for (let after = BEGINNING; ; ) {
    const found = await log.read("all", { after, limit: EVENT_ROWS });
    for (const { owner, event } of found) yield eventRow(owner, event);
    if (found.length < EVENT_ROWS) return;
    after = found.at(-1)?.event.id ?? after;
  }
}

/** What is kept of each member of a line that begins so, in order. */
async function* rowsOf(database: RedisDatabase, line: EventKey, rows: EventKey, prefix = ""): AsyncGenerator<string> {
  const keys = eventKeysOf(database.prefix);
  for (let from = prefix === "" ? "-" : `[${prefix}`; ; ) {
    const members = (await database.command("ZRANGEBYLEX", keys[line], from, "+", "LIMIT", 0, EVENT_ROWS)) as readonly string[];
    for (const member of members) {
      const row = (await database.command("HGET", keys[rows], member.slice(member.lastIndexOf(":") + 1))) as string | null;
      if (row !== null) yield unplaced(row);
    }
    const last = members.at(-1);
    if (last === undefined || members.length < EVENT_ROWS) return;
    from = `(${last}`;
  }
}
