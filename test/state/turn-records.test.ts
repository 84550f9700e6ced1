import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import { FIRST_TOKEN_BOUNDS_MS, firstTokenAt, quantile } from "../../src/domain/plots.js";
import type { TurnRecord } from "../../src/domain/turn-record.js";
import { systemClock } from "../../src/platform/clock.js";
import { newId } from "../../src/platform/ids.js";
import { silentLogger } from "../../src/platform/logger.js";
import { EngineConversationList } from "../../src/state/conversations/conversation-list.js";
import { EnginePlots } from "../../src/state/counters/plots.js";
import type { StateEngine } from "../../src/state/engine.js";
import { EngineImageStore } from "../../src/state/images/images.js";
import { EngineOwnerLedger } from "../../src/state/ledger/ledger.js";
import { engineSessionStore } from "../../src/state/sessions/sessions.js";
import { EngineTurnRecords } from "../../src/state/turn-records/turn-records.js";
import { needing } from "../support/needing.js";
import { TestClock } from "../support/session-world.js";
import { type EngineHome, EVERY_ENGINE } from "./engines/every-engine.js";

const ADA = ownerOf("default", "ada");
const BEN = ownerOf("acme", "ben");
const AT = "2026-03-01T09:00:00.000Z";

const RECORD: TurnRecord = {
  v: 1,
  at: AT,
  outcome: "completed",
  error_code: null,
  model: "m",
  incognito: false,
  memory_status: "ok",
  first_token_ms: 12,
  total_ms: 40,
  prompt_blocks: [{ name: "prompt", tokens: 10, chars: 40, cached: null, hash: "h" }],
  recalled: [{ id: "r", why: "own_need", score: null }],
  held_back: { idle: 1 },
  timings: [{ name: "window", started_ms: 0, duration_ms: 1 }],
};
const NOTHING = { turn: null, reading: null, writeBack: null };

function storesOver(engine: StateEngine) {
  const store = engineSessionStore(engine, { logger: silentLogger, clock: systemClock, images: new EngineImageStore(engine) });
  const ledger = new EngineOwnerLedger(engine);
  const records = new EngineTurnRecords(engine);
  const list = new EngineConversationList({
    engine,
    session: (owner, id) => store.index.listed(owner, id),
    begin: () => ({ end: () => {} }),
    logger: silentLogger,
  });
  const session = async (owner: Owner, at = AT) => {
    const id = newId();
    const body = { owner, external_id: null, metadata: {}, agent_type: "concierge" };
    await store.journal.create(owner, id, [{ type: "session", id: newId(), turn: 0, at, body }]);
    return id;
  };
  const told = async (owner: Owner, id: string) => {
    list.touched(owner, id);
    await list.settled();
    return id;
  };
  const active = async (owner: Owner, at: string, id?: string) => {
    if (id === undefined) return told(owner, await session(owner, at));
    const body = { role: "user", content: "Good evening." } as const;
    await store.journal.append(owner, id, [{ type: "message", id: newId(), turn: 1, at, body }]);
    return told(owner, id);
  };
  return { store, ledger, records, list, session, active };
}

