import { afterEach, expect, test } from "vitest";
import { createMaitred, type Maitred, type MaitredUser } from "../../src/index.js";
import { tempDir } from "../e2e/world.js";
import bikes from "./bicycle-rental.js";

/** A trade that nobody had in mind, without a model: what a stranger says to it on the first day. */

let maitred: Maitred | undefined;
let sessionId: string | undefined;
let users = 0;
afterEach(() => maitred?.close());

interface Guest {
  says(message: string): Promise<string>;
  knows(status?: "active" | "review"): Promise<readonly { text: string; need: string | null; subject: string }[]>;
}

async function guest(): Promise<Guest> {
  maitred = await createMaitred({ memoryStorageDir: await tempDir(), domain: bikes, recallDeadlineMs: 30_000 });
  users += 1;
  const user: MaitredUser = maitred.for({ user: `rider-${users}` });
  sessionId = undefined;
  return {
    says: async (message) => {
      const answer = await user.chat(message, sessionId === undefined ? {} : { sessionId });
      sessionId = answer.session_id;
      await user.sessions.flush(sessionId, { timeoutMs: 30_000 });
      return answer.message.content;
    },
    knows: async (status = "active") => {
      const { data } = await user.memories.list({ status });
      return data.map(({ text, need, subject }) => ({ text, need, subject }));
    },
  };
}

test("[gate-of-every-domain] what a tool is asked for is no memory, whatever the trade's word for it", async () => {
  const { says, knows } = await guest();
  await says("rent the city bike for me and my daughter Mia");
  await says("no");
  await says("Miete das City-Rad für mich und Mia");
  expect([...(await knows()), ...(await knows("review"))]).toEqual([]);
});

test("[gate-of-every-domain] an agreement is answered with what was shown, and a need is kept as it was meant", async () => {
  const { says, knows } = await guest();
  await says("By the way, I need a low frame.");
  expect(await knows()).toEqual([{ text: "Needs a low frame", need: "step_through", subject: "self" }]);
  expect(await says("rent the road bike")).toMatch(/^Road bike Dash, €30\.\nNeeds a low frame\.[\s\S]*Shall I do it anyway\?$/);
  await says("no");
  await says("rent the city bike");
  expect(await says("yes")).toBe("Done: City bike Anna, €18.");
});

test("[gate-of-every-domain] a companion who is called by name, with a need told beside it", async () => {
  const { says, knows } = await guest();
  await says("Mia needs a child seat, by the way");
  expect(await knows("review")).toEqual([{ text: "Mia needs a child seat", need: "child_seat", subject: "companion:Mia" }]);
  expect(await says("rent the road bike for me and Mia")).toMatch(/That is not confirmed yet: is it so\?[\s\S]*Shall I do it anyway\?$/);
});

test("[gate-of-every-domain] who is spoken of in the message itself is minded, whether or not anybody counted them", async () => {
  const { says } = await guest();
  await says("Meine Tochter Mia braucht einen Kindersitz.");
  expect(await says("Miete das road für mich und Mia")).toMatch(/Kindersitz[\s\S]*anyway\?$/);
  await says("nein");
  // Her name stands in no form that tells who comes.
  expect(await says("Miete das road, Mia freut sich schon")).toMatch(/If daughter comes along: Meine Tochter Mia braucht einen Kindersitz/);
  expect(await says("Miete das road")).not.toMatch(/Kindersitz\. "Road/);
});

test("[gate-of-every-domain] a pet comes along as a companion does", async () => {
  const { says, knows } = await guest();
  await says("My dog Rex needs a dog trailer.");
  expect(await knows()).toEqual([{ text: "Dog Rex needs a dog trailer", need: "dog_trailer", subject: "companion:dog" }]);
  expect(await says("rent the city bike for me and my dog")).toMatch(/dog trailer[\s\S]*anyway\?/);
  await says("no");
  expect(await says("rent the city bike for me and Rex")).toMatch(/dog trailer[\s\S]*anyway\?/);
  await says("no");
  expect(await says("rent the city bike")).not.toMatch(/needs a dog trailer. "City/);
});

test("[gate-of-every-domain] where rentals don't say who comes, a companion's need told too late is told as of somebody who may", async () => {
  const { says } = await guest();
  await says("rent the city bike");
  await says("yes");
  expect(await says("My dog Rex needs a dog trailer.")).toMatch(/City bike Anna.* · if they come along: dog: Dog Rex needs a dog trailer/);
  expect(await says("my rentals")).not.toContain("if they come along");
});

test("[gate-of-every-domain] a limit stops what is over it, and is told when asked for", async () => {
  const { says } = await guest();
  await says("I never want to spend more than 25 euros.");
  expect(await says("rent the cargo bike")).toMatch(/25 euros[\s\S]*anyway\?$/);
  await says("no");
  expect(await says("what is my budget?")).toBe(
    "This is what I remember about that:\n- Never wants to spend more than 25 euros (must hold)",
  );
});

test("[gate-of-every-domain] “forget that” asks which one, and takes only that", async () => {
  const { says, knows } = await guest();
  await says("I need a low frame.");
  await says("I never want to spend more than 25 euros.");
  await says("what do you know about me?");
  const which = await says("forget that");
  expect(which).toMatch(/^Which of these do you mean\?\n1\. .*\n2\. /);
  expect(await knows()).toHaveLength(2);
  // What must hold goes with a plain yes alone.
  expect(await says(/(\d)\. Needs a low frame/.exec(which)?.[1] ?? "")).toBe(
    "Before I act on it I need your word: Forget: Needs a low frame. Is that right?",
  );
  await says("yes");
  expect(await knows()).toMatchObject([{ need: "budget" }]);
});

test("[gate-of-every-domain] “forget that” to what waits keeps nothing of it, and to a booking leaves the memories alone", async () => {
  const { says, knows } = await guest();
  await says("Mia needs a child seat, by the way");
  expect(await says("what do you know about me?")).toMatch(
    /^I remember nothing[\s\S]*Not confirmed yet:\n- Mia needs[\s\S]*Shall I keep “.*”\?$/,
  );
  expect(await says("forget that")).toBe("Understood. I don't keep it.");
  expect([...(await knows()), ...(await knows("review"))]).toEqual([]);
  await says("I need a low frame.");
  await says("rent the city bike");
  expect(await says("forget that")).not.toMatch(/Which of these/);
  expect(await knows()).toHaveLength(1);
});

test("what a category is for is what its situations' messages are given", async () => {
  await guest();
  const user = (maitred as Maitred).for({ user: `rider-${users}` });
  await user.memories.add("Likes flat routes along rivers", { category: "riding", strength: "soft" });
  await user.memories.add("Wants hydraulic pads", { category: "repairs", strength: "soft" });
  await user.memories.add("Needs a low frame", { category: "needs", strength: "hard" });
  const given = async (message: string) => {
    const { memory } = await user.chat(message);
    return memory.recalled.map(({ text }) => text).toSorted();
  };
  expect(await given("Which tour would you take on a sunny afternoon?")).toEqual(["Likes flat routes along rivers", "Needs a low frame"]);
  expect(await given("Könnt ihr die Bremsen nachstellen?")).toEqual(["Needs a low frame", "Wants hydraulic pads"]);
  expect(await given("Thank you!")).toEqual([]);
});
