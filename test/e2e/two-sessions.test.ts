import { describe, expect, test } from "vitest";
import type { Memory } from "../../src/domain/memory.js";
import type { ChatAnswer } from "../../src/ports/resources.js";
import { parseEvents } from "../support/http-client.js";
import { startWorld, tempDir } from "./world.js";

const SAID = "I prefer jazz concerts, and I usually book 2 tickets. I need step-free access.";
const ASKED = "Anything good this weekend?";

const unrelated = (count: number): { text: string; category: string }[] =>
  Array.from({ length: count }, (_, i) => ({
    text: [
      `Once parked a bicycle in row ${i} of the garage`,
      `Reads chapter ${i} of a novel on lighthouses`,
      `Keeps a shell numbered ${i} from a beach`,
      `Solved crossword number ${i} on a Tuesday`,
    ][i % 4] as string,
    category: "other",
  }));

describe("two sessions of one guest over HTTP", () => {
  test("the second, among 200 unrelated memories and sharing no word with the first, gets jazz, two seats, step-free; JSON and stream", async () => {
    const world = await startWorld(await tempDir());
    const ada = world.as("ada");
    const first = await ada.say(SAID);
    for (const memory of unrelated(200)) expect((await ada.post("/v1/memories", memory)).status).toBe(201);
    const held = await ada.get<{ data: Memory[]; next_cursor: string }>("/v1/memories?limit=200");
    expect(held.body.data).toHaveLength(200);
    expect(held.body.next_cursor).not.toBeNull();

    const session = await ada.post<{ id: string; message_count: number }>("/v1/sessions", {});
    expect(session).toMatchObject({ status: 201, body: { message_count: 0 } });
    const plain = await ada.post<ChatAnswer>("/v1/chat", { message: ASKED, session_id: session.body.id });
    expect(plain.status).toBe(200);
    expect(plain.headers.get("X-Memory-Status")).toBe("ok");
    expectPersonal(plain.body, first.session_id);
    const search = plain.body.steps.find(({ name }) => name === "search_events")?.output;
    expect(search).toMatchObject({ events: expect.arrayContaining([expect.objectContaining({ genre: "jazz" })]) });
    expect(search).toMatchObject({ events: { 0: { step_free: true } } });

    const streamed = await ada.post("/v1/chat", { message: ASKED, stream: true });
    expect(streamed.headers.get("Content-Type")).toMatch(/^text\/event-stream/);
    const sent = parseEvents(streamed.text);
    expect(sent.slice(0, 2).map(({ event }) => event)).toEqual(["session", "memory"]);
    expect(sent.at(-1)?.event).toBe("message");
    const whole = sent.at(-1)?.data as ChatAnswer;
    expectPersonal(whole, first.session_id);
    const tokens = sent.filter(({ event }) => event === "token").map(({ data }) => (data as { delta: string }).delta);
    expect(tokens.join("")).toBe(whole.message.content);
    expect(new Set(sent.map(({ id }) => id)).size).toBe(sent.length);
  }, 120_000);

  test("with MEM0_ENABLED=false the same is answered, from short-term memory alone", async () => {
    const dir = await tempDir();
    const on = await startWorld(dir);
    await on.as("ada").say(SAID);
    await on.stop();
    const off = await startWorld(dir, { MEM0_ENABLED: "false" });
    const ada = off.as("ada");
    const answer = await ada.post<ChatAnswer>("/v1/chat", { message: ASKED });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("X-Memory-Status")).toBe("disabled");
    expect(answer.body.memory).toEqual({ status: "disabled", write_back: "disabled", to_confirm: [], recalled: [], used: [] });
    expect(answer.body.message.content).not.toMatch(/know of you|step-free access/i);
    expect(await ada.get("/v1/memories")).toMatchObject({ status: 409, body: { code: "LONG_TERM_MEMORY_DISABLED" } });
    // What was said in this session is still known in it.
    const follow = await ada.say("Book two of the second one.", { session_id: answer.body.session_id });
    expect(follow.steps.map(({ name }) => name)).toContain("book_tickets");
  }, 60_000);
});

function expectPersonal(answer: ChatAnswer, from: string): void {
  expect(answer.message.content).toMatch(/jazz/i);
  expect(answer.message.content).toMatch(/\b(two|2)\b/i);
  expect(answer.message.content).toMatch(/step-free/i);
  expect(answer.memory).toMatchObject({ status: "ok", write_back: "pending" });
  const told = answer.memory.recalled.filter(({ source }) => source?.session_id === from).map(({ category }) => category);
  expect(told).toEqual(expect.arrayContaining(["genre", "party_size", "accessibility"]));
  expect(answer.memory.recalled[0]).toMatchObject({ category: "accessibility", strength: "hard" });
}
