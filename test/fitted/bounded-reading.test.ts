import { expect, test } from "vitest";
import { readingWorld } from "./reading-world.js";
import { documentOf } from "./task-of.js";

const OPERATOR_TOKEN = "token-of-an-operator-of-this-test";
const LOOP = `{"off_record":null,"operations":[{"op":"add","quote":"${"and a table and a table ".repeat(200)}`;
const NUTS = {
  off_record: null,
  operations: [{ op: "add", quote: "I love jazz", text: "Loves jazz", category: "genre", strength: "soft", subject: "self" }],
};

test.each([
  ["misses the schema", '{"said":"nothing"}', "stop"],
  ["answers in prose", "I found nothing of note.", "stop"],
  ["loops until it is cut", LOOP, "length"],
  ["says nothing", "", "stop"],
])(
  "[reading-bounded] of a model that %s three messages cost two calls each, and then wait where all can see it",
  async (_how, text, finish) => {
    const { client, readings, written, memories, world } = await readingWorld(() => ({ text, finish }));
    const sessions: string[] = [];
    for (const message of [
      "I love jazz, any concerts?",
      "My wife can't stand opera by the way.",
      "I have a nut allergy, so find me dinner.",
    ]) {
      const { status, body } = await client.post<{ session_id: string }>("/v1/chat", { message });
      expect(status).toBe(200);
      sessions.push(body.session_id);
      expect(await written()).toMatchObject({ pending: 0 });
    }
    expect(readings()).toHaveLength(6);
    for (const id of sessions)
      expect((await client.get(`/v1/sessions/${id}`)).body).toMatchObject({ write_back: { pending_turns: 0, failed_turns: 1 } });
    const { data: events } = await world.application.events.list("all", { limit: 200 });
    expect(events.filter(({ type }) => type === "write_back.failed")).toHaveLength(3);
    // What was told plainly and must hold is asked about all the same.
    expect(await memories("review")).toMatchObject([{ need: "no_nuts" }]);
  },
);

test("[reading-bounded] the one repair is shorter, and nothing of what failed is in it", async () => {
  const answers = [LOOP, JSON.stringify(NUTS)];
  const { client, readings, written, memories } = await readingWorld(() => ({ text: answers.shift() ?? "", finish: "stop" }));
  await client.post("/v1/chat", { message: "I love jazz, any concerts?" });
  await written();
  const [first, second] = readings();
  expect(JSON.stringify(second)).not.toContain("a table and a table");
  expect(JSON.stringify(second).length).toBeLessThan(JSON.stringify(first).length / 2);
  expect(second === undefined ? {} : documentOf(second)).toMatchObject({ MESSAGE: "I love jazz, any concerts?" });
  expect(await memories()).toMatchObject([{ text: "Loves jazz" }]);
  expect(readings()).toHaveLength(2);
});

test("[reading-bounded] how much may be written follows the message", async () => {
  const { client, readings, written } = await readingWorld(() => ({ text: '{"off_record":null,"operations":[]}' }));
  const boundOf = async (message: string) => {
    await client.post("/v1/chat", { message });
    await written();
    return readings().at(-1)?.max_completion_tokens ?? Number.NaN;
  };
  const [short, long] = [await boundOf("Any good concerts tonight?"), await boundOf("I love jazz. ".repeat(80))];
  expect(short).toBeLessThan(1_000);
  expect(long).toBeGreaterThan(2 * short);
});

test("[reading-bounded] what was left to wait is read by hand again, by two calls at most", async () => {
  const { client, readings, written } = await readingWorld(() => ({ text: "?" }));
  const { body } = await client.post<{ session_id: string }>("/v1/chat", { message: "I love jazz, any concerts?" });
  await written();
  expect((await client.post(`/v1/sessions/${body.session_id}/write-back/retry`)).status).toBe(202);
  await written();
  expect(readings()).toHaveLength(4);
});

test("[reading-bounded] a message that a booking has read in vain is not read again behind the answer", async () => {
  const { client, readings, written } = await readingWorld(() => ({ text: "?" }), {
    turn: ({ messages }) =>
      messages.some(({ role }) => role === "tool")
        ? { text: "Noted." }
        : { calls: [{ name: "remember", arguments: { quote: "I love jazz", text: "Loves jazz", category: "genre" } }] },
  });
  await client.post("/v1/chat", { message: "Remember that I love jazz, please." });
  await written();
  expect(readings()).toHaveLength(2);
});

test("[reading-bounded] a model that reads none of three messages is said to be unable to, and the stand-in reads in its place", async () => {
  const variables = { OPERATOR_TOKEN };
  const { client, readings, written, memories, world } = await readingWorld(() => ({ text: "I found nothing of note." }), { variables });
  const modelPart = async () => (await client.get<{ parts: { model: object } }>("/readyz")).body.parts.model;
  for (const message of ["I love jazz, any concerts?", "My wife can't stand opera by the way.", "What about the museum on Sunday?"]) {
    expect(await modelPart()).toMatchObject({ status: "ok" });
    await client.post("/v1/chat", { message });
    await written();
  }
  expect(await modelPart()).toMatchObject({
    status: "degraded",
    detail: expect.stringMatching(/m can't read messages.*the stand-in reads/),
  });
  // Studio's screen of health tells it too.
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
  const health = (await (await world.app.request("/v1/operator/health", { headers })).json()) as { readonly now: object };
  expect(health.now).toMatchObject({ parts: { model: { detail: expect.stringMatching(/m can't read messages/) } } });
  const { body } = await client.post<{ session_id: string }>("/v1/chat", { message: "I am allergic to nuts, so find me dinner." });
  await written();
  expect(readings()).toHaveLength(6);
  expect(await memories()).toMatchObject([{ need: "no_nuts" }]);
  expect((await client.get(`/v1/sessions/${body.session_id}`)).body).toMatchObject({ write_back: { pending_turns: 0, failed_turns: 0 } });
});

test("one that read a message before is not given up for three that it can't", async () => {
  const answers = ['{"off_record":null,"operations":[]}'];
  const { client, readings, written } = await readingWorld(() => ({ text: answers.shift() ?? "?" }));
  for (const message of ["Any concerts?", "I love jazz, any concerts?", "What about the museum on Sunday?", "And the opera on Monday?"]) {
    await client.post("/v1/chat", { message: `${message} Please tell me.` });
    await written();
  }
  await client.post("/v1/chat", { message: "I am allergic to nuts, so find me dinner." });
  await written();
  expect(readings()).toHaveLength(9);
});

test("[off-record-unsaid] what asks in plain words not to be kept leaves history, also where the model can't read it", async () => {
  const { client, written } = await readingWorld(() => ({ text: "?" }));
  const { body } = await client.post<{ session_id: string }>("/v1/chat", {
    message: "Between you and me, I am about to leave my husband, so find me dinner, I have a nut allergy.",
  });
  await written();
  const found = await client.post("/v1/history/search", { query: "leave my husband", limit: 20 });
  expect([found.status, found.text.includes("husband")]).toEqual([200, false]);
  expect((await client.get("/v1/memories?status=review")).text).not.toContain("husband");
  expect((await client.get(`/v1/sessions/${body.session_id}`)).body).toMatchObject({ write_back: { pending_turns: 0, failed_turns: 0 } });
});
