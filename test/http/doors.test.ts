import { describe, expect, test } from "vitest";
import { type Client, startWorld, tempDir } from "../e2e/world.js";
import { TaskModel } from "../support/task-model.js";

/** One turn, by each of the doors that a client may take, and what came of it: the answer's text, or the code of the refusal. */
interface Door {
  readonly path: string;
  readonly body: (message: string, sessionId: string | undefined) => unknown;
  /** Of an answer's text. */
  readonly said: (answer: string) => string;
  readonly code: (answer: string) => string | undefined;
  /** Sessions are named by the client's own ids, `evening` here: nobody else's can be asked for. */
  readonly ownNames?: true;
}

const user = (message: string) => [{ role: "user", content: message }];
const openAiCode = (answer: string): string => (JSON.parse(answer) as { error: { code: string } }).error.code.toUpperCase();
const problemCode = (answer: string): string => (JSON.parse(answer) as { code: string }).code;
const mcpText = (answer: string): string =>
  (JSON.parse(answer) as { result: { content: readonly { text: string }[] } }).result.content[0]?.text ?? "";

const DOORS: Readonly<Record<string, Door>> = {
  "the API": {
    path: "/v1/chat",
    body: (message, session_id) => ({ message, session_id }),
    said: (answer) => (JSON.parse(answer) as { message: { content: string } }).message.content,
    code: problemCode,
  },
  "Chat Completions": {
    path: "/v1/chat/completions",
    body: (message, session_id) => ({ model: "any", messages: user(message), ...(session_id && { metadata: { session_id } }) }),
    said: (answer) => (JSON.parse(answer) as { choices: readonly { message: { content: string } }[] }).choices[0]?.message.content ?? "",
    code: openAiCode,
  },
  Responses: {
    path: "/v1/responses",
    body: (message, session_id) => ({ model: "any", input: user(message), ...(session_id && { metadata: { session_id } }) }),
    said: (answer) =>
      (JSON.parse(answer) as { output: readonly { content: readonly { text: string }[] }[] }).output.at(-1)?.content[0]?.text ?? "",
    code: openAiCode,
  },
  useChat: {
    path: "/v1/ui/chat",
    body: (message) => ({ id: "evening", messages: [{ id: "m1", role: "user", parts: [{ type: "text", text: message }] }] }),
    said: (answer) => [...answer.matchAll(/"delta":"([^"]*)"/g)].map(([, delta]) => delta).join(""),
    code: problemCode,
    ownNames: true,
  },
  MCP: {
    path: "/mcp",
    body: (message, session_id) => {
      const params = { name: "chat", arguments: { message, ...(session_id && { session_id }) } };
      return { jsonrpc: "2.0", id: 1, method: "tools/call", params };
    },
    said: (answer) => mcpText(answer),
    code: (answer) => {
      const { code, result } = JSON.parse(answer) as { code?: string; result?: object };
      return result === undefined ? code : (JSON.parse(mcpText(answer)) as { error: { code: string } }).error.code;
    },
  },
};

const ACCEPT = { Accept: "application/json, text/event-stream" };
const VARIABLES = { AUTH_MODE: "header", AUTH_HEADER: "X-User-Id", RATE_LIMIT_PER_MINUTE: "0" };
const ask = (client: Client, { path, body }: Door, message: string, sessionId?: string) =>
  client.post(
    path,
    body(message, sessionId),
    path === "/v1/ui/chat" ? {} : { Accept: path === "/mcp" ? ACCEPT.Accept : "application/json" },
  );

describe.each(Object.entries(DOORS))("a turn through %s", (_name, door) => {
  const open = (variables: Readonly<Record<string, string>> = {}) =>
    tempDir().then((dir) => startWorld(dir, { ...VARIABLES, ...variables }, { model: new TaskModel() }));

  test("is answered, in a session of whoever asks", async () => {
    const world = await open();
    const { status, text } = await ask(world.as("ada"), door, "Good evening.");
    expect([status, door.said(text)]).toEqual([200, expect.stringContaining("Very well.")]);
    const sessions = async (name: string) => (await world.as(name).get<{ data: unknown[] }>("/v1/sessions")).body.data.length;
    expect([await sessions("ada"), await sessions("bob")]).toEqual([1, 0]);
  });

  test("[identity-from-server] wants the server's word about who asks", async () => {
    const world = await open();
    const init = {
      method: "POST",
      headers: { "Content-Type": "application/json", ...ACCEPT },
      body: JSON.stringify(door.body("Hello", undefined)),
    };
    const response = await world.app.request(door.path, init);
    expect([response.status, response.headers.has("WWW-Authenticate")]).toEqual([401, true]);
  });

  test("[owner-isolation] knows nothing of another's session", async () => {
    const world = await open();
    const { session_id } = await world.as("ada").say("Good evening.", door.ownNames ? { external_id: "evening" } : {});
    const answered = await ask(world.as("bob"), door, "And I?", session_id);
    if (door.ownNames) expect(answered.headers.get("X-Session-Id")).not.toBe(session_id);
    else expect(door.code(answered.text)).toBe("SESSION_NOT_FOUND");
    expect((await world.as("ada").get(`/v1/sessions/${session_id}/messages`)).text).not.toContain("And I?");
  });

  test("[limits-hold] has messages of 8,000 characters, as many as are allowed a minute, and a day's tokens", async () => {
    const world = await open();
    expect(door.code((await ask(world.as("ada"), door, "x".repeat(8_001))).text)).toBe("INVALID_REQUEST");
    const limited = await open({ RATE_LIMIT_PER_MINUTE: "1", COST_HARD_LIMIT_TOKENS: "1" });
    expect((await ask(limited.as("ada"), door, "Good evening.")).status).toBe(200);
    expect((await ask(limited.as("ada"), door, "Good evening.")).status).toBe(429);
    const spent = await ask(limited.as("bob"), door, "Good evening.");
    expect(["COST_LIMIT_REACHED", "INSUFFICIENT_QUOTA"]).toContain(door.code(spent.text));
  });
});
