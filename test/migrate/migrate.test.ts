import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { migrateState, openState } from "../../src/compose/migration.js";
import { wiringOf } from "../../src/compose/wiring.js";
import { eventOf } from "../../src/domain/event.js";
import type { Owner } from "../../src/domain/owner.js";
import { migrate } from "../../src/operations/migrate.js";
import { newId } from "../../src/platform/ids.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { StateBackend, TransferableState } from "../../src/ports/transfer.js";
import { ALICE, BOB, collected, JournalRecords } from "../../src/testing/journal-records.js";
import { entryOf } from "../../src/testing/memory-log-contract.js";
import { needing } from "../support/needing.js";
import { openPostgresServer, type PostgresServer } from "../support/postgres-server.js";
import { openRedisServer, type RedisServer } from "../support/redis-server.js";
import { PNG } from "../support/samples.js";

const AT = "2026-03-01T10:00:00.000Z";
const IMAGE = createHash("sha256").update(PNG).digest("hex");

/** Of two users, in turn: what a log holds. */
const EVENTS = Array.from({ length: 6 }, (_, at) => {
  const owner = at % 2 === 0 ? ALICE : BOB;
  return { owner, event: eventOf(owner, "session.created", [at], `2026-02-0${at + 1}T10:00:00.000Z`, { session_id: newId() }) };
});

function eventRowOf({ owner, event }: (typeof EVENTS)[number]) {
  return { id: event.id, owner, event: JSON.stringify(event) };
}

