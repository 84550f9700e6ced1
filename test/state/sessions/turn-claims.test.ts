import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { NewRecord } from "../../../src/domain/session.js";
import { newId } from "../../../src/platform/ids.js";
import { silentLogger } from "../../../src/platform/logger.js";
import { prefixRange, type StateEngine } from "../../../src/state/engine.js";
import { MemoryEngine } from "../../../src/state/engines/memory/memory-engine.js";
import { SqliteEngine } from "../../../src/state/engines/sqlite/sqlite-engine.js";
import { EngineImageStore } from "../../../src/state/images/images.js";
import { EngineOwnerLedger } from "../../../src/state/ledger/ledger.js";
import { ownerPartition } from "../../../src/state/partition.js";
import { engineSessionStore } from "../../../src/state/sessions/sessions.js";
import { TurnJobs } from "../../../src/state/sessions/turn-jobs.js";
import { ALICE, JournalRecords } from "../../support/journal-records.js";
import { TestClock } from "../../support/session-world.js";

const LEASE_MS = 15_000;
const AT = "2026-07-01T12:00:00.000Z";

const ENGINES = {
  memory: async (clock: TestClock) => new MemoryEngine({ clock }),
  SQLite: async (clock: TestClock) => {
    const dir = mkdtempSync(join(tmpdir(), "maitred-claims-"));
    const engine = await SqliteEngine.open({ path: join(dir, "state.db"), clock });
    onTestFinished(async () => {
      await engine.close();
      rmSync(dir, { recursive: true });
    });
    return engine;
  },
};