for (const { name, program, home: openHome } of EVERY_ENGINE)
  (program === null ? describe : needing(program))(`for whoever runs the server, over ${name}`, () => {
    let home: EngineHome;
    beforeAll(async () => {
      home = await openHome();
    }, 60_000);
    afterAll(() => home.close());
    const over = async (work: (stores: ReturnType<typeof storesOver>, engine: StateEngine) => Promise<void>) => {
      const fresh = await home.fresh();
      const engine = await fresh.open();
      await work(storesOver(engine), engine).finally(() => fresh.dispose());
    };

    test("the parts of a turn's record are kept by themselves, and are their owner's", () =>
      over(async ({ records, session }) => {
        const id = await session(ADA);
        await records.put(ADA, id, new Map([[1, { turn: RECORD }]]));
        await records.put(ADA, id, new Map([[1, { reading: { v: 1, proposals: [] } }]]));
        expect(await records.get(ADA, id, 1)).toEqual({ turn: RECORD, reading: { v: 1, proposals: [] }, writeBack: null });
        expect(await records.get(ADA, id, 2)).toEqual(NOTHING);
        expect(await records.get(BEN, id, 1)).toEqual(NOTHING);
      }));

    test("[operator-sees-what-happened] a purge and an erasure take them, and what comes late is not kept", () =>
      over(async ({ records, session, store, ledger }) => {
        const [purged, other] = [await session(ADA), await session(ADA)];
        for (const id of [purged, other]) await records.put(ADA, id, new Map([[1, { turn: RECORD }]]));
        await store.journal.remove(ADA, purged);
        await store.index.remove(ADA, purged);
        await records.put(ADA, purged, new Map([[2, { turn: RECORD }]]));
        expect(await records.residue(ADA)).toBe(1);
        expect(await records.get(ADA, purged, 1)).toEqual(NOTHING);
        expect((await records.get(ADA, other, 1)).turn).toEqual(RECORD);
        await ledger.beginErasure(ADA, AT);
        expect(await records.erase(ADA)).toBe(1);
        expect(await records.residue(ADA)).toBe(0);
      }));

    test("a record that is too long is cut, and can be read", () =>
      over(async ({ records, session }) => {
        const id = await session(ADA);
        const timings = Array.from({ length: 2_000 }, (_, place) => ({ name: "tool".repeat(20), started_ms: place, duration_ms: 1 }));
        await records.put(ADA, id, new Map([[1, { turn: { ...RECORD, timings } }]]));
        expect((await records.get(ADA, id, 1)).turn?.timings).toHaveLength(20);
      }));

    test("[operator-sees-what-happened] conversations of all are listed by their last activity, each once, a page at a time", () =>
      over(async ({ list, active }) => {
        const ids: string[] = [];
        for (let minute = 0; minute < 7; minute++) ids.push(await active(minute % 2 === 0 ? ADA : BEN, `2026-03-01T09:0${minute}:00.000Z`));
        await active(ADA, "2026-03-01T10:00:00.000Z", ids[0]);
        const expected = [ids[0], ...ids.slice(1).reverse()];
        const found: string[] = [];
        for (let cursor: string | undefined; ; ) {
          const page = await list.list({ limit: 3, ...(cursor !== undefined && { cursor }) });
          found.push(...page.data.map(({ sessionId }) => sessionId));
          if (page.nextCursor === null) break;
          cursor = page.nextCursor;
        }
        expect(found).toEqual(expected);
        const ofTenant = await list.list({ tenant: "acme", limit: 10 });
        expect(ofTenant.data.map(({ owner }) => owner)).toEqual([BEN, BEN, BEN]);
        const ofUser = await list.list({ user: "ada", limit: 10, from: "2026-03-01T09:02:00.000Z", to: "2026-03-01T09:05:00.000Z" });
        expect(ofUser.data.map(({ sessionId }) => sessionId)).toEqual([ids[4], ids[2]]);
        await expect(list.list({ limit: 3, cursor: "t/../x" })).rejects.toMatchObject({ code: "INVALID_CURSOR" });
      }));

    test("what a conversation's turns came to is told, filtered by, and gone with its owner or its session", () =>
      over(async ({ list, active, store }) => {
        const [failed, other] = [await active(ADA, AT), await active(BEN, AT)];
        list.touched(ADA, failed, { turn: 2, ended: { memoryStatus: "timeout", failed: true } });
        await list.settled();
        const of = async (query: Omit<Parameters<typeof list.list>[0], "limit">) =>
          (await list.list({ ...query, limit: 10 })).data.map(({ sessionId }) => sessionId);
        expect(await of({ failed: true })).toEqual([failed]);
        expect(await of({ failed: false })).toEqual([other]);
        expect(await of({ memoryStatus: "timeout" })).toEqual([failed]);
        expect(await of({ minCost: 0.01 })).toEqual([]);
        expect(await list.notes(ADA, failed)).toMatchObject({ failed: 1, turns: 2, memory_status: "timeout", cost: 0 });
        expect([await list.erase(ADA), await list.residue(ADA), await of({})]).toEqual([1, 0, [other]]);
        await store.journal.remove(BEN, other);
        await store.index.remove(BEN, other);
        list.touched(BEN, other);
        await list.settled();
        expect(await of({})).toEqual([]);
      }));

    test("sums of several processes are added up by hour and tenant", () =>
      over(async (_, engine) => {
        const clock = new TestClock(AT);
        const processes = [new EnginePlots(engine, clock), new EnginePlots(engine, clock)];
        for (const plots of processes) plots.add("acme", { turns: 1, cost: 0.1, costByModel: { big: 0.1 }, firstToken: firstTokenAt(25) });
        await Promise.all(processes.map((plots) => plots.close()));
        const plots = new EnginePlots(engine, clock);
        expect(await plots.between("2026-03-01T09", "2026-03-01T10")).toMatchObject([
          { period: "2026-03-01T09", tenant: "acme", sums: { turns: 2, cost: 0.2, costByModel: { big: 0.2 }, firstToken: [0, 2] } },
        ]);
        expect(await plots.between("2026-03-01T10", "2026-03-01T11")).toEqual([]);
        expect(await plots.first()).toBe("2026-03-01T09");
        clock.days(1);
        plots.add("acme", { turns: 3 });
        plots.add(null, { erasures: 1 });
        expect(await plots.between("2026-03-01", "2026-03-03", "day")).toMatchObject([
          { period: "2026-03-01", tenant: "acme", sums: { turns: 2, cost: 0.2 } },
          { period: "2026-03-02", tenant: null, sums: { erasures: 1 } },
          { period: "2026-03-02", tenant: "acme", sums: { turns: 3 } },
        ]);
        expect(await plots.first("day")).toBe("2026-03-01");
        // What is older than what is kept goes, hours and days.
        clock.days(40);
        plots.add("acme", { turns: 1 });
        expect([await plots.first(), await plots.first("day")]).toEqual(["2026-04-11T09", "2026-04-11"]);
      }));
  });

test("[unknown-is-null] a quantile of nothing is unknown; of something it lies within its bounds", () => {
  expect(quantile([], 0.5)).toBeNull();
  const counts = firstTokenAt(100);
  expect(quantile(counts, 0.5)).toBeGreaterThan(FIRST_TOKEN_BOUNDS_MS[counts.length - 2] ?? 0);
  expect(quantile(counts, 0.95)).toBeLessThanOrEqual(FIRST_TOKEN_BOUNDS_MS[counts.length - 1] ?? 0);
  expect(quantile(firstTokenAt(10_000_000), 0.5)).toBe(FIRST_TOKEN_BOUNDS_MS.at(-1));
});