needing("postgres", "redis")("moving state from one store to another", () => {
  let postgres: PostgresServer;
  let redis: RedisServer;
  let base: string;
  let places = 0;
  beforeAll(async () => {
    [postgres, redis] = await Promise.all([openPostgresServer(), openRedisServer()]);
    base = await mkdtemp(join(tmpdir(), "maitred-migrate-"));
  }, 120_000);
  afterAll(async () => {
    await Promise.all([postgres.close(), redis.close()]);
    await rm(base, { recursive: true, force: true });
  });

  /** A directory, a schema and a prefix that nobody has used. */
  const place = () => {
    places += 1;
    const variables = { MEMORY_STORAGE_DIR: join(base, String(places)), DATABASE_SCHEMA: `m${places}`, REDIS_PREFIX: `m${places}` };
    return parseConfig({ ...variables, DATABASE_URL: postgres.url, REDIS_URL: redis.url });
  };
  type Place = ReturnType<typeof place>;

  async function opened<T>(config: Place, backend: StateBackend, work: (state: TransferableState) => Promise<T>): Promise<T> {
    const closers: (() => unknown)[] = [];
    const wiring = wiringOf(config, { logger: silentLogger }, (value, close) => {
      closers.unshift(() => close(value));
      return value;
    });
    try {
      return await work((await openState(wiring, backend)).state);
    } finally {
      for (const close of closers) await close();
    }
  }
  const run = (config: Place, from: StateBackend, to: StateBackend) =>
    migrateState(config, { from, to }, { logger: silentLogger, signal: new AbortController().signal });

  /** Something of everything that a store can hold. */
  async function fill({ journal, index, images, memoryLog, ledgers, tables }: TransferableState): Promise<void> {
    const records = new JournalRecords();
    const key = (turn: number) => ({ idempotency: { key: `key ${turn}`, request_hash: "h" } });
    const write = async (owner: Owner, id: string, added: Parameters<typeof journal.append>[2]) =>
      index.apply(owner, id, await journal.append(owner, id, added));
    const begin = async (owner: Owner, id: string, body = {}) =>
      index.apply(owner, id, await journal.create(owner, id, [records.session(owner, body)]));
    const [rewound, archived, emptied, failing, deleted, bobs] = Array.from({ length: 6 }, () => newId()) as [
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    await begin(ALICE, rewound, { title: "Mine \u0000 👩‍👧", external_id: "conv-1" });
    await write(ALICE, rewound, [...records.round(1, 2), records.summary(1, "old")]);
    await write(ALICE, rewound, [...records.round(2), records.summary(2, "new")]);
    await write(ALICE, rewound, [records.rewind(3, 6), records.user(3, "again")]);
    await write(ALICE, rewound, [records.assistant(3), records.plan(3)]);
    await images.put(ALICE, rewound, IMAGE, PNG);
    const image = { id: IMAGE, media_type: "image/png", bytes: PNG.byteLength };
    const fresh = { ...records.user(4, "look", { images: [image], ...key(4) }), at: new Date().toISOString() };
    await write(ALICE, rewound, [fresh, records.assistant(4)]);
    await begin(ALICE, archived);
    await write(ALICE, archived, [...records.round(1), records.done(1), records.patch({ tags: ["x"], topic: "t", by: "derived" })]);
    await write(ALICE, archived, [records.patch({ status: "archived", by: "user" })]);
    await journal.compress(ALICE, archived);
    await begin(ALICE, emptied);
    await write(ALICE, emptied, [...records.round(1), ...records.round(2)]);
    await index.remove(ALICE, emptied);
    await journal.rewrite(ALICE, emptied, (record) => (record.turn === 2 ? null : record));
    await index.apply(ALICE, emptied, await collected(journal.read(ALICE, emptied, { includeRewound: true })));
    await begin(ALICE, failing, { expires_at: "2030-01-01T00:00:00.000Z" });
    for (const turn of [1, 2, 3]) await write(ALICE, failing, records.round(turn));
    for (const turn of [1, 2]) await write(ALICE, failing, [records.done(turn, "failed", 5)]);
    await index.retryFailed(ALICE, failing);
    await write(ALICE, failing, [records.done(2, "failed", 6)]);
    await index.recordAttempt(ALICE, failing, 3, { attempts: 2, dueAtMs: Date.parse("2027-01-01"), errorCode: "INTERNAL" });
    await begin(BOB, deleted);
    await write(BOB, deleted, [records.patch({ status: "archived", by: "user" }), records.patch({ status: "deleted", by: "user" })]);
    // The same key as Alice's long ago, and Bob's own twice, a day and more apart: the older one in the newer session.
    await begin(BOB, bobs);
    await write(BOB, bobs, [records.user(1, "x", key(4)), records.assistant(1)]);
    const again = newId();
    await begin(BOB, again);
    await write(BOB, again, [{ ...records.user(1, "y", key(4)), at: new Date().toISOString() }, records.assistant(1)]);
    const large = newId();
    await begin(BOB, large);
    await write(BOB, large, Array.from({ length: 70 }, (_, turn) => records.round(turn + 1, 1)).flat());

    for (const [seq, text] of ["jazz", "opera"].entries())
      await memoryLog.append(ALICE, entryOf(text), { expectedSeq: seq, now: new Date(AT) });
    const tombstone = { memoryId: "m", messageIds: ["a"], textHash: "h", at: AT };
    const user = { displayName: "Alice", provider: null, timeZone: "Europe/Lisbon", firstSeenAt: AT, lastSeenAt: AT };
    const audit = { at: AT, action: "export", by: "user", receiptId: null, counts: { sessions: 1 } } as const;
    const receipt = { receipt_id: "r", completed_at: AT, erased: { sessions: 2 }, verified: true };
    const nothing = { tombstones: [], user: null, audit: [], progress: new Map(), receipts: [], epoch: 0, open: null };
    const hash = (name: string) => createHash("sha256").update(name).digest("hex");
    await ledgers.restore(hash(ALICE), {
      ...nothing,
      tombstones: [tombstone],
      user,
      audit: [audit],
      progress: new Map([["promote", "3"]]),
    });
    await ledgers.restore(hash("somebody who was erased"), { ...nothing, audit: [audit], receipts: [receipt], epoch: 2 });
    await ledgers.restore(hash(BOB), { ...nothing, epoch: 1, open: { owner: BOB, epoch: 1, at: AT } });
    for (const table of tables) await table.restore(ROWS[table.name] ?? []);
  }

  const offer = {
    event_id: "e-2026-03-14",
    title: "T",
    venue: "V",
    city: "C",
    starts_at: AT,
    section: "Bar",
    quantity: 2,
    total_cents: 10,
    companions: "[]",
    waived: "[]",
    created_at: AT,
  };
  const origin = { session_id: "s", turn: 1 };
  const ROWS: Readonly<Record<string, Parameters<TransferableState["tables"][number]["restore"]>[0]>> = {
    quotes: [{ ...offer, ...origin, id: "q", owner: ALICE, stop: "null", absent: "[]", mentioned: "[]", expires_at: AT, booking_id: "b" }],
    bookings: [
      {
        ...offer,
        ...origin,
        id: "b",
        owner: ALICE,
        call_id: "c",
        quote_id: "q",
        reference: "MD-1",
        status: "confirmed",
        holds_seats: 1,
        cancelled_at: null,
      },
      {
        ...offer,
        id: "anonymous",
        owner: null,
        session_id: null,
        turn: null,
        call_id: null,
        quote_id: null,
        reference: null,
        status: "confirmed",
        holds_seats: 1,
        cancelled_at: null,
      },
    ],
    happenings: [
      { owner: ALICE, seq: 1, booking_id: "b", kind: "booked", at: AT },
      { owner: BOB, seq: 1, booking_id: "anonymous", kind: "booked", at: AT },
    ],
    events: EVENTS.map(eventRowOf),
    "events that wait": EVENTS.slice(2).map(eventRowOf),
    "events given up": EVENTS.slice(0, 2).map((each) => ({ ...eventRowOf(each), attempts: 8, error: "HTTP_500", dead_since: AT })),
    "tokens by day": [
      { day: "2026-03-01", tenant: "default", tokens: 12 },
      { day: "2026-03-02", tenant: "a:b", tokens: 7 },
    ],
  };

  test("from each to each, everything arrives as it was, pending work and erased users' receipts included", async () => {
    const config = place();
    await opened(config, "file", fill);
    const expected = await run(config, "file", "postgres");
    expect(expected).toMatchObject({
      moved_sessions: 8,
      differences: [],
      left_behind: { damaged_records: 0, damaged_journals: 0, nameless_ledgers: 0 },
      source: { users: 2, sessions: 8, images: 1, memory_log_entries: 2, ledgers: 3 },
    });
    expect(expected.source.rows).toEqual({
      quotes: 1,
      bookings: 2,
      happenings: 2,
      events: 6,
      "events that wait": 4,
      "events given up": 2,
      "tokens by day": 2,
    });
    expect(expected.target).toEqual(expected.source);
    const fresh = (next: Partial<Place>) => ({ ...config, ...next }) as Place;
    const { MEMORY_STORAGE_DIR, REDIS_PREFIX, DATABASE_SCHEMA } = place();
    const rest: [Place, StateBackend, StateBackend][] = [
      [config, "postgres", "redis"],
      [fresh({ MEMORY_STORAGE_DIR }), "redis", "file"],
      [fresh({ MEMORY_STORAGE_DIR, REDIS_PREFIX }), "file", "redis"],
      [fresh({ REDIS_PREFIX, DATABASE_SCHEMA }), "redis", "postgres"],
      [fresh({ MEMORY_STORAGE_DIR: place().MEMORY_STORAGE_DIR, DATABASE_SCHEMA }), "postgres", "file"],
    ];
    for (const [where, from, to] of rest) {
      const report = await run(where, from, to);
      expect([from, to, report.differences]).toEqual([from, to, []]);
      expect(report.target).toEqual(expected.source);
    }
    await opened(rest[4]?.[0] ?? config, "file", async ({ index, journal, tables }) => {
      for (const { name, rows } of tables.filter((table) => table.name.startsWith("events")))
        for (const owner of [ALICE, BOB]) {
          const ofOwner = (row: Readonly<Record<string, unknown>>) => row.owner === owner;
          expect((await collected(rows())).filter(ofOwner)).toEqual(ROWS[name]?.filter(ofOwner));
        }
      const failing = await index.pendingOf(ALICE);
      expect(failing.map(({ turn, state, attempts }) => [turn, state, attempts])).toEqual(
        expect.arrayContaining([
          [1, "pending", 0],
          [2, "failed", 6],
          [3, "pending", 2],
        ]),
      );
      const found = await index.findByExternalId(ALICE, "conv-1");
      expect(found).toMatchObject({ title: "Mine \u0000 👩‍👧", summary: "old", message_count: 6 });
      const { rounds } = await journal.window(ALICE, found?.id ?? "", { rounds: 9 });
      expect(rounds.map(({ turn }) => turn)).toEqual([1, 3, 4]);
    });
  }, 240_000);

  test("broken off anywhere, the same again goes on: nothing is there twice, and nothing is missing", async () => {
    const config = place();
    await opened(config, "file", fill);
    const signal = new AbortController().signal;
    const moveWith = (around: (target: TransferableState) => Partial<TransferableState>) =>
      opened(config, "file", (source) =>
        opened(config, "postgres", (target) => migrate(source, { ...target, ...around(target) }, { signal, now: new Date() })),
      );
    const failing = <T extends object>(part: T, name: keyof T, at: number, instead: (...args: never[]) => Promise<void>): T => {
      let calls = 0;
      return new Proxy(part, {
        get(it, key) {
          const value: unknown = Reflect.get(it, key, it);
          if (typeof value !== "function") return value;
          return (...args: never[]) => {
            if (key === name) calls += 1;
            return key === name && calls === at ? instead(...args) : value.apply(it, args);
          };
        },
      });
    };
    const killed = new Error("killed");
    const halfARestore =
      (target: TransferableState) =>
      async (...[owner, id, records, end]: Parameters<typeof target.journal.restore>) => {
        const pieces = async function* () {
          let count = 0;
          for await (const record of records()) {
            yield record;
            count += 1;
            if (count === 2) return;
          }
        };
        await target.journal.restore(owner, id, pieces, end);
        throw killed;
      };
    for (const at of [1, 4])
      await expect(moveWith((target) => ({ journal: failing(target.journal, "restore", at, halfARestore(target) as never) }))).rejects.toBe(
        killed,
      );
    const refused = () => Promise.reject(killed);
    await expect(moveWith((target) => ({ index: failing(target.index, "apply", 2, refused) }))).rejects.toBe(killed);
    await expect(moveWith((target) => ({ ledgers: failing(target.ledgers, "restore", 2, refused) }))).rejects.toBe(killed);
    const report = await run(config, "file", "postgres");
    expect(report).toMatchObject({ moved_sessions: 0, differences: [] });
    expect(report.target).toEqual(report.source);
    expect(await run(config, "file", "postgres")).toMatchObject({ moved_sessions: 0, differences: [] });
  }, 120_000);

  test("a target that holds anything else is refused, and stays as it was", async () => {
    const config = place();
    const records = new JournalRecords();
    const id = newId();
    const began = async ({ journal }: TransferableState) => void (await journal.create(BOB, id, [records.session(BOB)]));
    await opened(config, "postgres", began);
    await expect(run(config, "file", "postgres")).rejects.toMatchObject({
      code: "TARGET_NOT_EMPTY",
      hint: expect.stringContaining("DATABASE_SCHEMA"),
    });
    const sessions = await opened(config, "postgres", ({ journal }) => collected(journal.list()));
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual([id]);
    await opened(config, "redis", async ({ tables }) => tables.at(-1)?.restore([{ day: "2026-03-01", tenant: "t", tokens: 1 }]));
    await expect(run(config, "postgres", "redis")).rejects.toMatchObject({ code: "TARGET_NOT_EMPTY" });
  });

  test.each(["postgres", "redis"] as const)(
    "not while a server uses %s, nor does one start while it is moved",
    async (backend) => {
      const config = place();
      const engine = {
        ...config,
        SHORT_TERM_BACKEND: backend,
        HISTORY_BACKEND: "none",
        MEMORY_STORAGE_DIR: await mkdtemp(join(base, "server-")),
      } as const;
      const server = await compose(engine);
      try {
        await expect(run(config, "file", backend)).rejects.toMatchObject({ code: "STORAGE_IN_USE" });
      } finally {
        await server.close({ drainMs: 0 });
      }
      await opened(config, backend, () => expect(compose(engine)).rejects.toMatchObject({ code: "STORAGE_IN_USE" }));
      expect(await run(config, "file", backend)).toMatchObject({ differences: [] });
    },
    60_000,
  );

  test("what can't be read in the source is told, and a difference is seen", async () => {
    const config = place();
    await opened(config, "file", fill);
    const report = await opened(config, "file", (source) =>
      opened(config, "redis", (target) => {
        // One that keeps what it is given, but for a word.
        const careless: TransferableState["memoryLog"]["restore"] = (owner, entries) =>
          target.memoryLog.restore(owner, async function* () {
            for await (const entry of entries()) yield { ...entry, at: "2020-01-01T00:00:00.000Z" };
          });
        const memoryLog = new Proxy(target.memoryLog, {
          get: (it, key) => {
            const value: unknown = key === "restore" ? careless : Reflect.get(it, key, it);
            return typeof value === "function" ? value.bind(it) : value;
          },
        });
        return migrate(source, { ...target, memoryLog }, { signal: new AbortController().signal, now: new Date() });
      }),
    );
    expect(report.differences).toEqual([`user ${ALICE}`]);
  });
});
