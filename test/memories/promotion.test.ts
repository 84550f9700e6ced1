import { describe, expect, test } from "vitest";
import type { Memory } from "../../src/domain/memory.js";
import { memoryIdOf, type Owner } from "../../src/domain/owner.js";
import type { RecallStatus } from "../../src/domain/session.js";
import { Promotion } from "../../src/memories/promotion.js";
import { newId } from "../../src/platform/ids.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { LongTermMemory, TurnToRemember } from "../../src/ports/memories.js";
import type { PendingTurn } from "../../src/ports/session-store.js";
import { alice, bob, makeWorld, strict } from "../support/session-world.js";

const signal = new AbortController().signal;

async function makePromotion(options: { readonly failAt?: string; readonly batch?: number } = {}) {
  const world = await makeWorld();
  const extracted: TurnToRemember[] = [];
  const stored = new Set<string>();
  const failing = { at: options.failAt };
  const again: PendingTurn[] = [];
  const longTerm = strict<LongTermMemory>("longTerm", {
    remember: async (owner, turn) => {
      if (turn.text === failing.at) throw new Error("no model");
      extracted.push(turn);
      const id = memoryIdOf(owner, turn.session_id, turn.message_id, 0);
      stored.add(id);
      const memory = { id, status: "active", source: { message_id: turn.message_id } } as Memory;
      return { memories: [memory], to_confirm: [], forgotten: [], off_record: null, dropped: {} };
    },
    remembered: async (owner, messageId) => {
      const memory = { id: memoryIdOf(owner, "", messageId, 0), status: "active", source: { message_id: messageId } } as Memory;
      return { memories: [memory], to_confirm: [], forgotten: [], off_record: null, dropped: {} };
    },
  });
  const endTurn = async (owner: Owner, sessionId: string, turn: number, status: "stored" | "failed") => {
    const body = { status, memory_ids: [], attempts: 8, ...(status === "failed" && { error_code: "MODEL_UNAVAILABLE" }) };
    const at = world.clock.now().toISOString();
    await world.writer.append(owner, sessionId, [{ type: "write_back_done", id: newId(), turn, at, body }]);
  };
  const writeBack = async (turn: PendingTurn) => {
    if (failing.at === `turn ${turn.turn}`) throw new Error("no model");
    again.push(turn);
    await endTurn(turn.owner, turn.sessionId, turn.turn, "stored");
  };
  const { store, ledger, registry, clock } = world;
  const promotion = new Promotion(
    { store, longTerm, writeBack, ledger, gate: registry, clock, logger: silentLogger },
    { batch: options.batch ?? 20, contextMessages: 2 },
  );
  return Object.assign(world, { promotion, extracted, stored, failing, again, endTurn });
}

function answeredWith(status: RecallStatus, writeBack: "pending" | "disabled") {
  return { memory: { status, write_back: writeBack, to_confirm: [], recalled: [] } };
}

const OFF = { assistant: answeredWith("disabled", "pending") };
const IMPORTED = { user: { imported: true }, assistant: { imported: true } };

