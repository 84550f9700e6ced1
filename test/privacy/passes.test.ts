import { describe, expect, test } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import { systemClock } from "../../src/platform/clock.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { ErasureReceipt, OwnerLedger } from "../../src/ports/owner-ledger.js";
import { Erasure } from "../../src/privacy/erasure.js";

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

function erasureOf(store: ReturnType<typeof storeWrittenInto>) {
  const receipts: ErasureReceipt[] = [];
  const ledger = {
    beginErasure: async () => ({ receiptId: "r" }),
    completeErasure: async (_: unknown, receipt: ErasureReceipt) => void receipts.push(receipt),
    auditTrail: async () => [],
    audit: async () => {},
  } as unknown as OwnerLedger;
  const erasure = new Erasure({
    stores: [store],
    ledger,
    hold: async () => () => {},
    compact: async () => {},
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
});
