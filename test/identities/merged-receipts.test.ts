import { expect, test } from "vitest";
import type { BookingReceipt } from "../../src/domain/booking-receipt.js";
import { receiptProblems } from "../../src/gate/booking-receipt.js";
import { type Client, startWorld, tempDir } from "../e2e/world.js";
import { CELLAR, namedBooking, OTHER_CELLAR, wheelchairReader } from "../support/named-booking.js";

const START = Date.parse("2026-03-11T10:00:00Z");
const SAID = "I use a wheelchair since Marienbad";

/** A guest tells their need and books against it. */
async function theatre() {
  let now = START;
  const overrides = { model: namedBooking, reader: wheelchairReader(SAID), clock: { now: () => new Date(now) } };
  const world = await startWorld(await tempDir(), {}, overrides);
  const book = async (of: Client, event: string) => {
    const { session_id } = await of.say(SAID);
    const said = async (message: string, more = {}) =>
      (await of.say(message, { session_id, ...more })).steps.find(({ name }) => name === "book_tickets")?.output as Record<string, unknown>;
    const stopped = await said(`BOOK ${event}`);
    now += 60_000;
    expect(await said(`BOOK ${event} ${stopped.quote_id}`, { consent: stopped.token })).toMatchObject({ status: "booked" });
    return session_id;
  };
  const receipts = async (user: string) => (await world.as(user).get<{ data: BookingReceipt[] }>("/v1/me/receipts")).body.data;
  return { world, book, receipts, merging: world.application.identities };
}

const withBodies = (receipts: readonly BookingReceipt[]) => receipts.filter(({ body }) => body !== null);

test.each([
  ["who said it as well", true],
  ["who had said nothing", false],
])(
  "[merge-whole] receipts of a visitor are found under %s, as one chain that verifies, and an undo takes them back",
  async (_, both) => {
    const { world, book, receipts, merging } = await theatre();
    const [visitor, ada] = [world.as("visitor"), world.as("ada")];
    if (both) await book(ada, OTHER_CELLAR);
    const own = await receipts("ada");
    await book(visitor, CELLAR);
    const before = await receipts("visitor");
    const { merge_id } = await merging.merge({ from: "visitor", to: "ada" });
    const merged = await receipts("ada");
    expect(merged).toHaveLength(own.length + 1);
    expect(merged.slice(1)).toEqual(own);
    expect(merged[0]).toMatchObject({
      number: own.length + 1,
      prev: own[0]?.hash ?? null,
      at: before[0]?.at,
      body: { booked: before[0]?.body?.booked, checked: { needs: [{ source: { quote: SAID } }] } },
    });
    expect(withBodies(merged)).toHaveLength(own.length + 1);
    expect(receiptProblems(merged)).toEqual([]);
    expect((await ada.get(`/v1/sessions/${merged[0]?.session_id}`)).status).toBe(200);
    const { body: exported } = await ada.get<{ receipts: BookingReceipt[] }>("/v1/me/export");
    expect(exported.receipts.toReversed()).toEqual(merged);
    await merging.merge({ from: "visitor", to: "ada" });
    expect(await receipts("ada")).toEqual(merged);

    await merging.undo(merge_id);
    expect(withBodies(await receipts("ada"))).toEqual(own);
    expect(receiptProblems(await receipts("ada"))).toEqual([]);
    expect(await receipts("visitor")).toEqual(before);
  },
  120_000,
);

test("[merge-undone] a receipt whose conversation was purged in between is told to nobody after an undo", async () => {
  const { world, book, receipts, merging } = await theatre();
  const ada = world.as("ada");
  await book(world.as("visitor"), CELLAR);
  const { merge_id } = await merging.merge({ from: "visitor", to: "ada" });
  const [receipt] = await receipts("ada");
  expect(receipt?.body).not.toBeNull();
  expect((await ada.delete(`/v1/sessions/${receipt?.session_id}?purge=true`)).status).toBe(204);
  expect(withBodies(await receipts("ada"))).toEqual([]);
  await merging.undo(merge_id);
  expect(withBodies(await receipts("visitor"))).toEqual([]);
  expect(receiptProblems(await receipts("visitor"))).toEqual([]);
}, 120_000);

test("[merge-whole] an erasure of who they turned out to be takes the visitor's receipts, the copies and those that lay dormant", async () => {
  const { world, book, receipts, merging } = await theatre();
  await book(world.as("visitor"), CELLAR);
  await merging.merge({ from: "visitor", to: "ada" });
  const erased = await world.as("ada").delete<{ verified: boolean; erased: object }>("/v1/me?confirm=true");
  expect(erased.body).toMatchObject({ verified: true, erased: { booking_receipts: 1 } });
  expect(await receipts("ada")).toEqual([]);
  expect(await receipts("visitor")).toEqual([]);
}, 120_000);
