import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import dentist from "../../examples/domains/dentist.js";
import { createMaitred, defineDomain, defineTool, type Maitred } from "../../src/index.js";
import { tempDir } from "../e2e/world.js";

/** The practice without a model: the stand-in goes by the words of the tools, asks where it doubts, and does nothing unasked. */

let maitred: Maitred;
let sessionId: string | undefined;
let user: string;
let users = 0;

beforeEach(async () => {
  maitred = await createMaitred({ memoryStorageDir: await tempDir(), domain: dentist, recallDeadlineMs: 30_000 });
  sessionId = undefined;
  users += 1;
  user = `without-model-${users}`;
});
afterEach(() => maitred.close());

async function says(message: string): Promise<string> {
  const answer = await maitred.for({ user }).chat(message, sessionId === undefined ? {} : { sessionId });
  sessionId = answer.session_id;
  return answer.message.content;
}
async function holds(): Promise<string[]> {
  await maitred.for({ user }).sessions.flush(sessionId ?? "", { timeoutMs: 30_000 });
  const { data } = await maitred.for({ user }).memories.list();
  return data.filter(({ strength }) => strength === "hard").map(({ need }) => need ?? "none");
}

test("[gate-of-every-domain] two needs in one sentence are two, and the next conversation's booking minds them", async () => {
  await says("I am allergic to penicillin and latex.");
  expect((await holds()).toSorted()).toEqual(["no_latex", "no_penicillin"]);
  sessionId = undefined;
  expect(await says("what is free?")).toMatch(/room 1 .*against: .*latex/i);
  expect(await says("book Monday")).toMatch(/latex[\s\S]*Shall I do it anyway\?/i);
  expect(await says("yes")).toMatch(/latex[\s\S]*Shall I do it anyway\?/i);
  expect(await says("book it anyway")).toMatch(/^Done/);
});

test("a yes does what was shown, a no leaves it, and a wrong name cancels nothing", async () => {
  expect(await says("book Wednesday")).toMatch(/2030-03-06[\s\S]*Shall I go ahead\?/);
  expect(await says("no")).toBe("Then I leave it as it is.");
  await says("book Wednesday");
  expect(await says("yes")).toMatch(/^Done/);
  expect(await says("cancel my root canal")).toBe("I find nothing like that. Which one do you mean?");
  expect(await says("cancel Cleaning")).toMatch(/2030-03-06[\s\S]*Shall I go ahead\?/);
  expect(await says("yes")).toMatch(/^Done/);
});

test("a companion's need stops what is for them too, and one that is told too late is held against what is booked", async () => {
  await says("My son is allergic to latex.");
  expect(await holds()).toEqual(["no_latex"]);
  expect(await says("book Monday for me and my son")).toMatch(/latex[\s\S]*anyway\?/i);
  expect(await says("no")).toBe("Then I leave it as it is.");
  await says("book Tuesday");
  expect(await says("yes")).toMatch(/^Done/);
  expect(await says("I use a wheelchair now")).toMatch(/against it now:[\s\S]*2030-03-05/);
});

test("in another language that the domain claims, needs and words are found too", async () => {
  await says("Ich bin allergisch gegen Latex.");
  expect(await holds()).toEqual(["no_latex"]);
  expect(await says("buche Montag")).toMatch(/no latex/i);
});

test("a need that the booking's own message tells stops it from the first", async () => {
  expect(await says("I use a wheelchair. Book Tuesday.")).toMatch(/anyway\?$/);
});

test("a question about what waits never stands behind another one: a yes is to what was asked", async () => {
  await says("I might need sedation, not sure.");
  await holds();
  expect(await says("book Wednesday")).toMatch(/Shall I go ahead\?$/);
  expect(await says("yes")).toMatch(/^Done/);
  expect(await says("forget everything about me")).toMatch(/Shall I forget everything that I remember about you\?$/);
  expect(await says("yes")).toMatch(/^I have forgotten everything/);
});

test("what is to be taken back is no “no” to what was shown, unless nothing is named", async () => {
  await says("book Wednesday");
  expect(await says("cancel my root canal")).toBe("I find nothing like that. Which one do you mean?");
  await says("book Wednesday");
  expect(await says("no, cancel that please")).toBe("Then I leave it as it is.");
});

test("a need's word is of that need where nothing says that it must not be: the guest is asked, and a booking with it", async () => {
  await maitred.close();
  const canteen = defineDomain({
    name: "canteen",
    prompt: "You keep a canteen's tables.",
    needs: [
      { name: "no_gluten", description: "no gluten", words: { en: ["gluten", "coeliac"] }, states: (lunch: string) => lunch !== "pasta" },
    ],
    tools: [
      defineTool({
        name: "book_lunch",
        description: "Books a lunch.",
        parameters: z.object({}),
        binds: { what: "lunch", items: () => ["pasta"], show: (lunch) => `Lunch: ${lunch}` },
        offline: { words: ["book"] },
        run: () => ({ booked: "pasta" }),
      }),
    ],
  });
  maitred = await createMaitred({ memoryStorageDir: await tempDir(), domain: canteen, recallDeadlineMs: 30_000 });
  await says("Hi, by the way I'm coeliac.");
  expect(await says("book lunch")).toMatch(
    /Is coeliac\. "Lunch: pasta" does not meet this: No gluten\. That is not confirmed yet[\s\S]*anyway\?/,
  );
});

test("it says what it is, and what it goes by", async () => {
  expect(await says("What is the meaning of life?")).toMatch(/No language model is connected.*“book”/);
});
