import { expect, test } from "vitest";
import type { Memory } from "../../src/domain/memory.js";
import { openShop, sessionsOf, textsOf } from "./shop.js";

const SAID = "I prefer jazz concerts, and I need step-free access.";

test("[merge-whole] what a visitor said is known of who they turn out to be, once; their session goes on by its old id, and they are that user", async () => {
  const shop = await openShop();
  const [visitor, ada] = [shop.as("visitor"), shop.as("ada")];
  const first = await visitor.say(SAID);
  await ada.say("I prefer jazz concerts.");
  await ada.post("/v1/memories", { text: "Likes window seats", category: "seating" });
  const merge = await shop.merge("visitor", "ada");
  expect(merge).toMatchObject({ from: "visitor", to: "ada", state: "merged" });
  const told = await shop.backend<{ data: { type: string; user: string; data: object }[] }>("GET", "/v1/events?limit=200");
  expect(told.body.data.filter(({ type }) => type === "owner.merged")).toMatchObject([
    { user: "ada", data: { merge_id: merge.merge_id, from: "visitor" } },
  ]);
  // What was said was told when it was, of whom said it: in order for each user, not over them.
  const turns = told.body.data.filter(({ type }) => type === "turn.completed");
  expect(turns.map(({ user }) => user).sort()).toEqual(["ada", "visitor"]);
  const texts = await textsOf(ada);
  expect(texts).toHaveLength(3);
  expect(texts).toEqual([expect.stringMatching(/window/i), expect.stringMatching(/step-free/i), expect.stringMatching(/jazz/i)].sort());
  expect(await textsOf(visitor)).toEqual(texts);
  expect(await sessionsOf(ada)).toHaveLength(2);
  expect((await visitor.get<{ user: { id: string } }>("/v1/me")).body.user.id).toBe("ada");
  for (const client of [visitor, ada]) {
    const { body, status } = await client.get<{ data: { content: string }[] }>(`/v1/sessions/${first.session_id}/messages`);
    expect(status).toBe(200);
    expect(body.data[0]?.content).toBe(SAID);
    const hits = await client.post<{ data: { content: string }[] }>("/v1/history/search", { query: "step-free access" });
    expect(hits.body.data.filter(({ content }) => content === SAID)).toHaveLength(1);
  }
  const next = await visitor.say("Anything good this weekend?", { session_id: first.session_id });
  expect(next.memory.recalled.map(({ category }) => category)).toEqual(expect.arrayContaining(["accessibility", "genre"]));
  expect(next.turn).toBe(2);
  expect(await shop.merge("visitor", "ada")).toEqual(merge);
  expect(await textsOf(ada)).toEqual(texts);

  const undone = await shop.undo(merge);
  expect(undone).toEqual({ ...merge, state: "undone" });
  expect(await textsOf(visitor)).toHaveLength(2);
  expect(await textsOf(ada)).toEqual([expect.stringMatching(/window/i), expect.stringMatching(/jazz/i)].sort());
  expect((await visitor.get(`/v1/sessions/${first.session_id}`)).body).toMatchObject({ message_count: 2 });
  // What was said as ada stays ada's.
  const kept = await ada.get<{ data: { content: string }[] }>(`/v1/sessions/${next.session_id}/messages`);
  expect(kept.body.data.map(({ content }) => content)).toEqual(["Anything good this weekend?", next.message.content]);
  expect((await ada.get(`/v1/sessions/${first.session_id}`)).status).toBe(404);
}, 120_000);

test("[merge-whole] only a backend merges, users of its own tenant; a user is merged once, with somebody else, in no circle", async () => {
  const shop = await openShop();
  await shop.as("visitor").say("I prefer jazz concerts.");
  const code = async (from: string, to: string) => (await shop.backend("POST", "/v1/identities/merge", { from, to })).body.code;
  expect(await code("ada", "user:ada")).toBe("SAME_IDENTITY");
  expect(await code("a b", "ada")).toBe("INVALID_USER_ID");
  const merge = await shop.merge("visitor", "ada");
  expect(await code("visitor", "bob")).toBe("IDENTITY_MERGED");
  expect(await code("ada", "visitor")).toBe("IDENTITY_MERGED");
  expect(await code("ada", "bob")).toBe("IDENTITY_MERGED");
  // By way of somebody who was merged.
  expect(await shop.merge("tablet", "visitor")).toMatchObject({ from: "tablet", to: "ada" });
  const { merge_id } = merge;
  const path = `/v1/identities/merge/${merge_id}`;
  expect((await shop.backend("GET", path)).body).toEqual(merge);
  const other = shop.as("", "other");
  for (const answer of [await other.get(path), await other.post(`${path}/undo`), await shop.backend("GET", `${path}x`)])
    expect(answer).toMatchObject({ status: 404, body: { code: "MERGE_NOT_FOUND" } });
  expect((await other.post("/v1/identities/merge", { from: "visitor", to: "bob" })).status).toBe(202);
  expect(await textsOf(shop.as("visitor"))).toHaveLength(1);
  expect(await textsOf(shop.as("bob", "other"))).toEqual([]);
}, 120_000);

