import { describe, expect, test } from "vitest";
import type { Owner } from "../../src/domain/owner.js";
import { AppError } from "../../src/platform/errors.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { DomainRecords } from "../../src/ports/agent.js";
import { type ErasableStore, PrivacyService } from "../../src/privacy/privacy.js";
import { alice, bob, makeWorld, memoryFrom, strict, type World } from "../support/session-world.js";

interface Erasing extends World {
  readonly privacy: PrivacyService;
  readonly booked: Map<Owner, number>;
  readonly cached: Map<Owner, number>;
  readonly held: string[];
}

async function makeErasing(options: { readonly hold?: (owner: Owner) => Promise<() => void> } = {}): Promise<Erasing> {
  const world = await makeWorld();
  const booked = new Map<Owner, number>();
  const cached = new Map<Owner, number>();
  const held: string[] = [];
  const counted = (kept: Map<Owner, number>) => ({
    erase: async (owner: Owner) => {
      const count = kept.get(owner) ?? 0;
      kept.delete(owner);
      return count;
    },
    residue: async (owner: Owner) => kept.get(owner) ?? 0,
  });
  const cache: ErasableStore = {
    name: "cache",
    erase: async (owner) => ({ cached: await counted(cached).erase(owner) }),
    residue: counted(cached).residue,
  };
  const { store, history, longTerm, ledger, clock } = world;
  const privacy = new PrivacyService({
    store,
    history,
    longTerm: longTerm.port,
    records: strict<DomainRecords>("bookings", { name: "bookings", ...counted(booked) }),
    ledger,
    others: [cache],
    hold:
      options.hold ??
      (async () => {
        held.push("hold");
        return () => held.push("release");
      }),
    locks: store.locks,
    clock,
    logger: silentLogger,
  });
  return Object.assign(world, { privacy, booked, cached, held });
}

async function fill(world: Erasing, owner: Owner): Promise<string> {
  const session = await world.sessions.create(owner, {});
  await world.say(owner, session.id, "I love jazz", "noted", { user: { idempotency: { key: "k", request_hash: "h" } } });
  await world.history.addEvents(owner, [
    {
      message_id: "h",
      session_id: session.id,
      turn: 1,
      position: 0,
      role: "user",
      name: null,
      content: "I love jazz",
      channel: "api",
      created_at: session.created_at,
    },
  ]);
  world.longTerm.kept.set(owner, [memoryFrom(session, "Loves jazz")]);
  world.booked.set(owner, 3);
  world.cached.set(owner, 1);
  return session.id;
}

