import { readdir } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Overrides } from "../../src/compose/compose.js";
import { ownerOf } from "../../src/domain/owner.js";
import type { TurnReplay } from "../../src/ports/studio-views.js";
import { openWorld, tempDir } from "../e2e/world.js";
import { HOSTILE_TEXTS } from "../support/hostile.js";
import { OpenAIStub } from "../support/openai-stub.js";
import { TestClock } from "../support/session-world.js";
import { readsNuts, TaskModel } from "../support/task-model.js";

const TOKEN = "operate-0123456789";
const OWN = "http://localhost";
const ADA = ownerOf("default", "ada");
const NUTS = "Nut allergies run in the family.";

async function operated(variables: Readonly<Record<string, string>> = {}, own: Overrides = {}) {
  const model = new TaskModel();
  model.read = readsNuts;
  const clock = new TestClock("2026-03-01T09:00:00.000Z");
  const dir = await tempDir();
  const world = await openWorld(dir, { OPERATOR_TOKEN: TOKEN, STUDIO_CONTENT: "true", ...variables }, { model, clock, ...own });
  onTestFinished(() => world.application.close({ drainMs: 0 }));
  const replay = async (session: string, turn: number | string, body: object = { user: "ada" }, headers: Record<string, string> = {}) => {
    const response = await world.app.request(`/v1/operator/turns/${session}/${turn}/replay`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${TOKEN}`, ...headers },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, text, body: JSON.parse(text) as TurnReplay & { readonly code?: string } };
  };
  const actions = async () =>
    (await world.application.parts.ledger.auditTrail(ADA)).map(({ action, counts }) => [action, ...Object.keys(counts)]);
  return { world, model, clock, dir, replay, actions, ada: world.as("ada") };
}

test("[operator-sees-what-happened] a turn is answered once more with what was known then, beside the answer of then; nothing is kept", async () => {
  const { world, model, clock, dir, replay, actions, ada } = await operated();
  const { session_id } = await ada.say(NUTS);
  clock.days(1);
  await ada.say("A table for two, please.", { session_id });
  clock.days(1);
  await ada.say("Nut oil is fine with me, though.", { session_id });
  const [files, exported] = [(await readdir(dir, { recursive: true })).toSorted(), (await ada.get("/v1/me/export")).text];
  model.replies.push("Another answer.");
  const asked = model.of("chat").length;
  const { status, body } = await replay(session_id, 2);
  expect([status, body]).toMatchObject([
    200,
    {
      recorded: { answer: "Very well.", model: "by task", tools: [], recalled: [{ text: "Needs: Nut", strength: "hard" }], tokens: 110 },
      replayed: { answer: "Another answer.", model: "by task", tools: [], recalled: [{ text: "Needs: Nut" }], tokens: 110 },
      difference: { tokens: 0, cost: null },
    },
  ]);
  const [request] = model.of("chat").slice(asked);
  const prompt = JSON.stringify(request?.messages);
  expect([prompt.includes(NUTS), prompt.includes("Nut oil"), prompt.includes("2 March 2026")]).toEqual([true, false, true]);

  const without = await replay(session_id, 2, { user: "ada", memory: false, prompt: "You are a bell-boy of few words." });
  expect(without.body.replayed).toMatchObject({ memory_status: "disabled", recalled: [] });
  expect(JSON.stringify(model.of("chat").at(-1)?.messages)).toContain("bell-boy");

  // Only that somebody looked is there beside what was.
  const withoutTime = (text: string) => text.replace(/"exported_at":"[^"]+"/u, "");
  expect(withoutTime((await ada.get("/v1/me/export")).text)).toBe(withoutTime(exported));
  expect((await readdir(dir, { recursive: true })).toSorted()).toEqual(files);
  expect((await actions()).filter(([action]) => action === "look")).toEqual([
    ["look", "replay"],
    ["look", "replay"],
  ]);
  expect((await world.application.privacy.records(ADA)).length).toBe(0);
});

test("[operator-sees-what-happened] without STUDIO_CONTENT a replay is lengths, tools, ids and what it costs", async () => {
  const { model, replay, ada } = await operated({ STUDIO_CONTENT: "false" });
  const { session_id } = await ada.say(NUTS);
  await ada.say("Quetzalcoatl for two.", { session_id });
  model.replies.push("Quetzalcoatl says no.");
  const { text, body } = await replay(session_id, 2);
  for (const words of ["Quetzalcoatl", "Needs: Nut", "Very well"]) expect([words, text.includes(words)]).toEqual([words, false]);
  expect(body).toMatchObject({
    recorded: { answer: null, answer_chars: 10, recalled: [{ text: null, text_chars: 10 }] },
    replayed: { answer: null, answer_chars: 21, tokens: 110 },
  });
});

test("another model of the provider answers where it is named; where a name chooses none, that is said", async () => {
  const stub = await OpenAIStub.open();
  onTestFinished(() => stub.close());
  const { world, replay } = await operated(
    {
      OPENAI_API_KEY: "k",
      OPENAI_BASE_URL: stub.url,
      OPENAI_API: "chat",
      OPENAI_MODEL: "one",
      MEM0_ENABLED: "false",
      MODEL_MEASURE_HOURS: "0",
    },
    { model: undefined } as unknown as Overrides,
  );
  stub.chatOtherwise(({ model }) => ({ text: `I am ${model}.` }));
  const { body } = await world.as("ada").post<{ session_id: string }>("/v1/chat", { message: "Who are you?" });
  const other = await replay(body.session_id, 1, { user: "ada", model: "two" });
  expect(other.body).toMatchObject({ recorded: { answer: "I am one.", model: "one" }, replayed: { answer: "I am two.", model: "two" } });

  const given = await operated();
  const { session_id } = await given.ada.say(NUTS);
  expect(await given.replay(session_id, 1, { user: "ada", model: "two" })).toMatchObject({
    status: 400,
    body: { code: "INVALID_REQUEST", detail: "The model is given in code: a name chooses none." },
  });
});

test("what isn't there, is somebody else's, was private or was forgotten is not replayed", async () => {
  const { model, replay, actions, ada } = await operated();
  const said = await ada.say(NUTS);
  const secret = await ada.post<{ session_id: string }>("/v1/chat", { message: "Only between us.", incognito: true });
  const asked = model.of("chat").length;
  const nowhere = "0190f2c0-0000-7000-8000-000000000000";
  for (const [session, turn, body, status, code] of [
    [said.session_id, 9, { user: "ada" }, 404, "NOT_FOUND"],
    [said.session_id, 1, { user: "ben" }, 404, "SESSION_NOT_FOUND"],
    [nowhere, 1, { user: "ada" }, 404, "SESSION_NOT_FOUND"],
    [said.session_id, "x", { user: "ada" }, 400, "INVALID_ID"],
    [said.session_id, 1, { user: "ada", modle: "x" }, 400, "UNKNOWN_FIELD"],
    [said.session_id, 1, { user: "ada", prompt: " " }, 400, "INVALID_REQUEST"],
    [secret.body.session_id, 1, { user: "ada" }, 400, "INVALID_REQUEST"],
  ] as const) {
    const answered = await replay(session, turn, body);
    expect([turn, body, answered.status, answered.body.code]).toEqual([turn, body, status, code]);
  }
  const { body } = await ada.get<{ data: { id: string }[] }>("/v1/memories");
  await ada.delete(`/v1/memories/${body.data[0]?.id}`);
  expect((await replay(said.session_id, 1)).status).toBe(400);
  expect([model.of("chat").length, (await actions()).some(([, what]) => what === "replay")]).toEqual([asked, false]);
});

test("[operator-apart] a page of somebody else's replays nothing with the session's cookie", async () => {
  const { world, replay, ada } = await operated();
  const { session_id } = await ada.say(NUTS);
  const signedIn = await world.app.request("/studio/session", {
    method: "POST",
    headers: { "Content-Type": "application/json", Origin: OWN },
    body: JSON.stringify({ token: TOKEN }),
  });
  const cookie = signedIn.headers.get("Set-Cookie")?.split(";")[0] ?? "";
  const from = async (origin: Record<string, string>) => {
    const response = await world.app.request(`/v1/operator/turns/${session_id}/1/replay`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Cookie: cookie, ...origin },
      body: JSON.stringify({ user: "ada" }),
    });
    return response.status;
  };
  expect([await from({}), await from({ Origin: "https://evil.example" }), await from({ Origin: OWN })]).toEqual([403, 403, 200]);
  expect((await replay(session_id, 1, { user: "ada" }, { Authorization: "Bearer nonsense-0123456789" })).status).toBe(401);
});

test("one turn at a time is replayed, and one whose asker goes away ends", async () => {
  const { model, replay, ada } = await operated();
  const { session_id } = await ada.say(NUTS);
  let answer = () => {};
  const answering = new Promise<void>((resolve) => {
    const { stream } = model;
    model.stream = async function* (request) {
      resolve();
      await new Promise<void>((go) => {
        answer = go;
      });
      yield* stream.call(model, request);
    };
  });
  const first = replay(session_id, 1);
  await answering;
  expect((await replay(session_id, 1)).body.code).toBe("JOB_RUNNING");
  model.stream = TaskModel.prototype.stream;
  answer();
  expect((await first).status).toBe(200);
  model.replies.push(new Error("away"));
  expect((await replay(session_id, 1)).status).toBe(502);
  expect((await replay(session_id, 1)).status).toBe(200);
});

test("hostile words of a guest and of an operator are words; a turn that kept no record is replayed as well", async () => {
  const { world, model, replay, ada } = await operated();
  const hostile = HOSTILE_TEXTS.filter((text) => text.trim() !== "" && !/\p{Surrogate}/u.test(text)).join("\n");
  const { session_id } = await ada.say(hostile);
  model.replies.push(hostile);
  const { status, body } = await replay(session_id, 1, { user: "ada", prompt: hostile });
  expect([status, body.replayed.answer]).toEqual([200, hostile]);
  const line = { session_id: "old", role: "user", content: "What is on?", created_at: "2026-02-01T09:00:00.000Z" };
  const answer = { ...line, role: "assistant", content: "Much.", created_at: "2026-02-01T09:00:01.000Z" };
  await ada.request("POST", "/v1/import", `${JSON.stringify(line)}\n${JSON.stringify(answer)}`, { "Content-Type": "application/x-ndjson" });
  const { data } = (await ada.get<{ data: { id: string; external_id: string | null }[] }>("/v1/sessions")).body;
  const old = data.find(({ external_id }) => external_id === "old")?.id ?? "";
  expect((await replay(old, 1)).body).toMatchObject({
    recorded: { answer: "Much.", model: null, recalled: null, tokens: null, cost: null },
    replayed: { answer: "Very well." },
    difference: { tokens: null, cost: null },
  });
  await world.application.close({ drainMs: 0 });
});
