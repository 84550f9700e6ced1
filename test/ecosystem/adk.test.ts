import { afterEach, beforeEach, expect, test } from "vitest";
import { adkSessionService, MaitredMemoryService } from "../../src/adk.js";
import { createMaitred, type Maitred } from "../../src/index.js";
import type { AdkEvent, AdkSession } from "../../src/integrations/adk-events.js";
import { loadFromEcosystem } from "../support/ecosystem.js";
import { needing } from "../support/needing.js";

interface SessionService {
  createSession(request: object): Promise<AdkSession>;
  getSession(request: object): Promise<AdkSession | undefined>;
  listSessions(request: object): Promise<{ sessions: AdkSession[]; totalItems: number; totalPages: number; page: number }>;
  deleteSession(request: object): Promise<void>;
  appendEvent(request: { session: AdkSession; event: object }): Promise<AdkEvent>;
}
interface Adk {
  BaseSessionService: abstract new () => SessionService;
  BaseLlm: abstract new (options: { model: string }) => object;
  LlmAgent: new (options: object) => object;
  LOAD_MEMORY: object;
  Runner: new (options: object) => { runAsync(request: object): AsyncIterable<AdkEvent> };
  createEvent(fields: object): AdkEvent;
}
interface LlmRequest {
  contents: { role?: string; parts?: { text?: string; functionResponse?: { response?: unknown } }[] }[];
}