describe("an erasure", () => {
  test("takes everything of its user out of every store, looks, and says what went", async () => {
    const world = await makeErasing();
    await fill(world, alice);
    const kept = await fill(world, bob);
    const receipt = await world.privacy.erase(alice, { by: "user" });

    expect(receipt).toMatchObject({
      verified: true,
      erased: {
        sessions: 1,
        messages: 2,
        memories: 1,
        memory_history_entries: 1,
        history_entries: 1,
        bookings: 3,
        cached: 1,
        idempotency_keys: 1,
        pending_write_backs: 1,
      },
    });
    expect(receipt).not.toHaveProperty("residue");
    expect((await world.sessions.list(alice, {})).data).toEqual([]);
    expect(await world.ledger.receipts(alice)).toEqual([receipt]);
    expect(await world.ledger.openErasures()).toEqual([]);
    expect(world.held).toEqual(["hold", "release"]);
    expect(await world.ledger.auditTrail(alice)).toMatchObject([{ action: "erase", by: "user", receiptId: receipt.receipt_id }]);
    expect((await world.sessions.get(bob, kept)).message_count).toBe(2);
    expect(world.longTerm.kept.get(bob)).toHaveLength(1);
    expect(world.history.entries(bob)).toHaveLength(1);
  });

  test("can be repeated: the second finds nothing and has a receipt of its own", async () => {
    const world = await makeErasing();
    await fill(world, alice);
    const first = await world.privacy.erase(alice, { by: "user" });
    const second = await world.privacy.erase(alice, { by: "user" });
    expect(second.receipt_id).not.toBe(first.receipt_id);
    expect(Object.values(second.erased).every((count) => count === 0)).toBe(true);
    expect(second.verified).toBe(true);
  });

  test("asked for twice at once is one erasure", async () => {
    const world = await makeErasing();
    await fill(world, alice);
    const [first, second] = await Promise.all([world.privacy.erase(alice, { by: "user" }), world.privacy.erase(alice, { by: "user" })]);
    expect(second).toEqual(first);
    expect(world.held).toEqual(["hold", "release"]);
  });

  test.each(["memories", "history", "bookings", "cache", "journal", "index"])(
    "is not verified when something is left in: %s",
    async (name) => {
      const world = await makeErasing();
      await fill(world, alice);
      const { longTerm, history, booked, cached, store } = world;
      const nothing = async () => ({ sessions: 0, messages: 0, idempotencyKeys: 0, pendingTurns: 0 });
      // Each store in turn says that it has erased, and has not.
      const plant: Record<string, () => unknown> = {
        memories: () => Object.assign(longTerm.port, { erase: async () => ({ memories: 1, history_entries: 0 }) }),
        history: () => Object.assign(history, { erase: async () => 1 }),
        bookings: () => Object.assign(booked, { delete: () => true }),
        cache: () => Object.assign(cached, { delete: () => true }),
        journal: () => Object.assign(store.journal, { erase: nothing }),
        index: () => Object.assign(store.index, { erase: nothing }),
      };
      plant[name]?.();
      const receipt = await world.privacy.erase(alice, { by: "user" });
      expect(receipt.verified).toBe(false);
      expect(Object.keys(receipt.residue ?? {})).toEqual([name]);
      expect(receipt.residue?.[name]).toBeGreaterThan(0);
    },
  );

  test("that a store is out of reach for stays open, lets work in again, and is finished at the next start under the same receipt", async () => {
    const world = await makeErasing();
    await fill(world, alice);
    const erase = world.history.erase;
    world.history.erase = async () => {
      throw new AppError("HISTORY_UNAVAILABLE");
    };
    await expect(world.privacy.erase(alice, { by: "user" })).rejects.toMatchObject({ code: "HISTORY_UNAVAILABLE" });
    expect(world.held).toEqual(["hold", "release"]);
    const [open] = await world.ledger.openErasures();
    expect(open?.owner).toBe(alice);
    expect(await world.privacy.resume()).toBe(0);
    expect(await world.ledger.openErasures()).toHaveLength(1);

    world.history.erase = erase;
    expect(await world.privacy.resume()).toBe(1);
    expect(await world.ledger.openErasures()).toEqual([]);
    expect(await world.ledger.receipts(alice)).toMatchObject([{ receipt_id: open?.receiptId, verified: true }]);
    expect((await world.sessions.list(alice, {})).data).toEqual([]);
  });

  test("that died between its audit entry and its receipt is noted once", async () => {
    const world = await makeErasing();
    const complete = world.ledger.completeErasure.bind(world.ledger);
    world.ledger.completeErasure = async () => {
      throw new Error("killed");
    };
    await expect(world.privacy.erase(alice, { by: "user" })).rejects.toThrow("killed");
    world.ledger.completeErasure = complete;
    expect(await world.privacy.resume()).toBe(1);
    expect(await world.ledger.auditTrail(alice)).toHaveLength(1);
  });

  test("while work runs for the user: it ends first, and its words go too; new work is refused until it is done", async () => {
    let begun: () => void = () => {};
    const running = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const world: Erasing = await makeErasing({ hold: (owner) => world.registry.hold(owner) });
    const id = await fill(world, alice);
    // Work in the middle of a session that, aborted, still writes what it has.
    const turn = (async () => {
      const work = world.registry.begin(alice);
      begun();
      await new Promise((resolve) => work.signal.addEventListener("abort", resolve, { once: true }));
      await world.say(alice, id, "my secret", "half an", { outcome: "interrupted" });
      work.end();
    })();
    await running;
    const erasing = world.privacy.erase(alice, { by: "user" });
    await turn;
    const receipt = await erasing;
    expect(receipt).toMatchObject({ verified: true, erased: { messages: 4 } });
    expect(await world.store.journal.residue(alice)).toBe(0);
    await expect(world.sessions.get(alice, id)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    expect((await world.sessions.create(alice, {})).status).toBe("active");
  });

  test("refuses changes to sessions while it is under way", async () => {
    const world: Erasing = await makeErasing({ hold: (owner) => world.registry.hold(owner) });
    const id = await fill(world, alice);
    const refused: unknown[] = [];
    const erase = world.history.erase;
    world.history.erase = async (owner) => {
      for (const attempt of [() => world.sessions.create(alice, {}), () => world.sessions.patch(alice, id, { title: "x" })]) {
        await attempt().catch((error: AppError) => refused.push(error.code));
      }
      return erase(owner);
    };
    await world.privacy.erase(alice, { by: "user" });
    expect(refused).toEqual(["OWNER_ERASED", "OWNER_ERASED"]);
  });

  test("passes over stores that are switched off and have nothing of before", async () => {
    const world = await makeErasing();
    await fill(world, alice);
    world.longTerm.port.erase = async () => {
      throw new AppError("LONG_TERM_MEMORY_DISABLED");
    };
    world.longTerm.port.residue = world.longTerm.port.erase as never;
    expect(await world.privacy.erase(alice, { by: "user" })).toMatchObject({ verified: true });
  });
});
