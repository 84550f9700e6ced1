import { expect, test } from "vitest";
import type { Overrides } from "../../src/compose/compose.js";
import { filesHolding, startWorld, tempDir, type World } from "../e2e/world.js";
import { textsOf } from "./shop.js";

const merging = (world: World) => world.application.identities;

interface Receipt {
  readonly verified: boolean;
  readonly residue?: Readonly<Record<string, number>>;
}

const erase = async (world: World, user: string) => (await world.as(user).delete<Receipt>("/v1/me?confirm=true")).body;
const contents = async (world: World, user: string, session: string) =>
  (await world.as(user).get<{ data: { content: string }[] }>(`/v1/sessions/${session}/messages`)).body.data.map(({ content }) => content);

/** While merged with the visitor, who likes zitherns, a user is told so; then the merge is undone. */
async function toldAndUndone(world: World, user: string): Promise<string> {
  const { merge_id } = await merging(world).merge({ from: "visitor", to: user });
  const { session_id, message } = await world.as(user).say("What do you know about me?");
  expect(message.content).toMatch(/zithern/i);
  await merging(world).undo(merge_id);
  return session_id;
}

test("[erasure-complete] [merge-undone] erasing a visitor takes their words out of what users were told whom they were merged with; what those said stays", async () => {
  const dir = await tempDir();
  const world = await startWorld(dir);
  await world.as("visitor").say("I prefer zithern concerts.");
  await world.as("ada").say("I am vegetarian.");
  const [adas, bobs] = [await toldAndUndone(world, "ada"), await toldAndUndone(world, "bob")];
  expect(await erase(world, "visitor")).toMatchObject({ verified: true, erased: { answers_to_others: 2 } });
  for (const [user, session] of [
    ["ada", adas],
    ["bob", bobs],
  ] as const) {
    const [asked, told] = await contents(world, user, session);
    expect(asked).toBe("What do you know about me?");
    expect(told).toMatch(/forgotten/);
  }
  expect(await textsOf(world.as("ada"))).toEqual([expect.stringMatching(/vegetarian/)]);
  await world.stop();
  expect(await filesHolding(dir, ["zithern"])).toEqual([]);
}, 120_000);

test("[erasure-complete] a visitor's words are followed to whom those who were told them turned out to be", async () => {
  const dir = await tempDir();
  const world = await startWorld(dir);
  await world.as("visitor").say("I prefer zithern concerts.");
  await toldAndUndone(world, "ada");
  await merging(world).merge({ from: "ada", to: "lovelace" });
  expect(await erase(world, "visitor")).toMatchObject({ verified: true });
  await world.stop();
  expect(await filesHolding(dir, ["zithern"])).toEqual([]);
}, 120_000);

test("[erasure-complete] where a visitor's words are left with somebody else the receipt says so", async () => {
  let isStuck = false;
  const overrides: Overrides = {
    around: {
      sessions: (store) => ({
        ...store,
        journal: new Proxy(store.journal, {
          get(of, name) {
            const member: unknown = Reflect.get(of, name);
            if (typeof member !== "function") return member;
            return name === "rewrite" && isStuck ? async () => undefined : member.bind(of);
          },
        }),
      }),
    },
  };
  const world = await startWorld(await tempDir(), {}, overrides);
  await world.as("visitor").say("I prefer zithern concerts.");
  await toldAndUndone(world, "ada");
  isStuck = true;
  expect(await erase(world, "visitor")).toMatchObject({ verified: false, residue: { answers_to_others: 1 } });
  isStuck = false;
  expect(await erase(world, "ada")).toMatchObject({ verified: true });
}, 120_000);
