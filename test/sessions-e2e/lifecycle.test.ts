import { readdir } from "node:fs/promises";
import { describe, expect, test, vi } from "vitest";
import type { Memory } from "../../src/domain/memory.js";
import type { Session } from "../../src/domain/session.js";
import { AppError } from "../../src/platform/errors.js";
import type { ChatModel } from "../../src/ports/agent.js";
import type { Thread } from "../../src/ports/application.js";
import type { HistoryHit } from "../../src/ports/resources.js";
import { type Client, filesHolding, startWorld, tempDir } from "../e2e/world.js";
import { eventually, HandClock } from "./models.js";

// Whole conversations, each turn on the disk: a busy machine takes its time.
vi.setConfig({ testTimeout: 120_000 });

const START = "2026-03-02T09:00:00Z";
const CANARY = "Quetzalfeather";

type ThreadBody = Omit<Thread, "session"> & Session;
type Why = { readonly memory: Memory; readonly source: { readonly quote: string; readonly message: string | null } | null };
type Sessions = { readonly data: readonly Session[]; readonly next_cursor: string | null };

const threadOf = async (guest: Client, id: string) => (await guest.get<ThreadBody>(`/v1/sessions/${id}/thread`)).body;
const journals = async (dir: string) => (await readdir(dir)).filter((name) => /\.jsonl(\.gz)?$/.test(name));

describe("archiving", () => {
  test("writes a final summary, packs the journal, and the thread still reads; nobody talks in it until it is active again, then it goes on", async () => {
    const dir = await tempDir();
    const clock = new HandClock(START);
    const world = await startWorld(dir, {}, { clock });
    const guest = world.as("ines");
    const { session_id: id } = await guest.say(`My mother is called ${CANARY}, and she arrives on 14 June.`);
    await guest.say("Any concerts next week?", { session_id: id });
    const before = await threadOf(guest, id);
    expect(before.summary).toBeNull();

    const archived = await guest.request<Session>("PATCH", `/v1/sessions/${id}`, { status: "archived" });
    expect(archived.body).toMatchObject({ status: "archived", message_count: 4 });
    expect(archived.body.summary).toContain(CANARY);
    expect(await journals(dir)).toEqual([`${id}.jsonl.gz`]);
    const after = await threadOf(guest, id);
    expect([after.steps, after.elements]).toEqual([before.steps, before.elements]);
    expect(await guest.post("/v1/chat", { message: "Hello?", session_id: id })).toMatchObject({
      status: 409,
      body: { code: "SESSION_NOT_ACTIVE" },
    });
    expect((await guest.get<Sessions>("/v1/sessions")).body.data).toEqual([]);
    expect((await guest.get<Sessions>("/v1/sessions?status=archived")).body.data.map((session) => session.id)).toEqual([id]);

    await guest.delete(`/v1/sessions/${id}`);
    const restored = await guest.post<Session>(`/v1/sessions/${id}/restore`);
    expect(restored.body.status).toBe("archived");
    expect((await guest.request<Session>("PATCH", `/v1/sessions/${id}`, { status: "active" })).body.status).toBe("active");
    expect(await guest.say("Book two of the first one.", { session_id: id })).toMatchObject({ session_id: id, turn: 3 });
    expect((await threadOf(guest, id)).steps.slice(0, before.steps.length)).toEqual(before.steps);
  });
});

test("archiving answers while the model hangs; what the model says later packs the journal again", async () => {
  const dir = await tempDir();
  let say: (text: string) => void = () => {};
  const said = new Promise<string>((resolve) => {
    say = resolve;
  });
  const model: ChatModel = {
    name: "slow",
    standIn: false,
    async *stream({ messages }) {
      yield { type: "text", delta: messages.some(({ content }) => content.includes("keep the record")) ? await said : "Gladly." };
      yield { type: "end", reason: "stop", usage: { input_tokens: 1, output_tokens: 1 } };
    },
  };
  const world = await startWorld(dir, { MEM0_ENABLED: "false" }, { model });
  const guest = world.as("ines");
  const { session_id: id } = await guest.say("Two seats for 14 June, please.");
  const archived = await guest.request<Session>("PATCH", `/v1/sessions/${id}`, { status: "archived" });
  expect(archived.body).toMatchObject({ status: "archived", summary: expect.stringContaining("14 June") });
  say("Asked for two seats.");
  const summary = async () => (await guest.get<Session>(`/v1/sessions/${id}`)).body.summary;
  await vi.waitFor(async () => expect(await summary()).toBe("Asked for two seats."));
  await vi.waitFor(async () => expect(await journals(dir)).toEqual([`${id}.jsonl.gz`]));
});

