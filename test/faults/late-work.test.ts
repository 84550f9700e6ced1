import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ChatBody } from "../support/openai-stub.js";
import { holds } from "./matrix.js";
import { holdTime, QUERY_PREFIX, Rig, replyTo } from "./rig.js";
import { seenSince } from "./turn-faults.js";

let rig: Rig | undefined;
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
beforeEach(holdTime);
afterEach(async () => {
  await rig?.close();
  rig = undefined;
  vi.useRealTimers();
});

const COLLECTIONS = ["memory", "history"];

/** Points that name Ada, or what she says. */
async function pointsOf({ qdrant, ada }: Rig, collection: string) {
  const { points } = await qdrant.client.scroll(collection, { limit: 200, with_payload: true });
  return points.filter(({ payload }) => holds(payload, ada.word) || payload?.user_id === ada.owner);
}

/** As another process erases a user that takes this one for dead: it waits for nothing that runs here, nor for its locks. */
async function erasedElsewhere(on: Rig): Promise<void> {
  const { owner } = on.ada;
  const { ledger, store } = on.composed.parts;
  const { receiptId } = await ledger.beginErasure(owner, new Date().toISOString());
  for (const collection of COLLECTIONS) {
    const points = (await pointsOf(on, collection)).map(({ id }) => id);
    if (points.length > 0) await on.qdrant.client.delete(collection, { points, wait: true });
  }
  await on.memoryLog.erase(owner);
  await store.journal.erase(owner);
  await store.index.erase(owner);
  const receipt = { receipt_id: receiptId, completed_at: new Date().toISOString(), erased: {}, verified: true };
  await ledger.completeErasure(owner, receipt);
}

/** What is there of Ada, in the log of her memories, beside it and in history. */
async function left(on: Rig): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for await (const entry of on.memoryLog.read(on.ada.owner)) found.push(entry);
  for (const collection of COLLECTIONS)
    for (const { payload } of await pointsOf(on, collection)) if (holds(payload, on.ada.word)) found.push(payload);
  return found;
}

const reads = (body: unknown) => (body as ChatBody).response_format !== undefined && holds(body, "jazz matinees");
const isQuery = (body: unknown) => holds(body, `"${QUERY_PREFIX}`);

describe("[erasure-verified] a write-back that goes on behind an erasure, as after a machine slept", () => {
  test.each([
    [
      "with what its model reads",
      (on: Rig) => on.openai.chatOtherwise((body) => ({ ...replyTo(body), ...(reads(body) && { fault: "slow" }) })),
      reads,
    ],
    [
      "with what goes to history",
      (on: Rig) => on.openai.failEmbeddings("slow", (body) => holds(body, "I prefer jazz matinees") && !isQuery(body)),
      (body: unknown) => holds(body, "I prefer jazz matinees") && holds(body, "input") && !isQuery(body),
    ],
    [
      "with a memory that is in the log and not yet in the store",
      (on: Rig) => on.openai.failEmbeddings("slow", (body) => holds(body, "Prefers jazz matinees") && !isQuery(body)),
      (body: unknown) => holds(body, "Prefers jazz matinees") && holds(body, "input"),
    ],
  ])("%s, leaves nothing", async (name, slow, arrived) => {
    rig = await Rig.open();
    await rig.settle();
    const from = rig.openai.requests.length;
    slow(rig);
    expect((await rig.ada.prefer("matinees")).status).toBe(200);
    await seenSince(rig, from, arrived);
    // What is read goes its own way beside it, and has come to its end then.
    const { ada } = rig;
    if (name === "with what goes to history")
      await vi.waitFor(async () => expect(await ada.memories()).toContain("Prefers jazz matinees"), { timeout: 10_000 });
    await erasedElsewhere(rig);
    expect(await left(rig)).toEqual([]);
    rig.openai.heal();
    await rig.composed.parts.worker.drain(20_000);
    expect(await left(rig)).toEqual([]);
    expect((await rig.ada.ask()).status).not.toBe(200);
    rig.ada.startOver();
    expect(await rig.ada.ask()).toMatchObject({ status: 200, memory: "empty" });
  });
});
