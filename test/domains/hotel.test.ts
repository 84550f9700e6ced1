import { expect, test } from "vitest";
import hotel from "../../examples/domains/hotel.js";
import { createApp } from "../../src/http.js";
import { openDesk } from "./desk.js";

const HEARD = [
  { about: "feathers", need: "no_feathers", text: "Can't have feathers" },
  { about: "plumes", need: "no_feathers", text: "Can't have feathers" },
  { about: "stairs", need: "step_free", text: "Can't climb stairs" },
  { about: "dog", need: "dog", text: "Brings a dog" },
];
const desk = openDesk(hotel, HEARD, { "my mother": "mother" });
const { says, leaves } = desk;
const STAY = { from: "2030-05-02", nights: 2 };
const garden = { ...STAY, room: "Garden Room" };
const tower = { ...STAY, room: "Tower Room" };
const lake = { ...STAY, room: "Lake Room" };

test("[gate-of-every-domain] a need told in passing marks rooms in the next session, and stops the one that would break it", async () => {
  await says("We loved the lake last time, though I can't sleep on feathers.");
  await leaves();
  const [found] = await says("What is free in May?", ["find_rooms", STAY]);
  expect(found).toMatchObject([{ room: "Garden Room", breaks: ["Can't have feathers"] }, { room: "Tower Room" }, { room: "Lake Room" }]);
  expect(await says("The garden room", ["book_room", garden])).toMatchObject([
    { status: "stopped", conflicts: [expect.stringContaining("Can't have feathers")] },
  ]);
});

test("a need told in another language of the domain stops as well", async () => {
  await says("Je ne supporte pas les plumes.");
  await leaves();
  expect(await says("La chambre du jardin", ["book_room", garden])).toMatchObject([{ status: "stopped" }]);
});

test("a companion's need stops a room for both, and none for the guest alone", async () => {
  await says("my mother can't do stairs any more");
  await leaves();
  expect(await says("The tower, for me and my mother", ["book_room", { ...tower, guests: ["mother"] }])).toMatchObject([
    { status: "stopped", conflicts: [expect.stringContaining("mother: Can't climb stairs")] },
  ]);
  expect(await says("The tower, I come alone", ["book_room", tower])).toMatchObject([{ status: "shown" }]);
});

test("what the catalogue doesn't say is told once, and then booked", async () => {
  await says("I travel with my dog, always");
  await leaves();
  const [shown] = await says("The lake room", ["book_room", lake]);
  expect(shown).toMatchObject({ status: "shown", reminders: [expect.stringContaining("Brings a dog")] });
  expect(await says("yes, that is fine", ["book_room", { ...lake, agreed: "yes" }])).toMatchObject([[{ room: "Lake Room" }]]);
});

test("a cancellation by a wrong name cancels nothing, by the right one what was shown", async () => {
  await says("The lake room", ["book_room", lake]);
  expect(await says("yes", ["book_room", { ...lake, agreed: "yes" }])).toMatchObject([[{ room: "Lake Room" }]]);
  expect(await says("cancel the suite", ["cancel_stay", { words: "suite" }])).toMatchObject([{ status: "not_found" }]);
  expect(await says("cancel the lake room", ["cancel_stay", { words: "lake" }])).toMatchObject([{ status: "shown" }]);
  expect(await says("yes please", ["cancel_stay", { words: "lake", agreed: "yes please" }])).toEqual([[]]);
  expect(await says("What have I booked?", ["list_stays", {}])).toEqual([[]]);
});

test("a need that is told after the booking is marked where stays are listed", async () => {
  await says("The garden room", ["book_room", garden]);
  await says("yes", ["book_room", { ...garden, agreed: "yes" }]);
  expect(await says("I can't sleep on feathers, you know", ["list_stays", {}])).toMatchObject([
    [{ room: "Garden Room", breaks: ["Can't have feathers"] }],
  ]);
});

test("[gate-of-every-domain] over HTTP too: what stops is an element of the answer, and nothing is booked", async () => {
  const app = await createApp(desk.maitred, { identify: () => ({ user: "http-guest" }) });
  const say = async (message: string, more: object = {}) => {
    const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ message, ...more }) };
    const response = await app.fetch(new Request("http://hotel.example/v1/chat", init));
    return (await response.json()) as { session_id: string; steps: readonly { output: unknown }[]; elements: readonly object[] };
  };
  const { session_id } = await say("I can't sleep on feathers.");
  await app.fetch(new Request(`http://hotel.example/v1/sessions/${session_id}/flush`, { method: "POST" }));
  desk.model.replies.push({ name: "book_room", arguments: garden }, "There are feathers in it.");
  const { steps, elements } = await say("The garden room, please");
  expect(steps.map(({ output }) => output)).toMatchObject([{ status: "stopped" }]);
  expect(elements).toMatchObject([{ type: "approval", name: "book_room" }]);
});
