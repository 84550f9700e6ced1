import { expect, test } from "vitest";
import type { BookingReceipt } from "../../src/domain/booking-receipt.js";
import { receiptProblems } from "../../src/gate/booking-receipt.js";
import { CELLAR, namedBookings, OTHER_CELLAR, WHEELCHAIR_SAID } from "../support/named-booking.js";

const withBodies = (receipts: readonly BookingReceipt[]) => receipts.filter(({ body }) => body !== null);

test.each([
  ["who said it as well", true],
  ["who had said nothing", false],
])(
  "[merge-whole] receipts of a visitor are found under %s, as one chain that verifies, and an undo takes them back",
  async (_, both) => {
    const { world, book, receipts, merging } = await namedBookings();
    const [visitor, ada] = [world.as("visitor"), world.as("ada")];
    if (both) await book(ada, OTHER_CELLAR);
    const own = await receipts(ada);
    await book(visitor, CELLAR);
    const before = await receipts(visitor);
    const { merge_id } = await merging.merge({ from: "visitor", to: "ada" });
    const merged = await receipts(ada);
    expect(merged).toHaveLength(own.length + 1);
    expect(merged.slice(1)).toEqual(own);
    expect(merged[0]).toMatchObject({
      number: own.length + 1,
      prev: own[0]?.hash ?? null,
      at: before[0]?.at,
      body: { booked: before[0]?.body?.booked, checked: { needs: [{ source: { quote: WHEELCHAIR_SAID } }] } },
    });
    expect(withBodies(merged)).toHaveLength(own.length + 1);
    expect(receiptProblems(merged)).toEqual([]);
    expect((await ada.get(`/v1/sessions/${merged[0]?.session_id}`)).status).toBe(200);
    const { body: exported } = await ada.get<{ receipts: BookingReceipt[] }>("/v1/me/export");
    expect(exported.receipts.toReversed()).toEqual(merged);
    await merging.merge({ from: "visitor", to: "ada" });
    expect(await receipts(ada)).toEqual(merged);

    await merging.undo(merge_id);
    expect(withBodies(await receipts(ada))).toEqual(own);
    expect(receiptProblems(await receipts(ada))).toEqual([]);
    expect(await receipts(visitor)).toEqual(before);
  },
  120_000,
);

test("[merge-undone] a receipt whose conversation was purged in between is told to nobody after an undo", async () => {
  const { world, book, receipts, merging } = await namedBookings();
  const [visitor, ada] = [world.as("visitor"), world.as("ada")];
  await book(visitor, CELLAR);
  const { merge_id } = await merging.merge({ from: "visitor", to: "ada" });
  const [receipt] = await receipts(ada);
  expect(receipt?.body).not.toBeNull();
  expect((await ada.delete(`/v1/sessions/${receipt?.session_id}?purge=true`)).status).toBe(204);
  expect(withBodies(await receipts(ada))).toEqual([]);
  await merging.undo(merge_id);
  expect(withBodies(await receipts(visitor))).toEqual([]);
  expect(receiptProblems(await receipts(visitor))).toEqual([]);
}, 120_000);

test("[merge-whole] an erasure of who they turned out to be takes the visitor's receipts, the copies and those that lay dormant", async () => {
  const { world, book, receipts, merging } = await namedBookings();
  const [visitor, ada] = [world.as("visitor"), world.as("ada")];
  await book(visitor, CELLAR);
  await merging.merge({ from: "visitor", to: "ada" });
  const erased = await ada.delete<{ verified: boolean; erased: object }>("/v1/me?confirm=true");
  expect(erased.body).toMatchObject({ verified: true, erased: { booking_receipts: 1 } });
  expect(await receipts(ada)).toEqual([]);
  expect(await receipts(visitor)).toEqual([]);
}, 120_000);
