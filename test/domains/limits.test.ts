import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { createMaitred, type Domain, defineDomain, defineTool, type Maitred, type MaitredUser } from "../../src/index.js";
import { check } from "../../src/memories/checks/check.js";
import { tempDir } from "../e2e/world.js";
import { messageOf, proposed } from "../reading/message.js";

/** A limit of a domain's own, without a model: read with its one number, one at a time, and held against what is booked. */

const menus = [
  { menu: "lunch", price: 40 },
  { menu: "tasting", price: 80 },
];
type Menu = (typeof menus)[number];
const kitchenOf = (category?: string) =>
  defineDomain({
    name: "kitchen",
    prompt: "You take bookings for a kitchen.",
    languages: ["en", "de"],
    needs: [
      {
        name: "max_price",
        description: "the most that it may cost, in euros",
        kind: "at_most",
        ...(category !== undefined && { category }),
        words: { en: ["euros", "price"], de: ["Euro"] },
        states: ({ price }: Menu) => price,
      },
    ],
    tools: [
      defineTool({
        name: "book_menu",
        description: "Books a menu.",
        parameters: z.object({ menu: z.string() }),
        binds: { what: "menu", items: ({ menu }) => menus.filter((each) => each.menu === menu), show: ({ menu }) => `The ${menu} menu` },
        offline: {
          words: ["book", "buche"],
          input: (message) => ({ menu: menus.find(({ menu }) => message.includes(menu))?.menu ?? "" }),
        },
        run: ({ menu }) => ({ booked: menu }),
      }),
    ],
  });

let maitred: Maitred;
let ada: MaitredUser;
let sessionId: string | undefined;
beforeEach(async () => {
  await opens(kitchenOf());
});
async function opens(domain: Domain): Promise<void> {
  maitred = await createMaitred({ memoryStorageDir: await tempDir(), domain, recallDeadlineMs: 30_000 });
  ada = maitred.for({ user: "ada" });
  sessionId = undefined;
}
afterEach(() => maitred.close());

async function says(message: string): Promise<string> {
  const answer = await ada.chat(message, sessionId === undefined ? {} : { sessionId });
  sessionId = answer.session_id;
  await ada.sessions.flush(sessionId, { timeoutMs: 30_000 });
  return answer.message.content;
}
const holds = async () => (await ada.memories.list()).data.map(({ text, need, strength }) => `${text} (${need}, ${strength})`);

test.each([
  "Never more than 60 euros.",
  "Never more than sixty euros.",
  "I can't spend more than 60 euros",
  "My limit is 60 euros, always.",
  "Höchstens 60 Euro, bitte.",
  "nothing over 60 euros, please",
])("is read with its number, and stops what is over it: %s", async (told) => {
  await says(told);
  expect(await holds()).toEqual([expect.stringMatching(/(?:60|sixty).*\(max_price, hard\)$/)]);
  expect(await says("book tasting")).toMatch(/(?:60|sixty)[\s\S]*Shall I do it anyway\?/);
  expect(await says("no")).toBe("Then I leave it as it is.");
  expect(await says("book lunch")).toMatch(/Shall I go ahead\?/);
});

test.each(["I paid more than 60 euros last time.", "Is it more than 60 euros?", "Find me something under 60 euros", "We were 60 people"])(
  "is none, and nothing is asked about it: %s",
  async (told) => {
    const answer = await says(told);
    expect(answer).not.toMatch(/price/i);
    expect(await holds()).toEqual([]);
  },
);

test("a newer one takes the older one's place, or the guest is asked", async () => {
  await says("Never more than 60 euros.");
  await says("Never more than 90 euros.");
  expect(await holds()).toEqual([expect.stringContaining("90")]);
  expect(await says("book tasting")).toMatch(/Shall I go ahead\?/);
});

test("what is stated of a limit's soft category need not hold: it is asked about once, in any session, and a yes to that does it", async () => {
  await maitred.close();
  await opens(kitchenOf("budget"));
  await ada.memories.add("Would like to spend about 60 euros", { category: "budget" });
  expect((await ada.memories.list()).data).toMatchObject([{ strength: "soft", need: null }]);
  expect(await says("book lunch")).not.toContain("You told me");
  expect(await says("no")).toBe("Then I leave it as it is.");
  expect(await says("book tasting")).toMatch(/You told me: “Would like to spend about 60 euros”\.[\s\S]*Shall I go ahead\?/);
  expect(await says("yes")).toMatch(/^Done: The tasting menu/);
});

test("a category for one value that the limit has alone is about it: what is said there without its words need not hold, and is asked about", async () => {
  await maitred.close();
  await opens(kitchenOf("budget"));
  await ada.memories.add("Would like to spend about 60", { category: "budget" });
  expect(await says("book tasting")).toMatch(/You told me: “Would like to spend about 60”\.[\s\S]*Shall I go ahead\?/);
});

test.each([
  ["soft", { strength: "soft", need: null }],
  ["hard", { strength: "hard", need: "max_price" }],
] as const)("a limit that a model calls by its category holds as the model says: %s", (strength, statement) => {
  const { categories = [], needs = [] } = kitchenOf("budget");
  const proposal = proposed({ quote: "my budget is about 60", need: "budget", category: "budget", strength });
  const { operations } = check(
    messageOf("my budget is about 60"),
    { operations: [proposal], off_record: null, unreadable: 0 },
    { reader: "scripted", categories, needs },
  );
  expect(operations).toMatchObject([{ statement }]);
});

test.each([
  ["my budget is about 60", "soft"],
  ["My budget is 60 a head.", "soft"],
  ["never more than 60 euros", "hard"],
  ["Never more than 60 dollars.", "hard"],
  ["Höchstens 60 Euro, bitte.", "hard"],
])("in a soft category a limit holds as it was meant: %s, %s", async (told, strength) => {
  await maitred.close();
  await opens(kitchenOf("budget"));
  await says(told);
  expect((await ada.memories.list()).data).toMatchObject([{ category: "budget", strength }]);
  expect(await says("book tasting")).toMatch(strength === "soft" ? /You told me[\s\S]*go ahead\?/ : /anyway\?/);
});
