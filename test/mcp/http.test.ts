import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_BODY_BYTES } from "../../src/http/body.js";
import { AppError } from "../../src/platform/errors.js";
import { startWorld, tempDir } from "../e2e/world.js";
import { answeringApplication } from "../support/answering-application.js";
import { fitting, hostileValue, type JsonSchema } from "../support/arbitrary-json.js";
import { fakeApplication } from "../support/fake-application.js";
import { appOver, json } from "../support/http-client.js";
import { MEMORY_ID, SESSION_ID, sampleAnswer } from "../support/samples.js";
import { connectHttp, listening } from "./client.js";

interface Turn {
  readonly session_id: string;
  readonly message: { readonly content: string };
  readonly memory: { readonly status: string; readonly recalled: readonly { readonly category: string }[] };
}
interface Found {
  readonly memories: readonly { readonly id: string; readonly text: string }[];
}
interface Said {
  readonly messages: readonly { readonly content: string; readonly session_id: string }[];
}

const rpc = (method: string, params: object = {}, more: object = { id: 1 }) => ({ jsonrpc: "2.0", method, params, ...more });
const call = (name: string, args: object) => rpc("tools/call", { name, arguments: args });

describe("the tools over streamable HTTP, with the official client", () => {
  test("are five, each with schemas and hints of what it does", async () => {
    const { client } = await connectHttp(await listening(await appOver(fakeApplication())));
    const { tools } = await client.listTools();
    const hints = tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint, annotations?.destructiveHint]);
    expect(hints).toEqual([
      ["chat", false, true],
      ["search_memories", true, false],
      ["add_memory", false, false],
      ["forget_memory", false, true],
      ["search_history", true, false],
    ]);
    for (const { name, title, description, inputSchema, outputSchema } of tools) {
      expect([name, title, description]).toEqual([name, expect.stringMatching(/\S/), expect.stringMatching(/\S/)]);
      expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
      expect(outputSchema).toMatchObject({ type: "object" });
      expect(Object.keys(inputSchema.properties ?? {}).filter((field) => /user|owner|tenant/.test(field))).toEqual([]);
    }
    expect(tools[0]?.inputSchema.properties?.message).toMatchObject({ type: "string", minLength: 1, maxLength: 8_000 });
    expect(client.getServerVersion()).toMatchObject({ name: "maitred" });
    expect(client.getServerCapabilities()).toEqual({ tools: {} });
    expect(client.getInstructions()).toContain("data about the user");
  });

  test("two sessions: what the first says the second knows; a memory is added, found and forgotten; nobody else has any of it", async () => {
    const world = await startWorld(await tempDir());
    const url = await listening(world.app);
    const ada = await connectHttp(url, { "X-User-Id": "ada" });
    const first = await ada.call<Turn>("chat", { message: "I prefer jazz concerts, and I need step-free access." });
    await world.as("ada").post(`/v1/sessions/${first.session_id}/flush?timeout_ms=20000`);

    const second = await ada.call<Turn>("chat", { message: "Anything good this weekend?" });
    expect(second.session_id).not.toBe(first.session_id);
    expect(second.memory.status).toBe("ok");
    expect(second.memory.recalled.map(({ category }) => category).sort()).toEqual(["accessibility", "genre"]);
    expect(second.message.content).toMatch(/jazz/i);
    const on = await ada.call<Turn>("chat", { message: "Thanks.", session_id: second.session_id });
    expect(on).toMatchObject({ session_id: second.session_id, turn: 2 });

    const { memory } = await ada.call<{ memory: { id: string } }>("add_memory", { text: "Prefers an aisle seat", category: "seating" });
    const search = (who: typeof ada) => who.call<Found>("search_memories", { query: "aisle seat" });
    expect((await search(ada)).memories[0]).toMatchObject({ id: memory.id, text: "Prefers an aisle seat" });
    const said = await ada.call<Said>("search_history", { query: "step-free access", role: "user" });
    expect(said.messages[0]).toMatchObject({ session_id: first.session_id, content: expect.stringContaining("step-free") });

    const ben = await connectHttp(url, { "X-User-Id": "ben" });
    expect(await search(ben)).toEqual({ memories: [] });
    expect(await ben.call("search_history", { query: "step-free access" })).toEqual({ messages: [] });
    expect(await ben.refusal("forget_memory", { id: memory.id })).toMatchObject({ code: "MEMORY_NOT_FOUND" });
    expect(await ben.refusal("chat", { message: "Hello.", session_id: first.session_id })).toMatchObject({ code: "SESSION_NOT_FOUND" });

    expect(await ada.call("forget_memory", { id: memory.id })).toEqual({ forgotten: memory.id });
    expect((await search(ada)).memories.map(({ id }) => id)).not.toContain(memory.id);
    expect(await ada.refusal("forget_memory", { id: memory.id })).toMatchObject({ code: "MEMORY_NOT_FOUND" });
  }, 60_000);

  test("a text stands beside each structured result: an answer as it is, what was said as JSON", async () => {
    const application = fakeApplication({
      chat: { chat: async () => sampleAnswer() },
      memories: { search: async () => [] },
    });
    const { client } = await connectHttp(await listening(await appOver(application)));
    const turn = await client.callTool({ name: "chat", arguments: { message: "Hi" } });
    expect(turn.content).toEqual([
      { type: "text", text: "Good evening." },
      { type: "text", text: expect.stringContaining(SESSION_ID) },
    ]);
    const found = await client.callTool({ name: "search_memories", arguments: { query: "jazz" } });
    expect(found).toMatchObject({ structuredContent: { memories: [] }, content: [{ type: "text", text: '{"memories":[]}' }] });
  });
});