describe("retention", () => {
  test("deletes after 30 quiet days what can be restored, then purges it from every store; the memory stays without its quote, and why has no message", async () => {
    const dir = await tempDir();
    const clock = new HandClock(START);
    const world = await startWorld(dir, {}, { clock });
    const { retention } = world.application.parts;
    const guest = world.as("ines");
    const said = `I prefer jazz concerts. ${CANARY} sends greetings.`;
    const { session_id: id } = await guest.say(said);
    const memory = (await guest.get<{ data: Memory[] }>("/v1/memories")).body.data[0];
    const why = async () => (await guest.get<Why>(`/v1/memories/${memory?.id}/why`)).body;
    expect((await why()).source).toMatchObject({ message: said });
    const status = async () => (await guest.get<Session>(`/v1/sessions/${id}`)).body.status;

    clock.passDays(30 - 0.01);
    expect(await retention({ dryRun: false })).toMatchObject({ deleted: 0, purged: 0 });
    clock.passDays(0.01);
    expect(await retention({ dryRun: true })).toMatchObject({ deleted: 1, purged: 0 });
    expect(await status()).toBe("active");
    expect(await retention({ dryRun: false })).toMatchObject({ deleted: 1, purged: 0, failed: 0 });
    expect(await status()).toBe("deleted");
    expect((await guest.post<Session>(`/v1/sessions/${id}/restore`)).body.status).toBe("active");
    clock.passDays(30);
    expect(await retention({ dryRun: false })).toMatchObject({ deleted: 1 });
    expect((await why()).source).toMatchObject({ message: said });
    expect(await filesHolding(dir, [CANARY])).not.toEqual([]);

    clock.passDays(30);
    expect(await retention({ dryRun: false })).toMatchObject({ deleted: 0, purged: 1 });
    expect((await guest.get(`/v1/sessions/${id}`)).status).toBe(404);
    expect((await guest.get<{ data: HistoryHit[] }>(`/v1/history/search?q=${CANARY}`)).body.data).toEqual([]);
    expect(await journals(dir)).toEqual([]);
    const left = await why();
    expect(left.memory).toMatchObject({ id: memory?.id, category: "genre", status: "active" });
    expect(left.source?.message ?? null).toBeNull();
    expect(left.source?.quote ?? "").toBe("");
    // Nor any byte of the session in what the stores keep, but for the memory's own words.
    await world.stop();
    expect(await filesHolding(dir, [CANARY])).toEqual([]);
  });

  test("a session's own days count first, and then it can be restored for as long as any other", async () => {
    const clock = new HandClock(START);
    const world = await startWorld(await tempDir(), { MEM0_ENABLED: "false" }, { clock });
    const { retention } = world.application.parts;
    const guest = world.as("ines");
    const brief = await guest.post<Session>("/v1/sessions", { title: "For two days", expires_in_days: 2 });
    expect(brief).toMatchObject({ status: 201, body: { expires_at: "2026-03-04T09:00:00.000Z" } });
    const { id } = brief.body;
    await guest.say("Hello", { session_id: id });
    clock.passDays(1.99);
    expect(await retention({ dryRun: false })).toMatchObject({ deleted: 0 });
    clock.passDays(0.01);
    expect(await retention({ dryRun: false })).toMatchObject({ deleted: 1 });
    expect((await guest.post("/v1/chat", { message: "Hello?", session_id: id })).status).toBe(409);
    expect((await guest.post<Session>(`/v1/sessions/${id}/restore`)).body).toMatchObject({
      status: "active",
      // Its own days are over; retention's count anew.
      expires_at: "2026-04-03T09:00:00.000Z",
    });
    await guest.say("Hello again", { session_id: id });
    await guest.request("PATCH", `/v1/sessions/${id}`, { status: "archived" });
    clock.passDays(89);
    expect(await retention({ dryRun: false })).toMatchObject({ deleted: 0 });
    clock.passDays(1);
    expect(await retention({ dryRun: false })).toMatchObject({ deleted: 1 });
    clock.passDays(30);
    expect(await retention({ dryRun: false })).toMatchObject({ purged: 1 });
    for (const state of ["active", "archived", "deleted"])
      expect((await guest.get<Sessions>(`/v1/sessions?status=${state}`)).body.data).toEqual([]);
  });
});

