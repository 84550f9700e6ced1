import { afterAll, beforeAll, expect, test } from "vitest";
import { World } from "./world.js";

/** Lists of memories by tag, entity and channel, over the real store. */

let world: World;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

test("[filters-as-stated] a category is found in every spelling in which it could be stated", async () => {
  const ada = world.guest();
  const add = (text: string, category: string) => world.app.memories.add(ada.owner, { text, category }, { now: world.clock.now() });
  expect(await add("No pork", "Dietary")).toMatchObject({ category: "dietary" });
  await add("Keeps bees", "other");
  for (const category of ["dietary", "Dietary", " DIETARY", "dietery"]) {
    expect(await ada.memories({ category })).toMatchObject([{ text: "No pork" }]);
    expect(await world.app.memories.search(ada.owner, { text: "pork and bees", category })).toMatchObject([{ text: "No pork" }]);
  }
  // What is stated under a name that there isn't is `other`; asked for, it is not that.
  expect(await ada.memories({ category: "gardening" })).toEqual([]);
});

test("[filters-as-stated] what is stated of a companion is found by their name, and by the subject", async () => {
  const ada = world.guest();
  const now = world.clock.now();
  const add = (text: string, subject?: string) =>
    world.app.memories.add(ada.owner, { text, category: "other", ...(subject !== undefined && { subject }) }, { now });
  const { id } = await add("Ida plays chess", "companion:Ida");
  await add("Sings in a choir", "self");
  const texts = async (query: Parameters<typeof ada.memories>[0]) => (await ada.memories(query)).map(({ text }) => text);
  expect(await texts({ entity: "Ida" })).toEqual(["Ida plays chess"]);
  expect(await texts({ subject: "companion:Ida" })).toEqual(["Ida plays chess"]);
  expect(await texts({ subject: "self" })).toEqual(["Sings in a choir"]);
  expect(await texts({ subject: "companion:Id" })).toEqual([]);
  const found = await world.app.memories.search(ada.owner, { text: "chess and choir", subject: "companion:Ida" });
  expect(found.map(({ text }) => text)).toEqual(["Ida plays chess"]);
  await world.app.memories.patch(ada.owner, id, { subject: "companion:Emma" }, { now });
  expect(await texts({ entity: "Emma" })).toEqual(["Ida plays chess"]);
  expect(await texts({ entity: "Ida" })).toEqual([]);
  const { nextCursor } = await world.app.memories.list(ada.owner, { limit: 1 });
  await expect(world.app.memories.list(ada.owner, { subject: "self", cursor: nextCursor ?? "" })).rejects.toMatchObject({
    code: "INVALID_CURSOR",
  });
});

test("a list and a search hold what bears the tag, the entity and the channel, and a cursor goes with them", async () => {
  const ada = world.guest();
  const add = (text: string, more: { tags?: string[]; entities?: string[]; channel?: string }) =>
    world.app.memories.add(ada.owner, { text, category: "other", aspect: text, ...more }, { now: world.clock.now() });
  await add("Collects vinyl", { tags: ["music", "home"], entities: ["Nina Simone"], channel: "voice" });
  await add("Plays the oboe", { tags: ["music"], channel: "api" });
  await add("Grows tomatoes", { tags: ["home"] });
  const texts = async (query: Parameters<typeof ada.memories>[0]) => (await ada.memories(query)).map(({ text }) => text).sort();
  expect(await texts({ tag: "music" })).toEqual(["Collects vinyl", "Plays the oboe"]);
  expect(await texts({ tag: "mus" })).toEqual([]);
  expect(await texts({ tag: "music", channel: "voice" })).toEqual(["Collects vinyl"]);
  expect(await texts({ entity: "Nina Simone" })).toEqual(["Collects vinyl"]);
  const found = await world.app.memories.search(ada.owner, { text: "oboe vinyl tomatoes", tag: "home" });
  expect(found.map(({ text }) => text).sort()).toEqual(["Collects vinyl", "Grows tomatoes"]);
  const { nextCursor } = await world.app.memories.list(ada.owner, { tag: "music", limit: 1 });
  if (nextCursor === null) throw new TypeError("one page");
  await expect(world.app.memories.list(ada.owner, { tag: "home", cursor: nextCursor })).rejects.toMatchObject({ code: "INVALID_CURSOR" });
  expect((await world.app.memories.list(ada.owner, { tag: "music", cursor: nextCursor })).data).toHaveLength(1);
});