needing("ecosystem")("@google/adk with Maitred's services", () => {
  let maitred: Maitred;
  let adk: Adk;
  let sessions: SessionService;
  let memory: MaitredMemoryService;
  const rosa = { appName: "desk", userId: "rosa" };
  beforeEach(async () => {
    maitred = await createMaitred({ shortTermBackend: "memory", embeddingProvider: "hashing", mem0Enabled: false });
    adk = (await loadFromEcosystem("@google/adk")) as Adk;
    sessions = adkSessionService(adk.BaseSessionService, { maitred });
    memory = new MaitredMemoryService({ maitred });
  });
  afterEach(() => maitred.close());

  test("the runner keeps its events, resumes a session, and finds an older one through load_memory", async () => {
    const requests: LlmRequest[] = [];
    const script: object[] = [
      { content: { role: "model", parts: [{ text: "Noted: row F on the aisle." }] } },
      { content: { role: "model", parts: [{ text: "You are welcome." }] } },
      {
        content: {
          role: "model",
          parts: [{ functionCall: { id: "f1", name: "load_memory", args: { query: "which row for the opera" } } }],
        },
      },
      { content: { role: "model", parts: [{ text: "You like row F." }] } },
    ];
    class ScriptedLlm extends (adk.BaseLlm as unknown as new (options: { model: string }) => object) {
      async *generateContentAsync(request: LlmRequest) {
        requests.push(structuredClone({ contents: request.contents }));
        const next = script.shift();
        if (next === undefined) throw new Error("the model was not expected to be called again");
        yield next;
      }
    }
    const agent = new adk.LlmAgent({ name: "desk", model: new ScriptedLlm({ model: "scripted" }), tools: [adk.LOAD_MEMORY] });
    const runner = new adk.Runner({ appName: "desk", agent, sessionService: sessions, memoryService: memory });
    const say = async (sessionId: string, text: string) => {
      const texts: string[] = [];
      for await (const event of runner.runAsync({ userId: "rosa", sessionId, newMessage: { role: "user", parts: [{ text }] } }))
        for (const part of event.content?.parts ?? []) if (part.text !== undefined) texts.push(part.text);
      return texts.join("");
    };

    const first = await sessions.createSession(rosa);
    expect(await say(first.id, "For the opera I like row F")).toBe("Noted: row F on the aisle.");
    expect(await say(first.id, "Thank you")).toBe("You are welcome.");
    expect(requests[1]?.contents.map(({ parts }) => parts?.[0]?.text)).toEqual([
      "For the opera I like row F",
      "Noted: row F on the aisle.",
      "Thank you",
    ]);
    const kept = await sessions.getSession({ ...rosa, sessionId: first.id });
    expect(kept?.events).toHaveLength(4);
    if (kept !== undefined) await memory.addSessionToMemory(kept);
    expect(
      await maitred.history.count(await maitred.owner("rosa", "adk.desk")),
      "adding to memory what is there already adds nothing",
    ).toBe(4);

    const second = await sessions.createSession({ ...rosa, sessionId: "second" });
    expect(await say(second.id, "Which row do I like?")).toBe("You like row F.");
    expect(JSON.stringify(requests.at(-1)?.contents)).toContain("For the opera I like row F");
    expect(script).toEqual([]);
  });

  test("state is kept as ADK scopes it: session, user, app; temporary keys nowhere", async () => {
    const session = await sessions.createSession({ ...rosa, sessionId: "s", state: { table: 4, "user:diet": "vegan", "temp:x": 1 } });
    expect(session.state).toEqual({ table: 4, "user:diet": "vegan" });
    const event = adk.createEvent({
      author: "desk",
      invocationId: "i",
      content: { role: "model", parts: [{ text: "ok" }] },
      actions: {
        stateDelta: { table: 5, "app:open": true, "temp:y": 2 },
        artifactDelta: {},
        requestedAuthConfigs: {},
        requestedToolConfirmations: {},
      },
    });
    await sessions.appendEvent({ session, event });
    const state = async (userId: string, sessionId: string) => (await sessions.getSession({ appName: "desk", userId, sessionId }))?.state;
    expect(await state("rosa", "s")).toEqual({ table: 5, "user:diet": "vegan", "app:open": true });
    await sessions.createSession({ ...rosa, sessionId: "s2" });
    expect(await state("rosa", "s2")).toEqual({ "user:diet": "vegan", "app:open": true });
    await sessions.createSession({ appName: "desk", userId: "ben", sessionId: "s" });
    expect(await state("ben", "s")).toEqual({ "app:open": true });
  });

  test("[owner-isolation] no user's name or session's name reaches the state of another", async () => {
    const state = { "app:open": true, "user:diet": "vegan", table: 4 };
    await sessions.createSession({ ...rosa, sessionId: "state", state });
    const stateOf = async (userId: string, sessionId: string) => (await sessions.getSession({ appName: "desk", userId, sessionId }))?.state;
    for (const userId of ["app-state", "state", "user:rosa"]) {
      await sessions.createSession({ appName: "desk", userId, sessionId: "state", state: { "user:secret": userId } });
      expect(await stateOf(userId, "state")).toEqual({ "app:open": true, "user:secret": userId });
    }
    expect(await stateOf("rosa", "state")).toEqual(state);
    await sessions.createSession({ ...rosa, sessionId: "other" });
    expect(await stateOf("rosa", "other")).toEqual({ "app:open": true, "user:diet": "vegan" });
    expect((await sessions.listSessions(rosa)).sessions.map(({ id }) => id).sort()).toEqual(["other", "state"]);
    const all = await sessions.listSessions({ appName: "desk" });
    expect(all.sessions.map(({ userId, id }) => `${userId} ${id}`).sort()).toEqual([
      "app-state state",
      "rosa other",
      "rosa state",
      "state state",
      "user:rosa state",
    ]);
    const own = adkSessionService(adk.BaseSessionService, { maitred, user: (_app, user) => maitred.for({ user }) });
    await expect(own.listSessions({ appName: "desk" })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  });

  test("events that are added to memory are found with their ids and metadata, once", async () => {
    const event = (id: string, author: string, text: string) => ({ id, author, timestamp: Date.now(), content: { parts: [{ text }] } });
    const events = [event("e1", "user", "The harbour quartet was lovely"), event("e2", "desk", "Glad to hear it")];
    for (let times = 0; times < 2; times += 1) await memory.addEventsToMemory({ ...rosa, events, customMetadata: { place: "harbour" } });
    await memory.addEventsToMemory({ ...rosa, events: [event("e3", "user", "The organ was not")], sessionId: "s" });
    const { memories } = await memory.searchMemory({ ...rosa, query: "harbour quartet" });
    expect(memories[0]).toMatchObject({ id: "e1", author: "user", customMetadata: { kind: "message", place: "harbour", turn: 1 } });
    expect(memories.filter(({ id }) => id === "e1")).toHaveLength(1);
    expect((await sessions.listSessions(rosa)).sessions.map(({ id }) => id)).toEqual(["s"]);
  });

  test("what was said in a session without ADK is an event too", async () => {
    await sessions.createSession({ ...rosa, sessionId: "s" });
    const user = maitred.for({ user: "rosa", tenant: "adk.desk" });
    await user.add([{ role: "user", content: "Row F, please" }], { thread: "adk:desk/s" });
    await user.add([{ role: "assistant", content: "Row F is free." }], { thread: "adk:desk/s" });
    expect((await sessions.getSession({ ...rosa, sessionId: "s" }))?.events).toMatchObject([
      { author: "user", timestamp: expect.any(Number), content: { role: "user", parts: [{ text: "Row F, please" }] } },
      { author: "assistant", content: { role: "model", parts: [{ text: "Row F is free." }] } },
    ]);
  });

  test("[owner-isolation] sessions are listed, cut and deleted for their own user alone", async () => {
    for (const id of ["a", "b", "c"]) await sessions.createSession({ ...rosa, sessionId: id });
    await sessions.createSession({ appName: "desk", userId: "ben", sessionId: "a" });
    const listed = await sessions.listSessions({ ...rosa, limit: 2, page: 1, order: "asc" });
    expect(listed).toMatchObject({ totalItems: 3, totalPages: 2, page: 1 });
    expect(listed.sessions).toHaveLength(2);
    await sessions.deleteSession({ ...rosa, sessionId: "a" });
    expect(await sessions.getSession({ ...rosa, sessionId: "a" })).toBeUndefined();
    expect(await sessions.getSession({ appName: "desk", userId: "ben", sessionId: "a" })).toMatchObject({ id: "a" });
    expect((await memory.searchMemory({ appName: "desk", userId: "ben", query: "row F" })).memories).toEqual([]);
  });
});
