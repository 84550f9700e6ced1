import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import { orAbort } from "../../src/platform/bounded-signal.js";
import { systemClock } from "../../src/platform/clock.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { OwnerLedger } from "../../src/ports/owner-ledger.js";
import type { ErasureReceipt } from "../../src/ports/resources.js";
import { Erasure, type ErasureParts } from "../../src/privacy/erasure.js";
import { InProcessLock } from "../../src/state/sessions/in-process-lock.js";

const ann = ownerOf("default", "ann");

/** A store into which somebody else still writes, so many times. */
function storeWrittenInto(times: number) {
  let [left, late] = [2, times];
  return {
    name: "memories",
    erase: async () => {
      const memories = left;
      left = late-- > 0 ? 1 : 0;
      return { memories };
    },
    residue: async () => left,
  };
}

function erasureOf(
  store: ReturnType<typeof storeWrittenInto>,
  { hold = async () => () => {}, keepsDeleted = [] }: Partial<ErasureParts> = {},
) {
  const receipts: ErasureReceipt[] = [];
  const ledger = {
    beginErasure: async () => ({ receiptId: "r" }),
    completeErasure: async (_: unknown, receipt: ErasureReceipt) => void receipts.push(receipt),
    receipts: async () => receipts,
    auditTrail: async () => [],
    audit: async () => {},
  } as unknown as OwnerLedger;
  const erasure = new Erasure({
    stores: [store],
    ledger,
    locks: new InProcessLock(),
    hold,
    compact: async () => {},
    keepsDeleted,
    onErased: async () => {},
    clock: systemClock,
    logger: silentLogger,
  });
  return { erasure, receipts };
}

describe("An erasure", () => {
  test("takes along what another process had under way when it began", async () => {
    const { erasure, receipts } = erasureOf(storeWrittenInto(1));
    expect(await erasure.run(ann, "ann")).toMatchObject({ verified: true, erased: { memories: 3 } });
    expect(receipts).toHaveLength(1);
  });

  test("says so where something is left after three passes", async () => {
    const { erasure } = erasureOf(storeWrittenInto(9));
    expect(await erasure.run(ann, "ann")).toMatchObject({ verified: false, residue: { memories: 1 } });
  });

  test("[erasure-verified] is never verified where a store keeps deleted texts in its file, and says which", async () => {
    const { erasure } = erasureOf(storeWrittenInto(0), { keepsDeleted: ["It keeps them."] });
    const receipt = await erasure.run(ann, "ann");
    expect(receipt).toMatchObject({ verified: false, erased: { memories: 2 }, unverified: "It keeps them." });
    expect(receipt).not.toHaveProperty("residue");
  });
});

/** Waits for another process until it is told that there is none any more, or its signal aborts. */
function heldUp() {
  let [gone, letIn] = [() => {}, () => {}];
  const isGone = new Promise<void>((resolve) => {
    gone = resolve;
  });
  const released = new Promise<void>((resolve) => {
    letIn = resolve;
  });
  const hold: ErasureParts["hold"] = async (_, signal) => {
    await orAbort(isGone, signal);
    return letIn;
  };
  return { hold, gone, released };
}

describe("An erasure that waits for another process", () => {
  test("is waited for as long as one likes, and goes on: who asks again gets the receipt", async () => {
    const { hold, gone, released } = heldUp();
    const { erasure, receipts } = erasureOf(storeWrittenInto(0), { hold });
    const once = { waitMs: 5 };
    for (let tries = 0; tries < 2; tries++)
      await expect(erasure.receiptWithin(ann, "ann", once)).rejects.toMatchObject({ code: "ERASURE_UNDER_WAY", retryAfterSeconds: 1 });
    const again = erasure.receiptWithin(ann, "ann", { waitMs: 10_000 });
    gone();
    expect(await again).toMatchObject({ receipt_id: "r", verified: true, erased: { memories: 2 } });
    await released;
    expect(receipts).toHaveLength(1);
  });

  test("goes on when the client that asked for it goes away", async () => {
    const { hold, gone, released } = heldUp();
    const { erasure, receipts } = erasureOf(storeWrittenInto(0), { hold });
    const client = new AbortController();
    const asked = erasure.receiptWithin(ann, "ann", { waitMs: 10_000, signal: client.signal });
    client.abort();
    await expect(asked).rejects.toMatchObject({ code: "CLIENT_CLOSED_REQUEST" });
    gone();
    await released;
    expect(receipts).toHaveLength(1);
  });

  test("gives the receipt of whoever erased the same user meanwhile, and erases nothing of what came since", async () => {
    const { hold, gone } = heldUp();
    const store = storeWrittenInto(0);
    const { erasure, receipts } = erasureOf(store, { hold });
    const asked = erasure.run(ann, "ann");
    const theirs = { receipt_id: "r", completed_at: "2027-01-01T00:00:00.000Z", erased: { memories: 7 }, verified: true };
    receipts.push(theirs);
    gone();
    expect(await asked).toEqual(theirs);
    expect(await store.residue()).toBe(2);
  });

  test("ends with the server, and is left open", async () => {
    const { erasure, receipts } = erasureOf(storeWrittenInto(0), heldUp());
    const asked = erasure.receiptWithin(ann, "ann", { waitMs: 10_000 });
    asked.catch(() => undefined);
    await pause(5);
    await erasure.stop();
    await expect(asked).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
    await expect(erasure.run(ann, "ann")).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
    expect(receipts).toEqual([]);
  });
});