describe.each(Object.entries(ENGINES))("claims on turns of a process that has its engine to itself: %s", (_name, open) => {
  async function worldOf() {
    const clock = new TestClock("2027-01-01T00:00:00.000Z");
    const engine: StateEngine = await open(clock);
    const store = engineSessionStore(engine, { logger: silentLogger, clock, images: new EngineImageStore(engine) });
    const records = new JournalRecords();
    const sessionId = newId();
    const say = async (turn: number, ...more: readonly NewRecord[]) =>
      store.index.apply(ALICE, sessionId, await store.journal.append(ALICE, sessionId, [...records.round(turn), ...more]));
    await store.index.apply(ALICE, sessionId, await store.journal.create(ALICE, sessionId, [records.session(ALICE)]));
    await say(1);
    const later = () => clock.now().getTime() + 3_600_000;
    const claimed = async (turns = store.turns) => (await turns.claim(later(), 5, { leaseMs: LEASE_MS }))[0];
    return { clock, engine, records, turns: store.turns, sessionId, say, later, claimed };
  }

  test("are written nowhere: not when a turn is taken, nor when its claim is renewed or let go", async () => {
    const { engine, turns, claimed } = await worldOf();
    const commit = vi.spyOn(engine, "commit");
    const turn = await claimed();
    if (turn === undefined) throw new Error("nothing was claimed");
    const claim = await turns.renew(turn, LEASE_MS);
    await turns.letGo({ ...turn, claim: claim ?? "" });
    expect(await claimed()).toMatchObject({ turn: 1 });
    expect(commit).not.toHaveBeenCalled();
  });

  test("nobody else is given the turn until its lease ends or it is let go; who was late can neither renew nor let go", async () => {
    const { clock, turns, claimed } = await worldOf();
    const first = await claimed();
    if (first === undefined) throw new Error("nothing was claimed");
    clock.seconds(14);
    expect(await claimed()).toBeUndefined();
    clock.seconds(2);
    const second = await claimed();
    expect(second).toMatchObject({ turn: 1 });
    expect(await turns.renew(first, LEASE_MS)).toBeNull();
    await turns.letGo(first);
    expect(await claimed()).toBeUndefined();
    if (second !== undefined) await turns.letGo(second);
    expect(await claimed()).toMatchObject({ turn: 1 });
  });

  test("two that look at the same time are not given the same turn", async () => {
    const { claimed } = await worldOf();
    const given = await Promise.all([claimed(), claimed(), claimed()]);
    expect(given.filter((turn) => turn !== undefined)).toHaveLength(1);
  });

  test("are gone with the process: the next one is given the turn at once", async () => {
    const { engine, claimed } = await worldOf();
    expect(await claimed()).toMatchObject({ turn: 1 });
    expect(await claimed(new TurnJobs(engine))).toMatchObject({ turn: 1 });
  });

  test("an attempt that failed lets go; the one who had the turn changes nothing of it then", async () => {
    const { clock, turns, later, claimed } = await worldOf();
    const first = await claimed();
    if (first === undefined) throw new Error("nothing was claimed");
    await turns.recordAttempt(first, { attempts: 1, dueAtMs: clock.now().getTime(), errorCode: "INTERNAL" });
    expect(await turns.renew(first, LEASE_MS)).toBeNull();
    const second = await claimed();
    expect(second).toMatchObject({ attempts: 1 });
    await turns.recordAttempt(first, { attempts: 9, dueAtMs: later(), errorCode: "INTERNAL", claim: first.claim ?? null });
    expect(await turns.of(ALICE)).toMatchObject([{ attempts: 1 }]);
  });

  test("a turn that is taken while somebody else sets when it is due stays with who has it, or is not taken", async () => {
    const { engine, clock, turns, claimed } = await worldOf();
    const commit = engine.commit.bind(engine);
    const taken: unknown[] = [];
    const writing = vi.spyOn(engine, "commit").mockImplementation(async (...given) => {
      writing.mockRestore();
      taken.push(await claimed());
      return commit(...given);
    });
    await turns.recordAttempt((await turns.of(ALICE))[0] ?? { owner: ALICE, sessionId: "", turn: 0 }, {
      ...{ attempts: 0, dueAtMs: clock.now().getTime(), errorCode: "LEFT_TO_READ", claim: null },
    });
    taken.push(await claimed());
    expect(taken.filter((turn) => turn !== undefined)).toHaveLength(1);
  });

  test("of an owner whose erasure begins while it is looked, nothing is taken, and no claim is renewed", async () => {
    const { engine, turns, claimed } = await worldOf();
    const ledger = new EngineOwnerLedger(engine);
    const read = engine.read.bind(engine);
    const looks = vi.spyOn(engine, "read").mockImplementation(async (partition, query, options) => {
      const found = await read(partition, query, options);
      if (partition === ownerPartition(ALICE) && query.ranges?.some(({ from }) => from.startsWith("job/"))) {
        looks.mockRestore();
        await ledger.beginErasure(ALICE, AT);
      }
      return found;
    });
    expect(await claimed()).toBeUndefined();
    await turns.unclaimed(ALICE, { signal: AbortSignal.timeout(10_000) });
  });

  test("where one commit has no room for all that ends, the alarm stays until the rest is gone", async () => {
    const { engine, records, say } = await worldOf();
    for (let turn = 2; turn <= 70; turn++) await say(turn);
    const commit = engine.commit.bind(engine);
    const left = vi.spyOn(engine, "commit").mockImplementation(async (partition, given) => {
      if (given.puts === undefined) throw new Error("killed before what was left is deleted");
      return commit(partition, given);
    });
    await say(71, ...Array.from({ length: 71 }, (_, turn) => records.done(turn + 1)));
    left.mockRestore();
    const { dueAtMs, ranges } = await engine.read(ownerPartition(ALICE), { ranges: [prefixRange("job/")] });
    expect(ranges[0]).not.toEqual([]);
    expect(dueAtMs).not.toBeNull();
  });

  test("a turn that ends takes its alarm along, and leaves that of the one behind it", async () => {
    const { engine, records, sessionId, say, claimed } = await worldOf();
    const alarm = async () => (await engine.read(ownerPartition(ALICE), {})).dueAtMs;
    expect(await claimed()).toMatchObject({ sessionId, turn: 1 });
    await say(2, records.done(1));
    expect(await alarm()).not.toBeNull();
    expect(await claimed()).toMatchObject({ sessionId, turn: 2 });
    await say(3, records.done(2));
    await say(4, records.done(3), records.done(4));
    expect(await claimed()).toBeUndefined();
    expect(await alarm()).toBeNull();
  });
});
