import { afterEach, describe, expect, type MockInstance, test, vi } from "vitest";
import { AppError } from "../../src/platform/errors.js";
import { run, runRemote } from "../cli/run.js";
import { SESSION_ID, sampleAnswer } from "../support/samples.js";

/** `maitred mcp` with messages piped in, as a process that ends when they do. */

const hello = {
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "c", version: "1" } },
};
const call = (id: number, name: string, args: object) => ({ id, method: "tools/call", params: { name, arguments: args } });
const lines = (...messages: readonly object[]) => messages.map((each) => `${JSON.stringify({ jsonrpc: "2.0", ...each })}\n`).join("");
/** What was written, each line of it a message. */
const written = (stdout: string) =>
  stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { readonly id?: number; readonly result?: object; readonly error?: object });
const byId = (stdout: string, id: number) => written(stdout).find((message) => message.id === id);

afterEach(() => void vi.unstubAllEnvs());

describe("maitred mcp", () => {
  test("answers all that was asked before the input ended, with nothing but the protocol, and closes the stores", async () => {
    const owners: unknown[] = [];
    const chat = async ({ owner, channel }: { readonly owner: unknown; readonly channel?: string }) => {
      owners.push([owner, channel]);
      // Longer than the input lasts.
      await new Promise((resolve) => setTimeout(resolve, 20));
      return sampleAnswer();
    };
    const stdin = lines(
      hello,
      { method: "notifications/initialized" },
      { id: 1, method: "tools/list" },
      call(2, "chat", { message: "Hi" }),
    );
    const ran = await run(["--user", "ada", "mcp"], { stdin, application: { chat: { chat } } });
    expect(ran).toMatchObject({ code: 0, stderr: "", closed: 1 });
    expect(written(ran.stdout).map(({ id }) => id)).toEqual([0, 1, 2]);
    expect(byId(ran.stdout, 0)?.result).toMatchObject({ protocolVersion: "2025-06-18", serverInfo: { name: "maitred" } });
    expect(byId(ran.stdout, 2)?.result).toMatchObject({ structuredContent: { session_id: SESSION_ID } });
    expect(owners).toEqual([[expect.stringContaining("ada"), "mcp"]]);
  });

  test("works for the user that MAITRED_USER names, unless --user names another", async () => {
    vi.stubEnv("MAITRED_USER", "ben");
    const owners: unknown[] = [];
    const search = async (owner: unknown) => {
      owners.push(owner);
      return [];
    };
    const options = { stdin: lines(call(1, "search_memories", { query: "jazz" })), application: { memories: { search } } };
    await run(["mcp"], options);
    await run(["mcp", "--user", "eve"], options);
    await run(["--user", "eve", "mcp"], options);
    expect(owners).toEqual([expect.stringContaining("ben"), expect.stringContaining("eve"), expect.stringContaining("eve")]);
  });

  test("passes over a line that is no message, and says so on standard error without its words", async () => {
    const stdin = `my secret words\n${lines({ id: 1, method: "ping" })}`;
    const { code, stdout, stderr } = await run(["mcp"], { stdin });
    expect([code, written(stdout)]).toEqual([0, [{ jsonrpc: "2.0", id: 1, result: {} }]]);
    expect(stderr).toMatch(/can't be read/);
    expect(stderr).not.toContain("secret");
  });

  test("a failure of its own is told to the client by code, and on standard error", async () => {
    const application = { memories: { search: () => Promise.reject(new Error("private")) } };
    const { stdout, stderr } = await run(["mcp"], { stdin: lines(call(1, "search_memories", { query: "jazz" })), application });
    expect(byId(stdout, 1)?.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("INTERNAL") }] });
    expect(stderr).toContain("Something went wrong");
    expect(stdout + stderr).not.toContain("private");
  });

  test("what is cancelled is broken off, and gets no answer", async () => {
    const chat = (_request: unknown, options?: { readonly signal?: AbortSignal }) =>
      new Promise<never>((_resolve, reject) => {
        options?.signal?.addEventListener("abort", () => reject(new AppError("CLIENT_CLOSED_REQUEST")));
      });
    const cancelled = { method: "notifications/cancelled", params: { requestId: 1 } };
    const stdin = lines(call(1, "chat", { message: "Hi" }), cancelled, { id: 2, method: "ping" });
    const { code, stdout, closed } = await run(["mcp"], { stdin, application: { chat: { chat } } });
    expect([code, closed, written(stdout).map(({ id }) => id)]).toEqual([0, 1, [2]]);
  });

  test("where the directory is another process's, nothing is on standard output, and the way through that server is told", async () => {
    const open = () => Promise.reject(new AppError("STORAGE_IN_USE"));
    const parts = { open, serverOf: async () => "http://127.0.0.1:3000" };
    for (const argv of [["mcp"], ["--json", "mcp"]]) {
      const { code, stdout, stderr } = await run(argv, { stdin: lines({ id: 1, method: "ping" }), parts });
      expect([code, stdout]).toEqual([4, ""]);
      expect(stderr).toContain("--url http://127.0.0.1:3000");
    }
  });
});

