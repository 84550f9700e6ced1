import { expect, test } from "vitest";
import type { Overrides } from "../../src/compose/compose.js";
import type { Memory } from "../../src/domain/memory.js";
import { ownerOf } from "../../src/domain/owner.js";
import { filesHolding, startWorld, tempDir, type World } from "../e2e/world.js";
import { textsOf } from "./shop.js";

const DAY_MS = 86_400_000;
const VISITOR = ownerOf("default", "visitor");
const ADA = ownerOf("default", "ada");

const merging = (world: World) => world.application.identities;
const merge = (world: World) => merging(world).merge({ from: "visitor", to: "ada" });

async function memoriesOf(world: World, user: string): Promise<readonly Memory[]> {
  return (await world.as(user).get<{ data: Memory[] }>("/v1/memories?limit=200")).body.data;
}

async function forget(world: World, user: string, words: RegExp): Promise<void> {
  const found = (await memoriesOf(world, user)).filter(({ text }) => words.test(text));
  expect(found).toHaveLength(1);
  expect((await world.as(user).delete(`/v1/memories/${found[0]?.id}`)).status).toBe(204);
}

/** A clock that can be put forward. */
function clockOf(): { readonly overrides: Overrides; forward(ms: number): void } {
  let ahead = 0;
  return {
    overrides: { clock: { now: () => new Date(Date.now() + ahead) } },
    forward: (ms) => {
      ahead += ms;
    },
  };
}

test("[merge-whole] what a visitor had forgotten stays so for who they turn out to be, and what that user had forgotten does too", async () => {
  const world = await startWorld(await tempDir());
  const [visitor, ada] = [world.as("visitor"), world.as("ada")];
  await visitor.post("/v1/memories", { text: "Likes window seats", category: "seating" });
  await forget(world, "visitor", /window/);
  await ada.post("/v1/memories", { text: "Likes opera", category: "genre" });
  await forget(world, "ada", /opera/);
  // Said before it was forgotten: kept, as in an export of before.
  await visitor.say("I prefer jazz concerts.");
  const before = "2026-01-01T10:00:00.000Z";
  const [jazz] = await memoriesOf(world, "visitor");
  const opera = { ...(jazz as Memory), id: "0198a7c4-0000-7000-8000-000000000001", text: "Likes opera", stated_at: before, source: null };
  await world.application.parts.longTerm.restore(VISITOR, [opera]);
  expect(await textsOf(visitor)).toContain("Likes opera");
  await merge(world);
  expect(await textsOf(ada)).toEqual([expect.stringMatching(/jazz/)]);
  const said = { ...opera, id: "0198a7c4-0000-7000-8000-000000000002", text: "likes WINDOW seats" };
  expect(await world.application.parts.longTerm.restore(ADA, [said])).toBe(0);
}, 120_000);

test("[merge-undone] what was forgotten, purged and deleted in between stays so for the visitor; the rest is theirs again", async () => {
  const world = await startWorld(await tempDir());
  const [visitor, ada] = [world.as("visitor"), world.as("ada")];
  const jazz = await visitor.say("I prefer jazz concerts.");
  const seats = await visitor.say("I always sit by the aisle.");
  const nuts = await visitor.say("I am allergic to nuts.");
  await ada.say("I prefer jazz concerts.");
  const was = await textsOf(visitor);
  expect(was).toHaveLength(3);
  const { merge_id } = await merge(world);
  // The visitor's and ada's own, which is one by now.
  await forget(world, "ada", /jazz/);
  expect((await ada.delete(`/v1/sessions/${nuts.session_id}?purge=true`)).status).toBe(204);
  expect((await ada.delete(`/v1/sessions/${seats.session_id}`)).status).toBe(204);
  await merging(world).undo(merge_id);
  expect(await textsOf(visitor)).toEqual(was.filter((text) => !/jazz|nuts/.test(text)));
  expect(await textsOf(ada)).toEqual([]);
  const status = async (id: string) => (await visitor.get<{ status: string | number }>(`/v1/sessions/${id}`)).body.status;
  expect([await status(jazz.session_id), await status(seats.session_id), await status(nuts.session_id)]).toEqual([
    "active",
    "deleted",
    404,
  ]);
  const found = await visitor.post<{ data: { content: string }[] }>("/v1/history/search", { query: "jazz nuts" });
  expect(found.body.data.filter(({ content }) => /prefer jazz|allergic/.test(content))).toEqual([]);
}, 120_000);

