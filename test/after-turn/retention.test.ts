import { describe, expect, test } from "vitest";
import { type RetentionReport, runRetention } from "../../src/after-turn/retention.js";
import type { RetentionOf, RetentionPolicy } from "../../src/domain/lifecycle.js";
import { silentLogger } from "../../src/platform/logger.js";
import { sessionLockKey } from "../../src/ports/session-store.js";
import { alice, bob, makeWorld, memoryFrom, type World } from "../support/session-world.js";

const POLICY: RetentionPolicy = { activeDays: 30, archivedDays: 90, deletedDays: 30 };

function retain(
  world: World,
  options: {
    dryRun?: boolean;
    batch?: number;
    policyOf?: RetentionOf;
    policies?: readonly RetentionPolicy[];
    signal?: AbortSignal;
    onProgress?: (report: RetentionReport) => void;
  } = {},
): Promise<RetentionReport> {
  const { store, sessions, clock } = world;
  return runRetention({
    index: store.index,
    lapse: (owner, id, how, due) => sessions.lapse(owner, id, how, due),
    policyOf: () => POLICY,
    policies: [POLICY],
    batch: 2,
    now: clock.now(),
    dryRun: false,
    logger: silentLogger,
    ...options,
  });
}

const NOTHING = { dry_run: false, deleted: 0, purged: 0, busy: 0, failed: 0 };

