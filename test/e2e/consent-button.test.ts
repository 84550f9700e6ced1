import { expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/session.js";
import { CELLAR, namedBooking, OTHER_CELLAR, wheelchairReader } from "../support/named-booking.js";
import { type Client, startWorld, tempDir } from "./world.js";

const START = Date.parse("2026-03-11T10:00:00Z");
/** A guest with a need, and what the booking tool said in the last turn of their session. */
async function guestOf(client: Client) {
  const { session_id } = await client.say("I use a wheelchair");
  const books = async (what: string, more: JsonObject = {}): Promise<JsonObject> => {
    const { steps } = await client.say(`BOOK ${what}`, { session_id, ...more });
    return steps.find(({ name }) => name === "book_tickets")?.output as JsonObject;
  };
  return {
    books,
    presses: (stopped: JsonObject, consent: unknown) => books(`${CELLAR} ${stopped.quote_id}`, { consent: String(consent) }),
  };
}

test("a booking against what must hold is stopped with a token; the button's request, with that token and no other, books it", async () => {
  let now = START;
  const world = await startWorld(
    await tempDir(),
    {},
    { model: namedBooking, reader: wheelchairReader("I use a wheelchair"), clock: { now: () => new Date(now) } },
  );
  const foreign = await (await guestOf(world.as("bob"))).books(CELLAR);
  const ada = await guestOf(world.as("ada"));
  const otherEvent = await ada.books(OTHER_CELLAR);
  const stopped = await ada.books(CELLAR);
  for (const each of [foreign, otherEvent, stopped])
    expect(each).toMatchObject({ status: "stopped", token: expect.stringMatching(/^\w{16}$/) });
  expect(new Set([foreign.token, otherEvent.token, stopped.token]).size).toBe(3);

  for (const wrong of ["0123456789abcdef", foreign.token, otherEvent.token, "{}"])
    expect(await ada.presses(stopped, wrong)).toMatchObject({ status: "stopped", token: stopped.token });
  const shown = await ada.books(`${CELLAR} ${stopped.quote_id}`);
  expect(shown).toMatchObject({ status: "stopped" });

  expect(await ada.presses(shown, stopped.token)).toMatchObject({ status: "booked", overridden: [expect.any(String)] });

  const dora = await guestOf(world.as("dora"));
  const expired = await dora.books(CELLAR);
  now += 24 * 3_600_000;
  expect(await dora.books(`${CELLAR} ${expired.quote_id}`, { consent: String(expired.token) })).toMatchObject({ status: "stopped" });
});

test("a consent that can't be a token is refused at the door", async () => {
  const world = await startWorld(await tempDir());
  for (const consent of ["", "x".repeat(65), 7, { token: "a" }]) {
    const { status, body } = await world.as("ada").post("/v1/chat", { message: "Hello", consent });
    expect([status, body.code]).toEqual([400, "INVALID_REQUEST"]);
  }
});