describe("what goes wrong [limits-hold] [identity-from-server]", () => {
  test.each([
    ["chat", { message: "  " }, "INVALID_REQUEST", "/message"],
    ["chat", { message: "x".repeat(8_001) }, "INVALID_REQUEST", "/message"],
    ["chat", { message: "Hi", session_id: "../x" }, "INVALID_SESSION_ID", "/session_id"],
    ["chat", { message: "Hi", page_context: "é".repeat(8 * 1024 + 1) }, "INVALID_REQUEST", "/page_context"],
    ["chat", { message: "Hi", user: "ben" }, "UNKNOWN_FIELD", "/user"],
    ["search_memories", { query: "jazz", limt: 1 }, "UNKNOWN_FIELD", "/limt"],
    ["search_memories", { query: "jazz", limit: 201 }, "INVALID_REQUEST", "/limit"],
    ["add_memory", {}, "INVALID_REQUEST", "/text"],
    ["add_memory", { text: "Likes jazz", valid_until: "soon" }, "INVALID_REQUEST", "/valid_until"],
    ["forget_memory", { id: "*" }, "INVALID_REQUEST", "/id"],
    ["search_history", { query: "jazz", from: 7 }, "INVALID_REQUEST", "/from"],
  ])("%s with %j is an error of the tool: %s, at %s", async (name, args, code, pointer) => {
    const { refusal } = await connectHttp(await listening(await appOver(fakeApplication())));
    const error = await refusal(name, args);
    expect(error).toMatchObject({ code, hint: expect.stringMatching(/\S/) });
    expect(error.errors?.[0]?.pointer).toBe(pointer);
  });

  test("a store that is down for a while is told as what passes, and the next call is answered", async () => {
    const script = [new AppError("LONG_TERM_MEMORY_UNAVAILABLE", { retryAfterSeconds: 3 }), null];
    const search = async () => {
      const error = script.shift();
      if (error) throw error;
      return [];
    };
    const { call, refusal } = await connectHttp(await listening(await appOver(fakeApplication({ memories: { search } }))));
    expect(await refusal("search_memories", { query: "jazz" })).toMatchObject({
      code: "LONG_TERM_MEMORY_UNAVAILABLE",
      hint: expect.stringContaining("Try again"),
      retry_after_seconds: 3,
    });
    expect(await call("search_memories", { query: "jazz" })).toEqual({ memories: [] });
  });

  test("what is unexpected is INTERNAL, without its words", async () => {
    const application = fakeApplication({ memories: { forget: () => Promise.reject(new Error("at secret.ts:7 private")) } });
    const { refusal } = await connectHttp(await listening(await appOver(application)));
    const error = await refusal("forget_memory", { id: MEMORY_ID });
    expect(error.code).toBe("INTERNAL");
    expect(JSON.stringify(error)).not.toMatch(/secret|private/);
  });

  test("who is not known, comes too often, or from a foreign page is refused before any message is read", async () => {
    const closed = await listening(await appOver(fakeApplication(), { config: { AUTH_MODE: "header" } }));
    await expect(connectHttp(closed, { "X-User-Id": "ada" })).rejects.toThrow(/UNAUTHENTICATED/);
    const nobody = await fetch(`${closed}/mcp`, json("POST", rpc("tools/list")));
    expect([nobody.status, nobody.headers.get("WWW-Authenticate")]).toEqual([401, expect.stringContaining("maitred")]);

    const app = await appOver(fakeApplication(), { config: { RATE_LIMIT_PER_MINUTE: 1 } });
    expect((await app.request("/mcp", json("POST", rpc("ping")))).status).toBe(200);
    const second = await app.request("/mcp", json("POST", rpc("ping")));
    expect([second.status, second.headers.get("Retry-After")]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    expect((await app.request("/v1/sessions")).status).toBe(429);

    const open = await appOver(fakeApplication());
    for (const headers of [{ Origin: "https://elsewhere.example" }, { "Sec-Fetch-Site": "cross-site" }, { Host: "elsewhere.example" }])
      expect((await open.request("/mcp", json("POST", rpc("ping"), headers as Record<string, string>))).status).toBe(403);
  });

  test("an origin that is configured may call from a browser", async () => {
    const app = await appOver(fakeApplication(), { config: { CORS_ORIGINS: ["https://inspector.example"] } });
    const headers = {
      Origin: "https://inspector.example",
      "Access-Control-Request-Method": "POST",
      "Access-Control-Request-Headers": "content-type,mcp-protocol-version",
    };
    const preflight = await app.request("/mcp", { method: "OPTIONS", headers });
    expect(preflight.headers.get("Access-Control-Allow-Origin")).toBe("https://inspector.example");
    expect(preflight.headers.get("Access-Control-Allow-Headers")).toContain("MCP-Protocol-Version");
  });
});

describe("the protocol [hostile-input]", () => {
  const post = async (body: unknown, headers: Record<string, string> = {}) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const init = { method: "POST", body: text, headers: { "Content-Type": "application/json", ...headers } };
    const response = await (await appOver(fakeApplication())).request("/mcp", init);
    const answer = await response.text();
    return { status: response.status, headers: response.headers, body: answer === "" ? null : (JSON.parse(answer) as object) };
  };

  test("is spoken without a session: each message is answered by itself, as JSON that nobody keeps", async () => {
    const { status, headers, body } = await post(rpc("tools/list"));
    expect([status, headers.get("Content-Type"), headers.get("Cache-Control"), headers.get("Mcp-Session-Id")]).toEqual([
      200,
      "application/json",
      "no-store",
      null,
    ]);
    expect(body).toMatchObject({ jsonrpc: "2.0", id: 1, result: { tools: expect.any(Array) } });
    expect(await post(rpc("notifications/initialized", {}, {}))).toMatchObject({ status: 202, body: null });
  });

  test.each([
    ["text that is no JSON", '{"jsonrpc":', 400, -32700],
    ["a batch", [rpc("ping"), rpc("ping")], 400, -32600],
    ["no message", { message: "Hi" }, 400, -32600],
    ["an answer to what was not asked", { jsonrpc: "2.0", id: 1, result: {} }, 400, -32600],
    ["a method that there isn't", rpc("resources/list"), 200, -32601],
    ["a tool that there isn't", call("erase_everything", {}), 200, -32602],
    ["a call without a name", rpc("tools/call", { arguments: {} }), 200, -32602],
    ["arguments that are none", rpc("tools/call", { name: "chat", arguments: [1] }), 200, -32602],
  ])("%s is an error of JSON-RPC", async (_name, message, status, code) => {
    expect(await post(message)).toMatchObject({ status, body: { jsonrpc: "2.0", error: { code } } });
  });

  test("a version that is not known is 400, one that is old is spoken", async () => {
    expect(await post(rpc("ping"), { "MCP-Protocol-Version": "1999-01-01" })).toMatchObject({ status: 400, body: { jsonrpc: "2.0" } });
    expect(await post(rpc("ping"), { "MCP-Protocol-Version": "2025-03-26" })).toMatchObject({ status: 200, body: { result: {} } });
    const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "c", version: "1" } };
    expect(await post(rpc("initialize", hello))).toMatchObject({ body: { result: { protocolVersion: "2025-06-18" } } });
  });

  test.each(["chat", "search_memories", "add_memory", "forget_memory", "search_history"])(
    "%s answers whatever it is called with, and never with a failure of its own",
    async (name) => {
      const app = await appOver(answeringApplication());
      const listed = await app.request("/mcp", json("POST", rpc("tools/list")));
      const { tools } = ((await listed.json()) as { result: { tools: { name: string; inputSchema: JsonSchema }[] } }).result;
      const schema = tools.find((tool) => tool.name === name)?.inputSchema ?? {};
      const fields = Object.keys((schema as { readonly properties?: object }).properties ?? {});
      const outcomes = new Set<boolean>();
      const hostile = fc.dictionary(fc.constantFrom(...fields, "user", "__proto__"), hostileValue);
      await fc.assert(
        fc.asyncProperty(fc.oneof(fitting(schema, {}), hostile, hostileValue), async (args) => {
          const response = await app.request("/mcp", json("POST", rpc("tools/call", { name, arguments: args })));
          const text = await response.text();
          expect(response.status, text).toBeLessThan(500);
          expect(text).not.toContain("INTERNAL");
          outcomes.add(text.includes('"isError":true'));
        }),
        { numRuns: 80 },
      );
      // Both are met: what the schema refuses, and what lies behind it.
      expect([...outcomes].sort()).toEqual([false, true]);
    },
  );

  test("other methods are 405, other types 415, more than a body may hold 413, who takes no JSON 406", async () => {
    const app = await appOver(fakeApplication());
    for (const method of ["GET", "DELETE", "PUT"]) {
      const response = await app.request("/mcp", { method, headers: { Accept: "text/event-stream" } });
      expect([method, response.status, response.headers.get("Allow")]).toEqual([method, 405, "OPTIONS, POST"]);
    }
    expect((await post(rpc("ping"), { "Content-Type": "text/plain" })).status).toBe(415);
    expect((await post(rpc("ping", { pad: "x".repeat(MAX_BODY_BYTES) }))).status).toBe(413);
    expect((await post(rpc("ping"), { Accept: "text/event-stream" })).status).toBe(406);
  });

  test("who hangs up breaks off the turn", async () => {
    const gone = new AbortController();
    let broken: boolean | undefined;
    const chat = async (_request: unknown, options: { readonly signal?: AbortSignal } = {}) => {
      gone.abort();
      broken = options.signal?.aborted;
      return sampleAnswer();
    };
    const app = await appOver(fakeApplication({ chat: { chat } }));
    await app.request("/mcp", { ...json("POST", call("chat", { message: "Hi" })), signal: gone.signal });
    expect(broken).toBe(true);
  });
});
