import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { OwnerLedger } from "../../src/ports/owner-ledger.js";
import type { ErasureReceipt } from "../../src/ports/resources.js";
import { type ContractOptions, optionalTests } from "../../src/testing/supports.js";
import { ALICE, BOB } from "../support/journal-records.js";

export interface OwnerLedgerUnderTest {
  readonly ledger: OwnerLedger;
  dispose(): Promise<void>;
}

const AT = "2026-03-01T10:00:00.000Z";

/** `audit`: the trail; `progress`: how far jobs came; `erasures`: intents and receipts. */
export type OwnerLedgerFeature = "audit" | "progress" | "erasures";

export function ownerLedgerContract(
  name: string,
  make: () => Promise<OwnerLedgerUnderTest>,
  { supports }: ContractOptions<OwnerLedgerFeature> = {},
): void {
  const when = optionalTests(supports);
  describe(`owner ledger: ${name}`, () => {
    let made: OwnerLedgerUnderTest;
    let ledger: OwnerLedger;

    beforeEach(async () => {
      made = await make();
      ledger = made.ledger;
    });
    afterEach(() => made.dispose());

    const tombstone = (memoryId: string) => ({ memoryId, messageIds: ["m1"], textHash: `hash of ${memoryId}`, at: AT });
    const receipt = (receiptId: string): ErasureReceipt => ({
      receipt_id: receiptId,
      completed_at: AT,
      erased: { sessions: 2 },
      verified: true,
    });

    test("knows nothing of an owner it never heard of", async () => {
      expect(await ledger.tombstones(ALICE)).toEqual([]);
      expect(await ledger.user(ALICE)).toBeNull();
      expect(await ledger.auditTrail(ALICE)).toEqual([]);
      expect(await ledger.epoch(ALICE)).toBe(0);
      expect(await ledger.receipts(ALICE)).toEqual([]);
      expect(await ledger.openErasures()).toEqual([]);
      expect(await ledger.progress(ALICE, "promote")).toBeNull();
    });

    test("keeps tombstones, one per memory, each owner's own", async () => {
      await ledger.addTombstone(ALICE, tombstone("a"));
      await ledger.addTombstone(ALICE, tombstone("b"));
      await ledger.addTombstone(ALICE, { ...tombstone("a"), messageIds: ["m1", "m2"] });
      expect(await ledger.tombstones(ALICE)).toEqual([tombstone("b"), { ...tombstone("a"), messageIds: ["m1", "m2"] }]);
      expect(await ledger.tombstones(BOB)).toEqual([]);
    });

    test("tombstones that are added at the same time are all kept", async () => {
      await Promise.all(Array.from({ length: 20 }, (_, index) => ledger.addTombstone(ALICE, tombstone(String(index)))));
      expect(await ledger.tombstones(ALICE)).toHaveLength(20);
    });

    test("keeps who was seen, and when last at most once a minute; news at once", async () => {
      await ledger.seen(ALICE, { at: "2026-03-01T10:00:00.000Z", displayName: "Alice" });
      await ledger.seen(ALICE, { at: "2026-03-01T10:00:59.000Z" });
      expect(await ledger.user(ALICE)).toEqual({
        displayName: "Alice",
        provider: null,
        timeZone: null,
        firstSeenAt: "2026-03-01T10:00:00.000Z",
        lastSeenAt: "2026-03-01T10:00:00.000Z",
      });
      await ledger.seen(ALICE, { at: "2026-03-01T10:00:59.500Z", timeZone: "Europe/Lisbon" });
      expect(await ledger.user(ALICE)).toMatchObject({ timeZone: "Europe/Lisbon", lastSeenAt: "2026-03-01T10:00:59.500Z" });
      await ledger.seen(ALICE, { at: "2026-03-01T10:02:00.000Z" });
      expect(await ledger.user(ALICE)).toMatchObject({ displayName: "Alice", lastSeenAt: "2026-03-01T10:02:00.000Z" });
    });

    test("of a visit that is told of late, behind a later one, keeps what isn't known since, and nothing else", async () => {
      await ledger.seen(ALICE, { at: "2026-03-01T10:05:00.000Z", timeZone: "Europe/Lisbon" });
      const late = { at: "2026-03-01T10:00:00.000Z", displayName: "Alice", timeZone: "Asia/Tokyo" };
      await ledger.seen(ALICE, late);
      const record = {
        displayName: "Alice",
        provider: null,
        timeZone: "Europe/Lisbon",
        firstSeenAt: "2026-03-01T10:05:00.000Z",
        lastSeenAt: "2026-03-01T10:05:00.000Z",
      };
      expect(await ledger.user(ALICE)).toEqual(record);
      await ledger.seen(ALICE, { ...late, at: "2026-03-01T10:05:01.000Z" });
      const lastSeenAt = "2026-03-01T10:05:01.000Z";
      expect(await ledger.user(ALICE)).toEqual({ ...record, timeZone: "Asia/Tokyo", lastSeenAt });
    });

    when("audit")("keeps the audit trail in order", async () => {
      const entry = { at: AT, action: "export", by: "user", receiptId: null, counts: { sessions: 1 } } as const;
      await ledger.audit(ALICE, entry);
      await ledger.audit(ALICE, { ...entry, action: "forget" });
      expect(await ledger.auditTrail(ALICE)).toEqual([entry, { ...entry, action: "forget" }]);
    });

    when("erasures")("an erasure that was begun stays open, with one receipt id, until it is completed", async () => {
      const begun = await ledger.beginErasure(ALICE, AT);
      expect(begun.epoch).toBe(1);
      expect(await ledger.beginErasure(ALICE, "2026-03-02T00:00:00.000Z")).toEqual(begun);
      expect(await ledger.epoch(ALICE)).toBe(1);
      expect(await ledger.openErasures()).toEqual([{ owner: ALICE, receiptId: begun.receiptId }]);
      await ledger.completeErasure(ALICE, receipt(begun.receiptId));
      expect(await ledger.openErasures()).toEqual([]);
      const again = await ledger.beginErasure(ALICE, AT);
      expect(again.epoch).toBe(2);
      expect(again.receiptId).not.toBe(begun.receiptId);
    });

    when("erasures")("a completed erasure leaves epoch, audit trail and receipts, and nothing else", async () => {
      await ledger.seen(ALICE, { at: AT, displayName: "Alice" });
      await ledger.addTombstone(ALICE, tombstone("a"));
      await ledger.setProgress(ALICE, "promote", "42");
      const entry = { at: AT, action: "erase", by: "user", receiptId: null, counts: {} } as const;
      await ledger.audit(ALICE, entry);
      await ledger.addTombstone(BOB, tombstone("b"));
      const { receiptId } = await ledger.beginErasure(ALICE, AT);
      await ledger.completeErasure(ALICE, receipt(receiptId));
      await ledger.completeErasure(ALICE, receipt(receiptId));
      expect(await ledger.tombstones(ALICE)).toEqual([]);
      expect(await ledger.user(ALICE)).toBeNull();
      expect(await ledger.progress(ALICE, "promote")).toBeNull();
      expect(await ledger.epoch(ALICE)).toBe(1);
      expect(await ledger.auditTrail(ALICE)).toEqual([entry]);
      expect(await ledger.receipts(ALICE)).toEqual([receipt(receiptId)]);
      expect(await ledger.tombstones(BOB)).toHaveLength(1);
    });

    when("erasures")("an erasure that is withdrawn leaves all there is, and the epoch that it raised", async () => {
      await ledger.addTombstone(ALICE, { ...tombstone("a"), hashOf: BOB });
      await ledger.setProgress(ALICE, "merge", "7");
      const { receiptId } = await ledger.beginErasure(ALICE, AT);
      await ledger.withdrawErasure(ALICE);
      await ledger.withdrawErasure(ALICE);
      expect(await ledger.openErasures()).toEqual([]);
      expect(await ledger.epoch(ALICE)).toBe(1);
      expect(await ledger.tombstones(ALICE)).toEqual([{ ...tombstone("a"), hashOf: BOB }]);
      expect(await ledger.progress(ALICE, "merge")).toBe("7");
      const again = await ledger.beginErasure(ALICE, AT);
      expect(again).toMatchObject({ epoch: 2, receiptId: expect.not.stringMatching(receiptId) });
      await ledger.completeErasure(ALICE, receipt(again.receiptId), ["merge"]);
      expect(await ledger.progress(ALICE, "merge")).toBe("7");
      expect(await ledger.tombstones(ALICE)).toEqual([]);
      expect(await ledger.openErasures()).toEqual([]);
    });

    when("erasures")("a fence is an intent that is none of the open erasures until an erasure begins behind it", async () => {
      await ledger.setProgress(ALICE, "merge", "7");
      await ledger.fence(ALICE, AT);
      await ledger.fence(ALICE, AT);
      expect(await ledger.epoch(ALICE)).toBe(1);
      expect(await ledger.openErasures()).toEqual([]);
      const { receiptId, epoch } = await ledger.beginErasure(ALICE, AT);
      expect(epoch).toBe(1);
      expect(await ledger.openErasures()).toEqual([{ owner: ALICE, receiptId }]);
      await ledger.completeErasure(ALICE, receipt(receiptId));
      expect(await ledger.openErasures()).toEqual([]);
      await ledger.fence(ALICE, AT);
      await ledger.withdrawErasure(ALICE);
      expect(await ledger.beginErasure(ALICE, AT)).toMatchObject({ epoch: 3 });
    });

    when("progress")("remembers how far each job came", async () => {
      await ledger.setProgress(ALICE, "promote", "1");
      await ledger.setProgress(ALICE, "promote", "2");
      await ledger.setProgress(ALICE, "other", "9");
      expect(await ledger.progress(ALICE, "promote")).toBe("2");
      expect(await ledger.progress(BOB, "promote")).toBeNull();
    });
  });
}
