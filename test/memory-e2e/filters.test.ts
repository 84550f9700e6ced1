import { afterAll, beforeAll, expect, test } from "vitest";
import { World } from "./world.js";

/** Lists of memories by tag, entity and channel, over the real store. */

let world: World;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

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
