import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createMaitred } from "../../src/index.js";
import { TaskModel } from "../support/task-model.js";
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

const FAMILY = ["My mum is allergic to nuts. My mum loves opera.", "I love jazz."];

async function withFamily() {
  const ada = world.guest();
  for (const said of FAMILY) await ada.says(said);
  return ada;
}

test("[forgotten-as-a-whole] what is known of somebody is named and asked about where some of it must hold", async () => {
  const ada = await withFamily();
  const { message } = await ada.says("Forget what you know about my mum.");
  expect(message.content).toBe("Shall I forget “Mother is allergic to nuts”? Shall I forget “Mum loves opera”?");
  expect((await held(ada)).sort()).toEqual([
    "Loves jazz: active",
    "Mother is allergic to nuts: active, asked about",
    "Mum loves opera: active, asked about",
  ]);
});

test("[forgotten-as-a-whole] of somebody with tastes alone all goes at once, and is named", async () => {
  const ada = world.guest();
  await ada.says("My mum loves opera. I love jazz.");
  expect((await ada.says("Please forget everything about my mother")).message.content).toBe("I have forgotten: Mum loves opera.");
  expect(await held(ada)).toEqual(["Loves jazz: active"]);
});

test.each([
  ["yes", "Thank you. I have forgotten that.", ["Loves jazz: active"]],
  ["no", "Understood. I keep what I knew.", ["Loves jazz: active", "Mother is allergic to nuts: active", "Mum loves opera: active"]],
])("[forgotten-as-a-whole] a %s settles it", async (answer, told, kept) => {
  const ada = await withFamily();
  await ada.says("Please forget everything about my mother");
  const { message } = await ada.says(answer);
  expect(message.content).toBe(told);
  expect((await held(ada)).sort()).toEqual(kept);
});

test("[forgotten-as-a-whole] somebody is known by name, too", async () => {
  const ada = world.guest();
  await ada.says("My daughter Emma is vegan. I love jazz.");
  const { message } = await ada.says("Forget what you know about Emma");
  expect(message.content).toBe("Shall I forget “Daughter Emma is vegan”?");
  await ada.says("yes");
  expect(await ada.holds()).toEqual(["Loves jazz"]);
});

test("[forgotten-as-a-whole] of somebody who is not known nothing is forgotten", async () => {
  const ada = await withFamily();
  const { message } = await ada.says("Forget what you know about my brother");
  expect(message.content).toMatch(/I remember nothing like that/u);
  expect(await held(ada)).toHaveLength(3);
});

test("[ended-in-other-words] a need that is over in other words holds until the guest says so", async () => {
  const ada = world.guest();
  await ada.says("I need step-free access.");
  await ada.says("My knee is fine now, stairs are no problem.");
  expect(await held(ada)).toEqual(["Needs step-free access: active, asked about"]);
  const { message } = await ada.says("I love jazz.");
  expect(message.content).toContain("Does this no longer hold: “Needs step-free access”?");
  await ada.says("yes");
  expect(await ada.holds()).toEqual(["Loves jazz"]);
});

test("[asked-before-forgotten] of several that were found, the next message may take away what the answer named, and no other", async () => {
  const model = new TaskModel();
  const maitred = await createMaitred({ shortTermBackend: "memory", embeddingProvider: "hashing", recallDeadlineMs: 30_000, model });
  onTestFinished(() => maitred.close());
  const ada = maitred.for({ user: "ada" });
  const ids: string[] = [];
  for (const text of ["Loves jazz", "Loves opera", "Sits by the window"])
    ids.push((await ada.memories.add(text, { category: "preference", strength: "soft" })).id);
  const [jazz = "", , window = ""] = ids;
  const forget = (input: object) => ({ name: "forget", arguments: input });
  model.replies.push(forget({ what: "what I told you" }), "Is it jazz, or opera?");
  const { session_id: sessionId, steps } = await ada.chat("Forget what I told you", { thread: "t1" });
  expect(steps).toMatchObject([{ output: { status: "which_one", memories: [{}, {}, {}] } }]);
  model.replies.push(forget({ memory_id: window }), forget({ memory_id: jazz }), "Done.");
  const said = await ada.chat("The first one", { thread: "t1" });
  expect(said.steps.map(({ output }) => output)).toMatchObject([{ status: "which_one" }, { status: "forgotten", forgot: ["Loves jazz"] }]);
  expect(said.session_id).toBe(sessionId);
  expect((await ada.memories.list()).data.map(({ text }) => text).toSorted()).toEqual(["Loves opera", "Sits by the window"]);
});
