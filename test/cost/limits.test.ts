import { expect, onTestFinished, test } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import { openWorld, startWorld, tempDir } from "../e2e/world.js";
import { TestClock } from "../support/session-world.js";
import { readsNuts, TaskModel } from "../support/task-model.js";

interface Session {
  readonly session_id: string;
}

async function limited(variables: Readonly<Record<string, string>>) {
  const model = new TaskModel();
  model.read = readsNuts;
  const clock = new TestClock("2026-03-01T09:00:00.000Z");
  const dir = await tempDir();
  const world = await startWorld(dir, variables, { model, clock });
  return { world, model, clock, dir, client: world.as("ada") };
}

test("[cost-limits] past the soft limit a turn's reading waits, pending, and is done after midnight", async () => {
  const { world, model, clock, client } = await limited({ COST_SOFT_LIMIT_TOKENS: "330" });
  // An answer, its reading and the session's name: three calls of 110 tokens.
  const { session_id } = await client.say("What is on at the opera on Friday?");
  expect(model.requests).toHaveLength(3);
  const said = await client.post<Session>("/v1/chat", { message: "Nut allergies run in the family.", session_id });
  expect(said.status).toBe(200);
  const flushed = await client.post(`/v1/sessions/${session_id}/flush?timeout_ms=20000`);
  expect(flushed.body).toEqual({ pending_turns: 1, failed_turns: 0 });
  expect(model.documents).toHaveLength(1);
  const { worker } = world.application.parts;
  expect(await worker.written(ownerOf("default", "ada"), AbortSignal.timeout(20_000))).toBe(false);
  const found = await client.post<{ data: { content: string }[] }>("/v1/history/search", { query: "Nut allergies" });
  expect(found.body.data.map(({ content }) => content)).toContain("Nut allergies run in the family.");
  const ready = await client.get<{ parts: Record<string, object> }>("/readyz");
  expect(ready.body.parts.cost).toEqual({
    status: "degraded",
    detail: "1 tenants are past COST_SOFT_LIMIT_TOKENS until 2026-03-02T00:00:00.000Z",
  });
  clock.days(1);
  expect((await client.post(`/v1/sessions/${session_id}/flush?timeout_ms=20000`)).body).toEqual({ pending_turns: 0, failed_turns: 0 });
  expect((await client.get<{ data: unknown[] }>("/v1/memories")).body.data).toHaveLength(1);
  expect((await client.get<{ parts: Record<string, object> }>("/readyz")).body.parts.cost).toEqual({ status: "ok" });
});

test("[cost-limits] a booking then asks, as where needs can't be read", async () => {
  const { model, client } = await limited({ COST_SOFT_LIMIT_TOKENS: "1" });
  const search = { name: "search_events", arguments: { text: "jazz" } };
  model.replies.push(search, "Here they are.");
  const found = await client.post<Session & { steps: { output: { events: { event_id: string }[] } }[] }>("/v1/chat", {
    message: "What jazz is there this week?",
  });
  const event_id = found.body.steps[0]?.output.events[0]?.event_id;
  const { session_id } = found.body;
  model.replies.push({ name: "book_tickets", arguments: { event_id, quantity: 1 } }, "One seat. Shall I book it?");
  await client.post("/v1/chat", { message: "A seat for the first one, please.", session_id });
  model.replies.push({ name: "book_tickets", arguments: { event_id, agreed: "yes" } }, "I can't check your needs. Is there anything?");
  const { body } = await client.post<{ steps: { output: unknown }[] }>("/v1/chat", { message: "yes", session_id });
  expect(body.steps.map(({ output }) => output)).toMatchObject([{ status: "stopped", ask: expect.stringContaining("can't be checked") }]);
  expect(model.documents).toEqual([]);
});

test("[cost-limits] past the hard limit chat answers 429 with when it ends, and writes nothing; a replay is answered", async () => {
  const { model, client } = await limited({ COST_HARD_LIMIT_TOKENS: "110" });
  const key = { "Idempotency-Key": "k1" };
  const first = await client.post<Session>("/v1/chat", { message: "What is on at the opera on Friday?" }, key);
  const { session_id } = first.body;
  const before = model.requests.length;
  for (const message of [{ message: "And on Saturday, perhaps?", session_id }, { message: "Good evening, who is there?" }]) {
    const refused = await client.post<{ code: string; hint: string; detail: string }>("/v1/chat", message);
    expect(refused.status).toBe(429);
    expect(refused.body).toMatchObject({ code: "COST_LIMIT_REACHED", detail: expect.stringContaining("2026-03-02T00:00:00.000Z") });
    const seconds = Number(refused.headers.get("Retry-After"));
    expect(seconds).toBeGreaterThan(14 * 3_600);
    expect(seconds).toBeLessThanOrEqual(15 * 3_600);
  }
  const streamed = await client.post<{ code: string }>("/v1/chat", { message: "And on Sunday?", stream: true });
  expect([streamed.status, streamed.body.code]).toEqual([429, "COST_LIMIT_REACHED"]);
  expect((await client.post<Session>("/v1/chat", { message: "What is on at the opera on Friday?" }, key)).text).toBe(first.text);
  expect(model.of("chat")).toHaveLength(1);
  expect(model.requests).toHaveLength(before);
  expect((await client.get<{ data: unknown[] }>("/v1/sessions")).body.data).toMatchObject([{ id: session_id, message_count: 2 }]);
});

test("[cost-limits] a restart doesn't begin the day anew; midnight does, and another tenant has its own", async () => {
  const { world, clock, dir, client } = await limited({ COST_HARD_LIMIT_TOKENS: "110" });
  expect((await client.post("/v1/chat", { message: "Good evening!" })).status).toBe(200);
  await world.stop();
  const again = await openWorld(dir, { COST_HARD_LIMIT_TOKENS: "110" }, { model: new TaskModel(), clock });
  onTestFinished(() => again.application.close({ drainMs: 0 }));
  const chat = (owner: ReturnType<typeof ownerOf>) => again.application.chat.chat({ owner, message: "Good evening!" });
  await expect(chat(ownerOf("default", "ben"))).rejects.toMatchObject({ code: "COST_LIMIT_REACHED" });
  expect((await chat(ownerOf("acme", "ada"))).message.content).toBe("Very well.");
  clock.days(1);
  expect((await chat(ownerOf("default", "ben"))).message.content).toBe("Very well.");
});

test("[cost-limits] past the soft limit an extract stands in for the summary, and the model's takes its place when it may", async () => {
  const { model, clock, world, client } = await limited({ SHORT_TERM_ROUNDS: "1", COST_SOFT_LIMIT_TOKENS: "330" });
  const { session_id: id } = await client.say("What is on at the opera on Friday?");
  for (const day of ["Saturday", "Sunday", "Monday"])
    await client.post("/v1/chat", { message: `And on ${day}, is there more?`, session_id: id });
  const summaryOf = async () => (await client.get<{ summary: string | null }>(`/v1/sessions/${id}`)).body.summary;
  await expect.poll(summaryOf, { timeout: 20_000 }).toMatch(/^Turn 1, user:/);
  expect(model.of("summary")).toEqual([]);
  await world.application.parts.worker.drain(20_000, { left: "stays" });
  clock.days(1);
  await world.application.parts.worker.drain(20_000);
  expect(await summaryOf()).toBe("They spoke of many things.");
});