test("[merge-undone] an emptied session comes back empty, and what waits for a word still waits", async () => {
  const world = await startWorld(await tempDir());
  const [visitor, ada] = [world.as("visitor"), world.as("ada")];
  const said = await visitor.say("I am allergic to nuts.");
  const [nuts] = await memoriesOf(world, "visitor");
  const unsure = { id: "0198a7c4-0000-7000-8000-000000000003", status: "review", reason: "unsure" } as const;
  await world.application.parts.longTerm.restore(VISITOR, [{ ...(nuts as Memory), ...unsure, text: "Is vegan", need: "vegan" }]);
  const waits = async (client: typeof ada) =>
    (await client.get<{ data: Memory[] }>("/v1/memories?status=review")).body.data.map(({ text }) => text);
  const waiting = await waits(visitor);
  expect(waiting).toHaveLength(1);
  const { merge_id } = await merge(world);
  expect(await waits(ada)).toEqual(waiting);
  expect((await ada.delete(`/v1/sessions/${said.session_id}/messages`)).status).toBe(204);
  await merging(world).undo(merge_id);
  expect(await waits(visitor)).toEqual(waiting);
  expect(await waits(ada)).toEqual([]);
  expect((await visitor.get<{ data: unknown[] }>(`/v1/sessions/${said.session_id}/messages`)).body.data).toEqual([]);
}, 120_000);

test("[merge-undone] [erasure-complete] erasing who they turned out to be erases what lies dormant; an undo finds nothing then", async () => {
  const dir = await tempDir();
  const world = await startWorld(dir);
  const [visitor, ada] = [world.as("visitor"), world.as("ada")];
  await visitor.say("I prefer zithern concerts.");
  await visitor.post("/v1/memories", { text: "Likes zithern seats", category: "seating" });
  await ada.say("I prefer jazz concerts.");
  const { merge_id } = await merge(world);
  const exported = (await ada.get("/v1/me/export")).text;
  expect(exported.match(/I prefer zithern concerts\./g)?.length).toBeGreaterThan(0);
  expect(JSON.parse(exported)).toMatchObject({ sessions: { length: 2 }, memories: { length: 3 } });
  // By the name that they had, too.
  const receipt = await visitor.delete<{ verified: boolean }>("/v1/me?confirm=true");
  expect(receipt.body).toMatchObject({ verified: true });
  expect(await filesHolding(dir, ["zithern", "jazz concerts"])).toEqual([]);
  await expect(merging(world).undo(merge_id)).rejects.toMatchObject({ code: "MERGE_NOT_FOUND" });
  expect(await textsOf(visitor)).toEqual([]);
  await visitor.say("I prefer opera.");
  expect(await textsOf(visitor)).toHaveLength(1);
  expect(await textsOf(ada)).toEqual([]);
}, 120_000);

test("[merge-undone] [erasure-complete] after an undo a fork has the visitor's words no more: their erasure leaves none, and what ada said stays", async () => {
  const dir = await tempDir();
  const world = await startWorld(dir);
  const [visitor, ada] = [world.as("visitor"), world.as("ada")];
  await visitor.say("I prefer zithern concerts.");
  await ada.say("I am vegetarian.");
  const { merge_id } = await merge(world);
  const copy = (await ada.get<{ data: { id: string; title: string }[] }>("/v1/sessions")).body.data.find(({ title }) =>
    /zithern/i.test(title),
  );
  const saidIn = async (id: string) =>
    (await ada.get<{ data: { id: string; role: string; content: string }[] }>(`/v1/sessions/${id}/messages`)).body.data;
  const first = (await saidIn(copy?.id ?? ""))[0]?.id;
  const forked = async (id = "") => {
    const fork = await ada.post<{ id: string }>(`/v1/sessions/${id}/fork`, { message_id: first });
    expect(fork.status).toBe(201);
    return fork.body.id;
  };
  const [left, goesOn, purged] = [await forked(copy?.id), await forked(copy?.id), await forked(copy?.id)];
  await ada.say("Good evening to you all.", { session_id: goesOn });
  expect((await ada.delete(`/v1/sessions/${copy?.id}?purge=true`)).status).toBe(204);
  await merging(world).undo(merge_id);
  for (const id of [left, purged]) expect((await ada.get(`/v1/sessions/${id}`)).status).toBe(404);
  const kept = await saidIn(goesOn);
  expect(kept.map(({ role }) => role)).toEqual(["user", "assistant"]);
  expect(kept[0]?.content).toBe("Good evening to you all.");
  const receipt = await visitor.delete<{ verified: boolean }>("/v1/me?confirm=true");
  expect(receipt.body).toMatchObject({ verified: true });
  expect(await filesHolding(dir, ["zithern"])).toEqual([]);
  expect(await textsOf(ada)).toEqual([expect.stringMatching(/vegetarian/i)]);
}, 120_000);