test("[merge-whole] the same call again is one merge, with a key also after it was undone; another body with the key is refused", async () => {
  const shop = await openShop();
  await shop.as("visitor").say("I prefer jazz concerts.");
  const ask = (body: object) => shop.backend("POST", "/v1/identities/merge", body, { "Idempotency-Key": "k" });
  const answers = await Promise.all([1, 2, 3].map(() => ask({ from: "visitor", to: "ada" })));
  expect(new Set(answers.map(({ body }) => body.merge_id)).size).toBe(1);
  expect(await sessionsOf(shop.as("ada"))).toHaveLength(1);
  expect((await ask({ from: "visitor", to: "bob" })).body.code).toBe("IDEMPOTENCY_KEY_REUSED");
  const [first] = answers;
  await shop.undo(first?.body as never);
  expect((await ask({ from: "visitor", to: "ada" })).body).toMatchObject({ merge_id: first?.body.merge_id, state: "undone" });
  expect(await sessionsOf(shop.as("ada"))).toHaveLength(0);
  const again = await shop.merge("visitor", "ada");
  expect(again.merge_id).not.toBe(first?.body.merge_id);
  expect(await textsOf(shop.as("ada"))).toHaveLength(1);
}, 120_000);

test("[merge-whole] turns of both go on while they are merged: each is answered or refused, and what was answered is there once", async () => {
  const shop = await openShop();
  const [visitor, ada] = [shop.as("visitor"), shop.as("ada")];
  const { session_id } = await visitor.say("Hello there.");
  const said = Array.from({ length: 12 }, (_, turn) => ({
    client: turn % 2 === 0 ? visitor : ada,
    message: `Turn number ${turn}, please.`,
  }));
  const turns = said.map(({ client, message }) => {
    const session = client === visitor ? { session_id } : {};
    return client.post<{ message: { id: string } }>("/v1/chat", { message, ...session });
  });
  const [merge, ...answers] = await Promise.all([shop.merge("visitor", "ada"), ...turns]);
  expect(merge.state).toBe("merged");
  const answered = said.filter((_, turn) => answers[turn]?.status === 200).map(({ message }) => message);
  expect(answers.map(({ status }) => status).filter((status) => ![200, 409, 404].includes(status))).toEqual([]);
  const { body } = await ada.get<{ data: { id: string }[] }>("/v1/sessions?limit=200");
  const contents = await Promise.all(
    body.data.map(
      async ({ id }) => (await ada.get<{ data: { role: string; content: string }[] }>(`/v1/sessions/${id}/messages?limit=200`)).body.data,
    ),
  );
  const users = contents.flat().flatMap(({ role, content }) => (role === "user" ? [content] : []));
  expect(answered.length).toBeGreaterThan(0);
  for (const message of answered) expect(users.filter((content) => content === message)).toHaveLength(1);
}, 120_000);

test("[merge-whole] bookings go over with their seats, and come back with an undo; what is told of them is told once", async () => {
  const shop = await openShop();
  const [visitor, ada] = [shop.as("visitor"), shop.as("ada")];
  const { session_id } = await visitor.say("I'd like jazz this weekend, two tickets.");
  await visitor.say("Book two of the first one.", { session_id });
  await visitor.say("Yes, book it.", { session_id });
  const bookings = async (client: typeof ada) =>
    (await client.get<{ records: { bookings: { id: string; status: string }[] } }>("/v1/me/export")).body.records.bookings;
  const booked = await bookings(visitor);
  expect(booked).toHaveLength(1);
  const merge = await shop.merge("visitor", "ada");
  expect(await bookings(ada)).toEqual(booked);
  await ada.say("Thank you!", { session_id });
  const happened = async () => (await textsOf(ada)).filter((text) => text.startsWith("Booked"));
  expect(await happened()).toHaveLength(1);
  await shop.undo(merge);
  expect(await bookings(ada)).toEqual([]);
  expect(await bookings(visitor)).toEqual(booked);
  expect(await happened()).toEqual([]);
  expect((await textsOf(visitor)).filter((text) => text.startsWith("Booked"))).toHaveLength(1);
}, 120_000);

test("[merge-whole] of two who are merged with each other at once, and of one who is merged away meanwhile, nobody is said to be erased", async () => {
  const shop = await openShop();
  for (const user of ["ada", "bob", "cleo"]) await shop.as(user).post("/v1/memories", { text: `Likes the songs of ${user}` });
  const merging = (from: string, to: string) => shop.backend<{ code?: string; to?: string }>("POST", "/v1/identities/merge", { from, to });
  const crossed = await Promise.all([merging("ada", "bob"), merging("bob", "ada")]);
  expect(crossed.map(({ status }) => status)).toEqual([202, 409]);
  expect(crossed[1]?.body.code).toBe("IDENTITY_MERGED");
  const chained = await Promise.all([merging("bob", "dan"), merging("cleo", "ada")]);
  expect(chained.map(({ body }) => body.code ?? body.to)).toEqual(["IDENTITY_MERGED", "bob"]);
  const meanwhile = await Promise.all([merging("eve", "fay"), merging("gil", "eve")]);
  expect(meanwhile.map(({ body }) => body.code ?? body.to)).toEqual(["fay", "fay"]);
  expect(await textsOf(shop.as("cleo"))).toHaveLength(3);
});

test("[merge-whole] two diets, one of each, never hold side by side: what the known user said holds, and the other waits for their word", async () => {
  const shop = await openShop();
  await shop.as("visitor").say("I am vegan.");
  const ada = shop.as("ada");
  await ada.say("I am vegetarian.");
  await shop.merge("visitor", "ada");
  const texts = async (status: string) =>
    (await ada.get<{ data: Memory[] }>(`/v1/memories?status=${status}`)).body.data.map(({ text }) => text);
  expect(await texts("active")).toEqual([expect.stringMatching(/vegetarian/i)]);
  expect(await texts("review")).toEqual([expect.stringMatching(/vegan/i)]);
});
