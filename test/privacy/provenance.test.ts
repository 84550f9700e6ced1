import { expect, test } from "vitest";
import type { Memory } from "../../src/domain/memory.js";
import type { Session } from "../../src/domain/session.js";
import { startWorld, tempDir, type World } from "../e2e/world.js";
import { eventually } from "../sessions-e2e/models.js";

async function opened() {
  const world: World = await startWorld(await tempDir());
  const guest = world.as("ada");
  const found = async (query: string) => {
    const { body } = await guest.post<{ data: { content: string }[] }>("/v1/history/search", { query });
    return body.data.map(({ content }) => content);
  };
  const told = async (query: string, word: RegExp) => (await found(query)).filter((content) => word.test(content)).length;
  const forget = async (word: RegExp) => {
    const memory = (await guest.get<{ data: Memory[] }>("/v1/memories?limit=200")).body.data.find(({ text }) => word.test(text));
    expect((await guest.request("DELETE", `/v1/memories/${memory?.id}`)).status).toBe(204);
  };
  const named = async () => JSON.stringify((await guest.get<{ data: Session[] }>("/v1/sessions?limit=200")).body.data);
  const fork = async (id: string, at = 0) => {
    const { data } = (await guest.get<{ data: { id: string }[] }>(`/v1/sessions/${id}/messages`)).body;
    return (await guest.post<{ id: string }>(`/v1/sessions/${id}/fork`, { message_id: data.at(at)?.id })).body.id;
  };
  return { world, guest, found, told, forget, named, fork };
}

test("[forgotten-untold] [forgotten-stays-forgotten] an answer in another conversation that recited what was forgotten is found no more, also after a reindex; what was asked is", async () => {
  const { world, guest, found, told, forget, named } = await opened();
  await guest.say("I prefer zithern concerts.");
  const { message } = await guest.say("What do you know about me?");
  expect(message.content).toMatch(/zithern/i);
  // As said, as the answer names it, and as it is recited.
  expect(await told("zithern", /zithern/i)).toBe(3);
  await forget(/zithern/i);
  await eventually(() => told("zithern", /zithern/i)).toBe(0);
  expect(await found("What do you know about me?")).toContain("What do you know about me?");
  await world.application.parts.reindex({ which: "all" });
  expect(await told("zithern", /zithern/i)).toBe(0);
  await eventually(named).not.toMatch(/zithern/i);
  expect(await named()).toContain("What do you know about me?");
}, 60_000);

test("[forgotten-untold] a thing added by hand and forgotten is in no answer that recited it, in no fork of one, and in no name of either", async () => {
  const { guest, told, forget, named, fork } = await opened();
  await guest.post("/v1/memories", { text: "Likes Zithern Academy", category: "genre" });
  const { message, session_id } = await guest.say("What do you know about me?");
  expect(message.content).toMatch(/zithern/i);
  const forked = await fork(session_id, -1);
  await guest.say("Good evening.", { session_id: forked });
  await forget(/zithern/i);
  await eventually(() => told("zithern", /zithern/i)).toBe(0);
  await eventually(named).not.toMatch(/zithern/i);
}, 60_000);

for (const asked of ["the conversation that was forked", "the fork"] as const)
  test(`[forgotten-untold] what is taken off the record in ${asked} is so in the other too: memories, history, names and summaries of both`, async () => {
    const { world, guest, told, named, fork } = await opened();
    const { session_id: source } = await guest.say("I prefer Zithern Academy concerts.");
    const forked = await fork(source);
    expect(JSON.stringify((await guest.get("/v1/memories")).body)).toMatch(/zithern/i);
    const here = asked === "the fork" ? forked : source;
    await guest.say("Please don't keep that.", { session_id: here });
    await guest.post(`/v1/sessions/${here}/flush?timeout_ms=10000`);
    await eventually(async () => JSON.stringify((await guest.get("/v1/memories")).body)).not.toMatch(/zithern/i);
    await eventually(() => told("zithern", /zithern/i)).toBe(0);
    await eventually(named).not.toMatch(/zithern/i);
    await world.application.parts.reindex({ which: "all" });
    expect(await told("zithern", /zithern/i)).toBe(0);
    // What is archived is summed up without it.
    for (const id of [source, forked]) await guest.request("PATCH", `/v1/sessions/${id}`, { status: "archived" });
    expect(JSON.stringify((await guest.get("/v1/sessions?status=archived")).body)).not.toMatch(/zithern/i);
  }, 60_000);

test("[forgotten-untold] a narrative doesn't tell what a memory that it names says no more, nor what was taken off the record since", async () => {
  const { guest } = await opened();
  const { session_id } = await guest.say("I prefer zithern concerts.");
  await guest.say("I am allergic to sumberries.", { session_id });
  await guest.request("PATCH", `/v1/sessions/${session_id}`, { status: "archived" });
  const memories = async (query = "") => (await guest.get<{ data: Memory[] }>(`/v1/memories?limit=200${query}`)).body.data;
  const narrative = async () => (await memories("&type=narrative")).map(({ text }) => text).join();
  await eventually(narrative).toMatch(/zithern.*sumberr|sumberr.*zithern/i);
  // It has its own place: no row among memories, in no prompt, and nobody states one.
  expect((await memories()).map(({ type }) => type).sort()).toEqual(["constraint", "preference"]);
  const found = await guest.post<{ data: Memory[] }>("/v1/memories/search", { query: "zithern sumberries" });
  expect(found.body.data.map(({ type }) => type)).not.toContain("narrative");
  const context = async (query: string) =>
    (await guest.post<{ text: string }>("/v1/context", { query, include: ["profile", "memories"] })).body.text;
  expect(await context("Thanks!")).toBe("");
  expect((await context("A concert tonight, please.")).match(/zithern/gi)).toHaveLength(1);
  const { id: narrativeId = "" } = (await memories("&type=narrative"))[0] ?? {};
  const refused = { code: "MEMORY_REFUSED", errors: [{ pointer: "/type" }] };
  for (const [method, path, body] of [
    ["POST", "/v1/memories", { text: "Is a liar", type: "narrative" }],
    ["PATCH", `/v1/memories/${(await memories())[0]?.id}`, { type: "narrative" }],
    ["PATCH", `/v1/memories/${narrativeId}`, { text: "Is a liar" }],
  ] as const)
    expect(await guest.request(method, path, body), `${method} ${path}`).toMatchObject({ status: 422, body: refused });
  const zithern = (await memories()).find(({ text }) => /zithern/i.test(text));
  expect((await guest.request("PATCH", `/v1/memories/${zithern?.id}`, { text: "Prefers opera" })).status).toBe(200);
  expect(await narrative()).not.toMatch(/zithern/i);
  await guest.request("PATCH", `/v1/sessions/${session_id}`, { status: "active" });
  await guest.say("Please don't keep that.", { session_id });
  await eventually(narrative).not.toMatch(/sumberr/i);
}, 60_000);
