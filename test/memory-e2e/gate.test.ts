import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Switch, switchable } from "./switchable.js";
import { World } from "./world.js";

/** The gate in front of bookings, through the whole product: what memory stops, and what it never passes silently. */

let world: World;
let store: Switch;
beforeAll(async () => {
  store = switchable();
  world = await World.open({}, { around: store.around });
});
afterAll(() => world.close());

/** In a cellar, reached by stairs only. */
const STAIRS = "Book two tickets for Night Shift Trio on Friday";
const NOT_BOOKED = /^I have not booked two seats for Night Shift Trio/;

async function bookings(guest: ReturnType<World["guest"]>): Promise<string> {
  return (await guest.newSession().says("Show me my bookings")).message.content;
}

describe("a booking that breaks what must hold", () => {
  test("[memory-informs] is stopped, with the memory and its source; a yes is not enough; words for this booking alone override it", async () => {
    const ada = world.guest();
    await ada.says("I need step-free access.");
    const [memory] = await ada.memories();
    const { sessionId } = ada;
    ada.newSession();
    const stopped = await ada.says(STAIRS);
    expect(stopped.message.content).toMatch(NOT_BOOKED);
    expect(stopped.message.content).toMatch(/Needs step-free access \(you said: “I need step-free access”\).*stairs only/s);
    const element = stopped.elements.find(({ type }) => type === "constraint");
    expect(JSON.parse(element?.content ?? "{}")).toMatchObject({
      memory_id: memory?.id,
      source: { session_id: sessionId, turn: 1, message_id: memory?.source?.message_id, quote: "I need step-free access" },
    });
    expect((await ada.says("Yes please")).message.content).toMatch(NOT_BOOKED);
    expect((await ada.says("Book it anyway")).message.content).toMatch(/^Booked: two seats for Night Shift Trio/);

    // For this booking alone: the memory still holds, and stops the next one.
    expect(await ada.holds()).toEqual(["Booked 2 seats in Bar for Night Shift Trio, Friday 13 March", "Needs step-free access"]);
    expect((await ada.newSession().says("Book three tickets for Night Shift Trio on Friday")).message.content).toMatch(
      /not booked three seats/,
    );
  });

  test("is stopped although the constraint is not among the recalled", async () => {
    const ada = world.guest();
    await ada.says("I use a wheelchair.");
    store.blindRecall();
    try {
      const stopped = await ada.newSession().says(STAIRS);
      expect(stopped.memory).toMatchObject({ status: "timeout", recalled: [] });
      expect(stopped.message.content).toMatch(NOT_BOOKED);
      expect(stopped.message.content).toMatch(/Uses a wheelchair/);
    } finally {
      store.heal();
    }
  });

  test("when the store is down it asks, and books only on an answer in words", async () => {
    const ada = world.guest();
    await ada.says("I use a wheelchair.");
    ada.newSession();
    store.cut();
    let asked: Awaited<ReturnType<typeof ada.asks>>;
    try {
      asked = await ada.asks(STAIRS);
      expect(asked.memory.status).toBe("degraded");
      expect(asked.message.content).toMatch(/can't check your needs.*not booked/s);
      expect((await ada.asks("yes")).message.content).toMatch(/can't check your needs/);
      expect((await ada.asks("There is nothing to mind")).message.content).toMatch(/^Booked: two seats for Night Shift Trio/);
    } finally {
      store.heal();
    }
    expect(store.failed).toBeGreaterThan(0);
    expect(asked.steps.at(-1)?.output).toMatchObject({ status: "stopped" });
    await ada.flush();
  });

  test("in an incognito session, which looks at no memory, it asks as well", async () => {
    const ada = world.guest();
    await ada.says("I use a wheelchair.");
    const asked = await ada.newSession().asks(STAIRS, { metadata: { incognito: true } });
    expect(asked.message.content).toMatch(/can't check your needs/);
    expect((await ada.asks("yes")).message.content).toMatch(/can't check your needs/);
    expect((await ada.asks("No special needs")).message.content).toMatch(/^Booked: two seats/);
  });

  test("when the store is back before the answer, nothing to mind does not wave through what is known", async () => {
    const ada = world.guest();
    await ada.says("I use a wheelchair.");
    ada.newSession();
    store.cut();
    try {
      expect((await ada.asks(STAIRS)).message.content).toMatch(/can't check your needs/);
    } finally {
      store.heal();
    }
    expect((await ada.says("There is nothing to mind")).message.content).toMatch(/Uses a wheelchair/);
    expect(await bookings(ada)).toBe("You have no bookings at the moment.");
  });
});

describe("companions", () => {
  test("bring their own constraints when they come along, and are only named when they don't", async () => {
    const ada = world.guest();
    await ada.says("My mother uses a wheelchair.");
    const alone = await ada.newSession().says(STAIRS);
    expect(alone.message.content).toMatch(/^I can book two seats.*If mother comes along: Mother uses a wheelchair/s);
    const along = await ada.newSession().says("Book two tickets for Night Shift Trio on Friday for me and my mum");
    expect(along.message.content).toMatch(NOT_BOOKED);
    expect(along.message.content).toMatch(/Mother uses a wheelchair \(you said: “My mother uses a wheelchair”\)/);
    expect(along.steps.at(-1)?.output).toMatchObject({ status: "stopped", conflicts: [{ who: "mother" }] });
  });

  test("who is called by name is the one of whom it was said", async () => {
    const ada = world.guest();
    await ada.says("My son Leo uses a wheelchair.");
    const looksAt = () => ada.newSession().says("Night Shift Trio on Friday");
    await looksAt();
    const byName = await ada.says("Book two seats for it, Leo comes along");
    expect(byName.message.content).toMatch(NOT_BOOKED);
    expect(byName.message.content).toMatch(/Son Leo uses a wheelchair/);
    await looksAt();
    expect((await ada.says("Book two seats for it, Leonie comes along")).message.content).toMatch(/^I can book two seats/);
  });

  test("stay in the party when the number of seats changes, until the guest takes them out", async () => {
    const ada = world.guest();
    await ada.says("My mother uses a wheelchair.");
    ada.newSession();
    await ada.says("Show me Night Shift Trio on Friday");
    expect((await ada.says("Two tickets for the first one, for my mother and me")).message.content).toMatch(NOT_BOOKED);
    expect((await ada.says("Make it three")).message.content).toMatch(/^I have not booked three seats/);
    expect((await ada.says("yes")).message.content).toMatch(/^I have not booked three seats/);
    expect((await ada.says("My mother isn't coming")).message.content).toMatch(/^I can book three seats/);
    expect((await ada.says("yes")).message.content).toMatch(/^Booked: three seats/);
  });

  test("are in the party also when they were named many rounds before", async () => {
    const ada = world.guest();
    await ada.says("My mother uses a wheelchair.");
    await ada.newSession().says("I'm going with my mother.");
    for (const small of ["Good evening!", "Thanks!", "What can you help me with?", "thank you so much"]) await ada.says(small);
    expect((await ada.says(STAIRS)).message.content).toMatch(NOT_BOOKED);
  });

  test("for this trip only: a diet of the companion is held against the menu, and is over after it", async () => {
    const ada = world.guest();
    const said = { text: "Mother is vegetarian", category: "dietary", need: "vegetarian", strength: "hard", type: "constraint" } as const;
    const until = new Date(world.clock.now().getTime() + 30 * 86_400_000).toISOString();
    await world.app.memories.add(
      ada.owner,
      { ...said, subject: "companion:mother", scope: "trip", valid_until: until },
      { now: world.clock.now() },
    );
    expect(await ada.memories()).toMatchObject([
      { text: "Mother is vegetarian", subject: "companion:mother", scope: "trip", category: "dietary", strength: "hard" },
    ]);
    const dinner = "Book two seats at the Galley Grill on Saturday for me and my mother";
    expect((await ada.newSession().says(dinner)).message.content).toMatch(/not booked.*offers no vegetarian menu/s);
    world.clock.passDays(31);
    expect(await ada.holds()).toEqual([]);
    const later = (await ada.newSession().says("Book two seats at the Galley Grill for me and my mother")).message.content;
    expect(later).not.toMatch(/vegetarian menu/);
  });
});

test("where long-term memory is switched off, nothing that was said is kept, so it asks", async () => {
  const off = await World.open({ MEM0_ENABLED: "false" });
  try {
    const ada = off.guest();
    for (const said of ["I use a wheelchair.", "What do you know about me?", "Remember that I love jazz."])
      expect((await ada.says(said)).message.content).toMatch(/^Memory is switched off here/);
    expect((await ada.says(STAIRS)).message.content).toMatch(/can't check your needs.*not booked/s);
    expect((await ada.says("There is nothing to mind")).message.content).toMatch(/^Booked: two seats for Night Shift Trio/);
  } finally {
    await off.close();
  }
});