describe("promotion", () => {
  test("looks at the user's own words of imports and of turns from when long-term memory was off, and at nothing else", async () => {
    const world = await makePromotion();
    const { sessions, say, writer, clock, extracted } = world;
    const { id } = await sessions.create(alice, {});
    await say(alice, id, "imported", "the assistant said this", IMPORTED);
    await say(alice, id, "memory was off", "ok", OFF);
    await say(alice, id, "live", "ok", { assistant: answeredWith("ok", "pending") });
    await say(alice, id, "kept out", "ok", { ...OFF, remember: false });
    await say(alice, id, "broke off", "o", { ...OFF, outcome: "interrupted" });
    await writer.append(alice, id, [
      {
        type: "message",
        id: "sys",
        turn: 6,
        at: clock.now().toISOString(),
        body: { role: "system", content: "system line", imported: true },
      },
    ]);
    const incognito = await sessions.create(alice, { metadata: { incognito: true } });
    await say(alice, incognito.id, "incognito", "ok", OFF);
    const gone = await sessions.create(alice, {});
    await say(alice, gone.id, "deleted", "ok", OFF);
    await sessions.delete(alice, gone.id);
    const messages = (await sessions.messages(alice, id, {})).data;
    await sessions.fork(alice, id, messages[0]?.id ?? "");

    const report = await world.promotion.run({ signal });
    expect(extracted.map(({ text }) => text)).toEqual(["imported", "memory was off"]);
    expect(report).toEqual({ sessions: 1, messages: 2, stored: 2, confirmed: 0, failed_sessions: 0 });
    expect(extracted[1]).toMatchObject({
      session_id: id,
      turn: 2,
      message_id: messages[2]?.id,
      context: [
        { role: "user", content: "imported" },
        { role: "assistant", content: "the assistant said this" },
      ],
    });
  });

  test("done, looks at nothing again; a session that grew goes on where it ended", async () => {
    const { sessions, say, promotion, extracted } = await makePromotion();
    const { id } = await sessions.create(alice, {});
    await say(alice, id, "one", "ok", IMPORTED);
    await promotion.run({ signal });
    expect(await promotion.run({ signal })).toMatchObject({ sessions: 0, messages: 0 });
    await say(alice, id, "two", "ok", IMPORTED);
    await promotion.run({ signal });
    expect(extracted.map(({ text }) => text)).toEqual(["one", "two"]);
  });

  test("broken off, goes on from its last mark, and what is done twice is stored once", async () => {
    const { sessions, say, promotion, extracted, stored, failing } = await makePromotion({ failAt: "four", batch: 2 });
    const { id } = await sessions.create(alice, {});
    for (const text of ["one", "two", "three", "four", "five"]) await say(alice, id, text, "ok", IMPORTED);
    const other = await sessions.create(bob, {});
    await say(bob, other.id, "bob's", "ok", IMPORTED);
    expect(await promotion.run({ signal })).toMatchObject({ failed_sessions: 1, sessions: 1 });
    expect(extracted.map(({ text }) => text).toSorted()).toEqual(["bob's", "one", "three", "two"]);

    failing.at = undefined;
    extracted.length = 0;
    expect(await promotion.run({ signal })).toMatchObject({ failed_sessions: 0, messages: 3 });
    expect(extracted.map(({ text }) => text)).toEqual(["three", "four", "five"]);
    expect(stored.size).toBe(6);
  });

  test("[write-back-visible] reads what was given up, also behind its own mark, and reads it once", async () => {
    const { sessions, say, promotion, extracted, again, endTurn, store } = await makePromotion();
    const { id } = await sessions.create(alice, {});
    await say(alice, id, "I am allergic to nuts.", "ok", { assistant: answeredWith("ok", "pending") });
    await say(alice, id, "memory was off", "ok", OFF);
    expect(await promotion.run({ signal }), "what is pending is the write-back's").toMatchObject({ messages: 1 });
    await endTurn(alice, id, 1, "failed");
    expect(await promotion.run({ signal })).toEqual({ sessions: 1, messages: 1, stored: 1, confirmed: 0, failed_sessions: 0 });
    expect(again).toMatchObject([{ owner: alice, sessionId: id, turn: 1, attempts: 8 }]);
    expect(await store.turns.counts()).toMatchObject({ failed: 0 });
    expect(await promotion.run({ signal })).toMatchObject({ messages: 0 });
    expect([again.length, extracted.length]).toEqual([1, 1]);
  });

  test("[write-back-visible] what fails once more stays failed, is told, and keeps nothing from what follows it", async () => {
    const { sessions, say, promotion, extracted, failing, again, endTurn, store } = await makePromotion({ failAt: "turn 1" });
    const { id } = await sessions.create(alice, {});
    for (const text of ["one", "two"]) await say(alice, id, text, "ok", { assistant: answeredWith("ok", "pending") });
    await say(alice, id, "memory was off", "ok", OFF);
    for (const turn of [1, 2]) await endTurn(alice, id, turn, "failed");
    expect(await promotion.run({ signal })).toMatchObject({ messages: 2, failed_sessions: 1 });
    expect(again.map(({ turn }) => turn)).toEqual([2]);
    expect(extracted.map(({ text }) => text)).toEqual(["memory was off"]);
    expect(await store.turns.counts()).toMatchObject({ failed: 1 });

    failing.at = undefined;
    expect(await promotion.run({ signal })).toMatchObject({ messages: 1, failed_sessions: 0 });
    expect(again.map(({ turn }) => turn)).toEqual([2, 1]);
  });

  test("of one owner leaves the others alone", async () => {
    const { sessions, say, promotion, extracted } = await makePromotion();
    for (const owner of [alice, bob]) await say(owner, (await sessions.create(owner, {})).id, `of ${owner}`, "ok", IMPORTED);
    await promotion.run({ owner: bob, signal });
    expect(extracted.map(({ text }) => text)).toEqual([`of ${bob}`]);
  });

  test("aborted, stops at once", async () => {
    const { sessions, say, promotion, extracted } = await makePromotion();
    await say(alice, (await sessions.create(alice, {})).id, "one", "ok", IMPORTED);
    await expect(promotion.run({ signal: AbortSignal.abort() })).rejects.toThrow();
    expect(extracted).toEqual([]);
  });
});
