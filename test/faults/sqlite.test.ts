import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Catalogue } from "../../packages/concierge/src/catalogue.js";
import { STATE_FILE } from "../../src/compose/engine.js";
import { ownerPartition } from "../../src/state/partition.js";
import { AS_EVER, holds, NOT_KEPT, openMatrix, READS, readSince, STORE_DOWN } from "./matrix.js";
import { PATIENT_RECALL_MS, type Rig, replyTo } from "./rig.js";
import { type StoreOutcome, underStoreFault } from "./store-faults.js";
import { readyzUnder, underTurnFault } from "./turn-faults.js";

const { opened, compare, comparePage } = openMatrix();

/** A lock is on the whole file, so others' writes wait as hers do; what they say is answered as ever. */
const LOCKED = { others: "write-back had to wait" };
const { asked: _, ...UNREAD } = STORE_DOWN;
/**
 * SQLite waits for a lock in the rig's own thread, and timers with it: which turns are well, late or degraded, hers and others', and whether
 * others' write-back comes through in between, is the machine's speed. That each is answered, and by one of these, is ours.
 */
const ANY_OF_THREE = "ok, late or degraded";
const LOCKED_OUT = { memory: ANY_OF_THREE, others: `200, ${ANY_OF_THREE}` };
const lockedOut = ({ asked: _, ...seen }: StoreOutcome) => ({
  ...seen,
  memory: each(seen.memory, /^(ok|timeout|degraded)$/) ? LOCKED_OUT.memory : seen.memory,
  others: each(seen.others, /^200 (timeout|degraded)$|^write-back had to wait$/) ? LOCKED_OUT.others : seen.others,
});
const each = (list: string, allowed: RegExp) => list.split(", ").every((run) => allowed.test(run.replace(/ ×\d+$/, "")));
const adas = ({ ada }: Rig) => [ada.owner, ada.sessionId, ownerPartition(ada.owner)];
/** Journals are files of their own, and take turns as long as state.db is read. */
const STILL_READY = { readyz: "200 degraded" };
const NOT_READY = { readyz: "503 down" };
const STATE = "Disk beneath SQLite, all state but journals";

describe("[degradation-honest] [other-users-unaffected] a fault of the disk beneath a SQLite file", () => {
  test.each([
    ["vectors.db is full (SQLITE_FULL)", "SQLITE_FULL", { ...UNREAD, ...READS }],
    ["vectors.db fails (SQLITE_IOERR)", "SQLITE_IOERR", UNREAD],
    ["vectors.db is locked (SQLITE_BUSY)", "locked", { ...UNREAD, ...READS, ...LOCKED_OUT }],
  ] as const)("%s", async (name, how, expected) => {
    const on = await opened({ vectors: "local" });
    const seen = await underStoreFault(on, {
      start: () => {
        if (how === "locked") on.sqlite.lock(join(on.dir, "vectors.db"));
        else on.sqlite.inject({ file: "vectors.db", code: how, holding: adas(on) });
      },
      asks: () => 0,
    });
    compare("Disk beneath SQLite, memory and history", name, expected, how === "locked" ? lockedOut(seen) : readSince(seen));
  });

  test.each([
    ["state.db is full (SQLITE_FULL)", "SQLITE_FULL", { ...AS_EVER, ...STILL_READY }],
    ["state.db is read-only (SQLITE_READONLY)", "SQLITE_READONLY", { ...AS_EVER, ...STILL_READY }],
    ["state.db fails (SQLITE_IOERR)", "SQLITE_IOERR", { ...NOT_KEPT, ...NOT_READY }],
    ["state.db is damaged (SQLITE_CORRUPT)", "SQLITE_CORRUPT", { ...NOT_KEPT, answered: "500 STORAGE_DAMAGED", ...NOT_READY }],
    ["state.db is locked (SQLITE_BUSY)", "locked", { ...AS_EVER, ...LOCKED, ...STILL_READY }],
  ] as const)("[ready-means-ready] %s", async (name, how, expected) => {
    const on = await opened({ recallDeadlineMs: PATIENT_RECALL_MS });
    const start = (holding: readonly string[]) => {
      if (how === "locked") on.sqlite.lock(join(on.dir, STATE_FILE));
      else on.sqlite.inject({ file: STATE_FILE, code: how, holding });
    };
    const seen = await underTurnFault(on, { start: () => start(adas(on)) });
    compare(STATE, name, expected, { ...seen, readyz: await readyzUnder(on, () => start([""])) });
  });

  test.each([
    ["state.db is full (SQLITE_FULL), at the owner's ledger", "SQLITE_FULL", AS_EVER],
    // Whether they are being erased can't be known.
    ["state.db fails (SQLITE_IOERR), at the owner's ledger", "SQLITE_IOERR", NOT_KEPT],
  ] as const)("%s", async (name, code, expected) => {
    const on = await opened({ recallDeadlineMs: PATIENT_RECALL_MS });
    const start = () => on.sqlite.inject({ file: STATE_FILE, code, holding: adas(on), and: "ledger/" });
    compare(STATE, name, expected, await underTurnFault(on, { start }));
  });

  test.each([
    ["state.db is full (SQLITE_FULL), at a quote", "SQLITE_FULL", AS_EVER],
    ["state.db fails (SQLITE_IOERR), at a quote", "SQLITE_IOERR", AS_EVER],
    ["state.db is locked (SQLITE_BUSY), at a quote", "locked", { ...AS_EVER, ...LOCKED }],
  ] as const)("%s", async (name, how, expected) => {
    const on = await opened({ recallDeadlineMs: PATIENT_RECALL_MS });
    const { ada, openai } = on;
    const [event] = new Catalogue().onSale(new Date());
    const observed: unknown[] = [];
    const seen = await underTurnFault(on, {
      start: () => {
        openai.chatOtherwise((body) => {
          if (body.tools === undefined || !holds(body, `${ada.word} matinees`)) return replyTo(body);
          const last = body.messages.at(-1);
          if (last?.role === "tool") {
            observed.push(last.content);
            return { text: "Heard." };
          }
          if (how === "locked") on.sqlite.lock(join(on.dir, STATE_FILE));
          else on.sqlite.inject({ file: STATE_FILE, code: how, holding: adas(on), and: "record/" });
          return { calls: [{ name: "book_tickets", arguments: { event_id: event?.id, quantity: 2 } }] };
        });
      },
    });
    expect(observed[0]).toMatch(/"error":"The storage answered SQLITE_(FULL|IOERR|BUSY)/);
    compare(STATE, name, expected, seen);
  });
});

test("the page about faults says what was seen", comparePage);