describe("a retention run", () => {
  test("deletes what was not used for 30 days, purges it 30 days later, and its memories stay without their quotes", async () => {
    const world = await makeWorld();
    const { sessions, clock, longTerm, ledger } = world;
    const session = await sessions.create(alice, {});
    longTerm.kept.set(alice, [memoryFrom(session, "Loves jazz")]);
    clock.days(29);
    expect(await retain(world)).toEqual(NOTHING);
    clock.days(1);
    expect(await retain(world)).toEqual({ ...NOTHING, deleted: 1 });
    expect((await sessions.get(alice, session.id)).status).toBe("deleted");
    clock.days(29);
    expect(await retain(world)).toEqual(NOTHING);
    clock.days(1);
    expect(await retain(world)).toEqual({ ...NOTHING, purged: 1 });
    await expect(sessions.get(alice, session.id)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    expect(longTerm.kept.get(alice)).toMatchObject([{ text: "Loves jazz", source: { quote: "" } }]);
    expect(await ledger.auditTrail(alice)).toMatchObject([{ action: "purge_session", by: "retention" }]);
  });

  test("works through more than a batch, over all users and statuses, and leaves the rest alone", async () => {
    const world = await makeWorld();
    const { sessions, clock } = world;
    const old: string[] = [];
    for (const owner of [alice, bob]) for (let count = 0; count < 5; count += 1) old.push((await sessions.create(owner, {})).id);
    const archived = await sessions.create(alice, {});
    await sessions.patch(alice, archived.id, { status: "archived" });
    clock.days(30);
    const used = await sessions.create(alice, {});
    const expiring = await sessions.create(bob, { expiresInDays: 1 });
    const progress: number[] = [];
    expect(await retain(world, { onProgress: (report) => progress.push(report.deleted) })).toEqual({ ...NOTHING, deleted: 10 });
    expect(progress).toEqual([2, 4, 6, 8, 10]);
    clock.days(1);
    expect(await retain(world)).toEqual({ ...NOTHING, deleted: 1 });
    expect((await sessions.get(bob, expiring.id)).status).toBe("deleted");
    expect((await sessions.get(alice, used.id)).status).toBe("active");
    expect((await sessions.get(alice, archived.id)).status).toBe("archived");
    clock.days(30);
    expect(await retain(world)).toEqual({ ...NOTHING, deleted: 1, purged: 11 });
  });

  test("keeps a session that was made for longer than any other until its own days are over", async () => {
    const world = await makeWorld();
    const { sessions, clock } = world;
    const long = await sessions.create(alice, { expiresInDays: 400 });
    const usual = await sessions.create(alice, {});
    clock.days(399);
    expect(await retain(world)).toEqual({ ...NOTHING, deleted: 1 });
    expect((await sessions.get(alice, usual.id)).status).toBe("deleted");
    expect(await sessions.get(alice, long.id)).toMatchObject({ status: "active", expires_at: long.expires_at });
    clock.days(1);
    expect(await retain(world)).toMatchObject({ deleted: 1 });
    expect((await sessions.get(alice, long.id)).status).toBe("deleted");
  });

  test("restored after it lapsed, a session has its days again and the status that it had", async () => {
    const world = await makeWorld();
    const { sessions, clock } = world;
    const { id } = await sessions.create(alice, {});
    await sessions.patch(alice, id, { status: "archived" });
    clock.days(90);
    expect(await retain(world)).toMatchObject({ deleted: 1 });
    expect((await sessions.restore(alice, id)).status).toBe("archived");
    expect(await retain(world)).toEqual(NOTHING);
  });

  test("dry, says what it would do to every session and does nothing", async () => {
    const world = await makeWorld();
    const { sessions, clock } = world;
    const ids: string[] = [];
    for (let count = 0; count < 7; count += 1) ids.push((await sessions.create(alice, {})).id);
    clock.days(31);
    expect(await retain(world, { dryRun: true })).toEqual({ ...NOTHING, dry_run: true, deleted: 7 });
    for (const id of ids) expect((await sessions.get(alice, id)).status).toBe("active");
  });

  test("passes over a session that is in use, goes on with the others, and ends", async () => {
    const world = await makeWorld();
    const { sessions, store, clock } = world;
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) ids.push((await sessions.create(alice, {})).id);
    clock.days(31);
    const busy = ids[0] ?? "";
    const turn = await store.locks.acquire(sessionLockKey(alice, busy), { waitMs: 0 });
    expect(await retain(world)).toEqual({ ...NOTHING, deleted: 4, busy: 1 });
    await turn.release();
    expect(await retain(world)).toEqual({ ...NOTHING, deleted: 1 });
  });

  test("a session that can't be purged holds up no other", async () => {
    const world = await makeWorld();
    const { sessions, clock, history } = world;
    const ids: string[] = [];
    for (let count = 0; count < 4; count += 1) ids.push((await sessions.create(alice, {})).id);
    for (const id of ids) await sessions.delete(alice, id);
    clock.days(30);
    const { removeSession } = history;
    history.removeSession = async (owner, id) => {
      if (id === ids[1]) throw new Error("down");
      return removeSession(owner, id);
    };
    expect(await retain(world, { batch: 1 })).toEqual({ ...NOTHING, purged: 3, failed: 1 });
    history.removeSession = removeSession;
    expect(await retain(world)).toEqual({ ...NOTHING, purged: 1 });
  });

  test("does not touch a session that came back to life after it was looked at", async () => {
    const world = await makeWorld();
    const { sessions, clock, store } = world;
    const { id } = await sessions.create(alice, {});
    clock.days(31);
    const expiring = store.index.expiring.bind(store.index);
    store.index.expiring = async (query) => {
      const found = await expiring(query);
      if (found.length > 0) await world.say(alice, id, "I am back", "welcome");
      return found;
    };
    expect(await retain(world)).toEqual(NOTHING);
    expect((await sessions.get(alice, id)).status).toBe("active");
  });

  test("broken off, it has done what it has done, and the next goes on", async () => {
    const world = await makeWorld();
    const { sessions, clock } = world;
    for (let count = 0; count < 6; count += 1) await sessions.create(alice, {});
    clock.days(31);
    const controller = new AbortController();
    const broken = retain(world, { signal: controller.signal, onProgress: () => controller.abort() });
    await expect(broken).rejects.toThrow();
    expect((await sessions.list(alice, { status: "deleted" })).data).toHaveLength(2);
    expect(await retain(world)).toEqual({ ...NOTHING, deleted: 4 });
  });

  test("0 days keep sessions for ever", async () => {
    const world = await makeWorld();
    await world.sessions.create(alice, {});
    world.clock.days(10_000);
    const never = { activeDays: 0, archivedDays: 0, deletedDays: 0 };
    expect(await retain(world, { policyOf: () => never, policies: [never] })).toEqual(NOTHING);
  });
});