describe("maitred mcp --url", () => {
  test("is the server's own tools, for the user that the server takes it for", async () => {
    const asked: unknown[] = [];
    const search = async (owner: unknown) => {
      asked.push(owner);
      return [];
    };
    const messages = [hello, { method: "notifications/initialized" }, call(1, "search_memories", { query: "jazz" })];
    const options = { stdin: lines(...messages), application: { memories: { search } } };
    const { code, stdout, stderr } = await runRemote(["--user", "ada", "mcp"], options);
    expect([code, stderr, asked]).toEqual([0, "", [expect.stringContaining("ada")]]);
    expect(byId(stdout, 0)?.result).toMatchObject({ serverInfo: { name: "maitred" } });
    expect(byId(stdout, 1)?.result).toMatchObject({ structuredContent: { memories: [] } });
  });

  test("a server that can't be reached, or refuses, is an error of each request, and the next goes on", async () => {
    let tries = 0;
    const refusals = [
      () => Promise.reject(new TypeError("fetch failed")),
      async () => Response.json({ code: "UNAUTHENTICATED", detail: "Who are you?", hint: "Say." }, { status: 401 }),
      async () => new Response("<html>", { status: 502 }),
      async () => Response.json({ jsonrpc: "2.0", id: 4, result: {} }),
    ];
    const fetch = (() => (refusals[tries++] as () => Promise<Response>)()) as typeof globalThis.fetch;
    const stdin = lines(...[1, 2, 3, 4].map((id) => ({ id, method: "ping" })));
    const { code, stdout } = await runRemote(["mcp"], { stdin, parts: { fetch } });
    expect(code).toBe(0);
    expect([1, 2, 3].map((id) => byId(stdout, id)?.error)).toMatchObject([
      { data: { code: "SERVER_UNREACHABLE" } },
      { message: "Who are you?", data: { code: "UNAUTHENTICATED", hint: "Say." } },
      { data: { code: "SERVER_UNREACHABLE" } },
    ]);
    expect(byId(stdout, 4)?.result).toEqual({});
  });

  test("speaks the version that was agreed on", async () => {
    const versions: unknown[] = [];
    const reads: MockInstance[] = [];
    const fetch = (async (_url: unknown, init: RequestInit) => {
      versions.push(new Headers(init.headers).get("MCP-Protocol-Version"));
      const { id } = JSON.parse(String(init.body)) as { id: number };
      const result = { protocolVersion: "2025-03-26", capabilities: {}, serverInfo: {} };
      const answer = Response.json({ jsonrpc: "2.0", id, result });
      reads.push(vi.spyOn(answer, "json"));
      return answer;
    }) as typeof globalThis.fetch;
    const stdin = (async function* () {
      yield Buffer.from(lines(hello));
      await vi.waitUntil(() => reads[0]?.mock.settledResults[0]?.type === "fulfilled");
      yield Buffer.from(lines({ id: 1, method: "ping" }));
    })();
    await runRemote(["mcp"], { stdin, parts: { fetch } });
    expect(versions).toEqual([null, "2025-03-26"]);
  });
});