describe("the list of sessions", () => {
  test("has the newest activity first, and its pages hold each session once while some get new activity, are added and go", async () => {
    const clock = new HandClock(START);
    const world = await startWorld(await tempDir(), { MEM0_ENABLED: "false" }, { clock });
    const guest = world.as("ines");
    const ids: string[] = [];
    for (let n = 0; n < 9; n += 1) {
      clock.passDays(0.1);
      ids.push((await guest.post<Session>("/v1/sessions", { title: `Evening ${n}` })).body.id);
    }
    const page = async (cursor?: string) =>
      (await guest.get<Sessions>(`/v1/sessions?limit=3${cursor === undefined ? "" : `&cursor=${cursor}`}`)).body;
    const first = await page();
    expect(first.data.map(({ id }) => id)).toEqual([ids[8], ids[7], ids[6]]);
    clock.passDays(1);
    await guest.say("I am back.", { session_id: ids[1] });
    await guest.post("/v1/sessions", { title: "New meanwhile" });
    await guest.delete(`/v1/sessions/${ids[7]}`);
    const second = await page(first.next_cursor ?? "");
    expect(second.data.map(({ id }) => id)).toEqual([ids[5], ids[4], ids[3]]);
    await guest.delete(`/v1/sessions/${ids[3]}`);
    const third = await page(second.next_cursor ?? "");
    // The one with new activity has moved up, to where this reader has been already.
    expect(third.data.map(({ id }) => id)).toEqual([ids[2], ids[0]]);
    expect(third.next_cursor).toBeNull();
    expect((await page()).data.map(({ title }) => title)).toEqual(["New meanwhile", "Evening 1", "Evening 8"]);
  });

  test("names a session by its first message, New conversation before there is one, and by what the user calls it from then on", async () => {
    const world = await startWorld(await tempDir(), { MEM0_ENABLED: "false" });
    const guest = world.as("ines");
    const { body: created } = await guest.post<Session>("/v1/sessions", {});
    const title = async () => (await guest.get<Session>(`/v1/sessions/${created.id}`)).body.title;
    expect([created.title, await title()]).toEqual(["New conversation", "New conversation"]);
    const words = "Could you find us seats for the opera, the one by Verdi that everybody is talking about these days 👩‍👩‍👧‍👦, please?";
    await guest.say(words, { session_id: created.id });
    const named = (await title()) ?? "";
    expect(named).toMatch(/^Could you find us seats for the opera, .*…$/u);
    const graphemes = [...new Intl.Segmenter("en", { granularity: "grapheme" }).segment(named)];
    expect(graphemes.length).toBeLessThanOrEqual(80);
    expect(words.startsWith(`${named.slice(0, -1)} `)).toBe(true);
    await guest.request("PATCH", `/v1/sessions/${created.id}`, { title: "Verdi with the children" });
    await guest.say("Thank you.", { session_id: created.id });
    expect(await title()).toBe("Verdi with the children");
  });

  test("is filtered by status, tag and text in the title; topic and tags are derived, until the user sets tags", async () => {
    const world = await startWorld(await tempDir(), {});
    const guest = world.as("ines");
    const { session_id: jazz } = await guest.say("I prefer jazz. Are there jazz concerts in Vienna next week?");
    const { session_id: other } = await guest.say("Hello");
    const found = async (query: string) => (await guest.get<Sessions>(`/v1/sessions?${query}`)).body.data.map(({ id }) => id);
    const session = async () => (await guest.get<Session>(`/v1/sessions/${jazz}`)).body;
    await eventually(async () => (await session()).tags).toEqual(expect.arrayContaining(["genre", "vienna", "search-events"]));
    expect((await session()).topic).toContain("Vienna");
    expect(await found("tag=search-events")).toEqual([jazz]);
    expect(await found("title=JAZZ%20CONCERTS")).toEqual([jazz]);
    await guest.request("PATCH", `/v1/sessions/${jazz}`, { tags: ["anniversary"], title: "Our night out" });
    await guest.say("And in Lisbon?", { session_id: jazz });
    expect(await session()).toMatchObject({ tags: ["anniversary"], title: "Our night out" });
    expect(await found("tag=genre")).toEqual([]);
    expect(await found("title=night")).toEqual([jazz]);
    await guest.request("PATCH", `/v1/sessions/${other}`, { status: "archived" });
    expect(await found("status=archived")).toEqual([other]);
    expect((await guest.get("/v1/sessions?cursor=nonsense")).body).toMatchObject({ code: "INVALID_CURSOR" });
  });
});

