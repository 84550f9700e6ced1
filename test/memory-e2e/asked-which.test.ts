import { afterAll, beforeAll, expect, test } from "vitest";
import { World } from "./world.js";

let world: World;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

const held = async (guest: ReturnType<World["guest"]>) =>
  (await guest.memories()).map(({ text, status, pending_change }) => `${text}: ${status}${pending_change === null ? "" : ", asked about"}`);

test("[asked-before-forgotten] what a guest is asked about is not forgotten meanwhile, by whoever reads the same words", async () => {
  const ada = world.guest();
  await ada.says("I'm allergic to nuts");
  const { message } = await ada.says("Forget my nut allergy");
  expect(message.content).toMatch(/Do you mean this: “Is allergic to nuts”\?/u);
  expect(await held(ada)).toEqual(["Is allergic to nuts: active, asked about"]);
});

test("[asked-before-forgotten] a no leaves it as it is", async () => {
  const ada = world.guest();
  await ada.says("I'm allergic to nuts");
  await ada.says("Forget my nut allergy");
  const { message } = await ada.says("no");
  expect(message.content).toBe("Then I have changed nothing.");
  expect(await held(ada)).toEqual(["Is allergic to nuts: active"]);
});

test("[asked-before-forgotten] a yes takes it away", async () => {
  const ada = world.guest();
  await ada.says("I'm allergic to nuts");
  await ada.says("Forget my nut allergy");
  await ada.says("yes");
  expect(await ada.holds()).toEqual([]);
});