test("[merge-undone] after 30 days what lay dormant is erased, the undo is refused, and the visitor is still who they turned out to be", async () => {
  const dir = await tempDir();
  const { overrides, forward } = clockOf();
  const world = await startWorld(dir, {}, overrides);
  const [visitor, ada] = [world.as("visitor"), world.as("ada")];
  await visitor.say("I prefer jazz concerts.");
  const { merge_id } = await merge(world);
  forward(29 * DAY_MS);
  await world.application.parts.retention({ dryRun: false });
  expect(await world.application.parts.store.journal.residue(VISITOR)).toBe(1);
  forward(1.1 * DAY_MS);
  await expect(merging(world).undo(merge_id)).rejects.toMatchObject({ code: "MERGE_FINAL", status: 410 });
  await world.application.parts.retention({ dryRun: false });
  expect(await world.application.parts.store.journal.residue(VISITOR)).toBe(0);
  expect(await merging(world).get(merge_id)).toMatchObject({ state: "final" });
  await expect(merging(world).undo(merge_id)).rejects.toMatchObject({ code: "MERGE_FINAL" });
  expect(await textsOf(visitor)).toEqual([expect.stringMatching(/jazz/)]);
  expect(await textsOf(ada)).toHaveLength(1);
  // Whoever knew them by then is known by way of nobody.
  await merging(world).merge({ from: "ada", to: "lovelace" });
  expect(await merging(world).resolve(VISITOR)).toBe(ownerOf("default", "lovelace"));
  expect(await textsOf(visitor)).toHaveLength(1);
}, 120_000);

test("[merge-undone] [erasure-complete] an erasure while they are merged leaves nothing of either, whichever comes first", async () => {
  const dir = await tempDir();
  const world = await startWorld(dir);
  await world.as("visitor").say("I prefer zithern concerts.");
  await world.as("ada").say("I prefer zithern opera.");
  const [merged, erased] = await Promise.allSettled([merge(world), world.application.privacy.erase(ADA, { by: "user" })]);
  expect(erased).toMatchObject({ status: "fulfilled", value: { verified: true } });
  if (merged.status === "rejected") expect(merged.reason).toMatchObject({ code: "OWNER_ERASED" });
  // Where the erasure came first there was no merge yet: the visitor is still somebody by themselves.
  const who = await merging(world).resolve(VISITOR);
  await world.application.privacy.erase(who, { by: "user" });
  expect(await filesHolding(dir, ["zithern"])).toEqual([]);
}, 120_000);

test("[merge-undone] who was known by way of a user is so again when that user's own merge is undone", async () => {
  const { overrides, forward } = clockOf();
  const world = await startWorld(await tempDir(), {}, overrides);
  await world.as("visitor").say("I prefer jazz concerts.");
  await merge(world);
  forward(31 * DAY_MS);
  await world.application.parts.retention({ dryRun: false });
  const { merge_id } = await merging(world).merge({ from: "ada", to: "lovelace" });
  expect(await merging(world).resolve(VISITOR)).toBe(ownerOf("default", "lovelace"));
  await merging(world).undo(merge_id);
  expect(await merging(world).resolve(VISITOR)).toBe(ADA);
  expect(await textsOf(world.as("visitor"))).toEqual([expect.stringMatching(/jazz/)]);
}, 120_000);