describe("resuming", () => {
  test("after a restart the thread has cards, citations and receipts under the answers that showed them, and the conversation goes on", async () => {
    const dir = await tempDir();
    const clock = new HandClock(START);
    const world = await startWorld(dir, {}, { clock });
    const guest = world.as("ines");
    const searched = await guest.say("Any concerts next week?");
    const id = searched.session_id;
    await guest.say("Thank you.", { session_id: id });
    const quoted = await guest.say("Book two of the first one.", { session_id: id });
    const booked = await guest.say("Yes, please book it.", { session_id: id });
    const again = await guest.say("Any concerts next week?", { session_id: id });
    const answers = [searched, quoted, booked, again];
    expect(searched.elements.length).toBeGreaterThan(0);
    expect(booked.elements.map(({ type }) => type)).toContain("booking_receipt");
    await world.stop();

    const resumed = (await startWorld(dir, {}, { clock })).as("ines");
    const thread = await threadOf(resumed, id);
    for (const answer of answers) {
      const under = thread.elements.filter(({ for_id }) => for_id === answer.message.id).map(({ for_id: _, ...element }) => element);
      expect(under).toEqual([...new Map(answer.elements.map((element) => [element.id, element])).values()]);
    }
    expect(
      thread.elements.every(({ for_id }) => thread.steps.some((step) => step.id === for_id && step.type === "assistant_message")),
    ).toBe(true);
    expect(thread.steps.filter(({ type }) => type === "tool_call").map(({ id: step }) => step)).toEqual(
      answers.flatMap(({ steps }) => steps.map((step) => step.id)),
    );
    const { body: messages } = await resumed.get<{ data: { metadata: Record<string, unknown> }[] }>(`/v1/sessions/${id}/messages`);
    expect(messages.data.at(-1)?.metadata).toMatchObject({
      model: expect.any(String),
      tokens: { input_tokens: expect.any(Number), output_tokens: expect.any(Number) },
      sources: expect.arrayContaining([expect.objectContaining({ title: expect.any(String) })]),
      tools_used: ["search_events"],
      duration_ms: expect.any(Number),
    });
    // What was listed before the restart can still be pointed at.
    const more = await resumed.say("Tell me more about the first one.", { session_id: id });
    const firstShown = JSON.parse(again.elements[0]?.content ?? "{}") as { title?: string };
    expect(more.turn).toBe(6);
    expect(more.message.content).toContain(again.elements[0]?.name ?? firstShown.title ?? "?");
  });

  test("[why-exact] a message that is said again differently leaves the conversation, not the journal: a memory of it that is left still shows its very words", async () => {
    let answers = true;
    const model: ChatModel = {
      name: "wavering",
      standIn: true,
      async *stream() {
        if (!answers) throw new AppError("MODEL_UNAVAILABLE");
        yield { type: "text", delta: "Gladly." };
        yield { type: "end", reason: "stop", usage: { input_tokens: 1, output_tokens: 1 } };
      },
    };
    const world = await startWorld(await tempDir(), {}, { model });
    const guest = world.as("ines");
    const words = "  I prefer\tjazz concerts — ‘le  jazz’ 🎷, you know. ";
    const { session_id: id } = await guest.say(words);
    const memory = (await guest.get<{ data: Memory[] }>("/v1/memories")).body.data[0];
    const messageId = memory?.source?.message_id;
    const why = async () => (await guest.get<Why>(`/v1/memories/${memory?.id}/why`)).body.source?.message;
    expect(await why()).toBe(words);

    // Said again differently, but never answered: what came of the first is still there, and can still be traced.
    answers = false;
    const edit = { message: "I prefer folk concerts.", session_id: id, edit_of: messageId };
    expect((await guest.post("/v1/chat", edit)).status).toBe(502);
    const said = async () =>
      (await guest.get<{ data: { content: string }[] }>(`/v1/sessions/${id}/messages`)).body.data.map(({ content }) => content);
    expect(await said()).toEqual([edit.message]);
    expect(await why()).toBe(words);
    // Once an answer stands, the memory of what was taken back goes with it.
    answers = true;
    const last = (await guest.get<{ data: { id: string }[] }>(`/v1/sessions/${id}/messages`)).body.data[0]?.id;
    await guest.say("I prefer opera evenings.", { session_id: id, edit_of: last });
    const texts = (await guest.get<{ data: Memory[] }>("/v1/memories")).body.data.map(({ text }) => text);
    expect(texts.join()).toMatch(/opera/i);
    expect((await guest.post("/v1/chat", edit)).body).toMatchObject({ code: "EDIT_NOT_LAST" });
  });

  test("a fork at a turn has a life of its own", async () => {
    const world = await startWorld(await tempDir(), { MEM0_ENABLED: "false" });
    const guest = world.as("ines");
    const first = await guest.say("Any concerts next week?");
    const id = first.session_id;
    await guest.say("Thank you.", { session_id: id });
    const fork = await guest.post<Session>(`/v1/sessions/${id}/fork`, { message_id: first.message.id });
    expect(fork).toMatchObject({ status: 201, body: { status: "active", message_count: 2, title: "Any concerts next week?" } });
    expect(await guest.say("Book two of the first one.", { session_id: fork.body.id })).toMatchObject({ turn: 2 });
    expect((await guest.get<Session>(`/v1/sessions/${id}`)).body.message_count).toBe(4);
    await guest.delete(`/v1/sessions/${id}?purge=true`);
    const thread = await threadOf(guest, fork.body.id);
    expect(thread.steps[0]).toMatchObject({ type: "user_message", output: "Any concerts next week?" });
    const answer = thread.steps.find(({ type }) => type === "assistant_message");
    expect(thread.elements.filter(({ for_id }) => for_id === answer?.id)).toHaveLength(
      new Set(first.elements.map((element) => element.id)).size,
    );
  });
});
