import { chmod, mkdir, readdir, readFile, rmdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { STATE_FILE } from "../../src/compose/engine.js";
import type { Memory } from "../../src/domain/memory.js";
import type { Message, Session } from "../../src/domain/session.js";
import type { ChatAnswer } from "../../src/ports/resources.js";
import { type InstalledPackage, installPackage, PACKED_WITHIN_MS } from "../packaging/install.js";
import { freePort } from "../support/free-port.js";
import { parseEvents } from "../support/http-client.js";
import { type ChatBody, OpenAIStub } from "../support/openai-stub.js";
import { ServerProcess } from "./server-process.js";
import { tempDir } from "./world.js";

let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installPackage();
}, PACKED_WITHIN_MS);
afterAll(() => installed.remove());

async function call<T>(url: string, method: string, path: string, body?: unknown, user = "ada"): Promise<{ status: number; body: T }> {
  const init: RequestInit = { method, headers: { "X-User-Id": user, "Content-Type": "application/json" } };
  if (body !== undefined) init.body = JSON.stringify(body);
  const response = await fetch(`${url}${path}`, init);
  const text = await response.text();
  return { status: response.status, body: (text === "" ? null : JSON.parse(text)) as T };
}

describe("the server as a process", () => {
  test("says in one block where it listens, what it runs on, and what is a stand-in; then it serves", async () => {
    const dir = await tempDir();
    const server = ServerProcess.start(installed, { MEMORY_STORAGE_DIR: dir });
    const url = await server.url();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const block = server.stdout;
    expect(block).toMatch(/Model .*stand-in/);
    expect(block).toMatch(/Memory +Mem0 on .*vectors\.db/);
    expect(block).toMatch(/Embedder .*compares words/);
    expect(block).toContain(`Data      ${dir}`);
    expect(block).toMatch(/OPENAI_API_KEY|OPENAI_BASE_URL/);
    expect(block.trim().split("\n").length).toBeLessThan(12);
    expect(await call(url, "GET", "/healthz")).toMatchObject({ status: 200 });
    expect(await call(url, "GET", "/readyz")).toMatchObject({ status: 200, body: { status: "ok" } });
    const page = await fetch(url);
    expect(await page.text()).toContain("<title>");
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/^process_cpu_seconds_total \S+$/m);
    server.signal("SIGTERM");
    expect(await server.ended).toMatchObject({ code: 0, signal: null });
  }, 60_000);

  test("what is wrong in the configuration is told at once and whole, with exit code 78", async () => {
    const server = ServerProcess.start(installed, { PORT: "eighty", MEM0_ENABLED: "yes", AUTH_MODE: "none", SHORT_TERM_ROUNDS: "-1" });
    const { code, stdout, stderr } = await server.ended;
    expect(code).toBe(78);
    expect(stdout).toBe("");
    for (const name of ["PORT", "MEM0_ENABLED", "AUTH_MODE", "SHORT_TERM_ROUNDS"]) expect(stderr).toContain(`${name}: `);
    expect(stderr).not.toMatch(/^\s+at /m);
    const open = ServerProcess.start(installed, { HOST: "0.0.0.0", MEMORY_STORAGE_DIR: await tempDir() });
    const refused = await open.ended;
    expect(refused.code).toBe(78);
    expect(refused.stderr).toMatch(/HOST.*AUTH_MODE/);
  }, 60_000);

  test("a storage directory that can't be written is a clear error, and nothing listens", async () => {
    const parent = await tempDir();
    const file = join(parent, "a-file");
    await writeFile(file, "");
    const notADirectory = await ServerProcess.start(installed, { MEMORY_STORAGE_DIR: join(file, "storage") }).ended;
    expect(notADirectory).toMatchObject({ code: 1, stdout: "" });
    expect(notADirectory.stderr).toContain(join(file, "storage"));
    expect(notADirectory.stderr).toMatch(/can't be written/);
    expect(notADirectory.stderr).toContain("MEMORY_STORAGE_DIR");
    expect(notADirectory.stderr).not.toMatch(/^\s+at /m);
    const readOnly = join(parent, "read-only");
    await mkdir(readOnly);
    await chmod(readOnly, 0o555);
    onTestFinished(() => chmod(readOnly, 0o755));
    const refused = await ServerProcess.start(installed, { MEMORY_STORAGE_DIR: readOnly }, [], { asAnybody: true }).ended;
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain(readOnly);
    expect(refused.stderr).toMatch(/can't be written/);
  }, 60_000);

  test("a second process on the same directory is told who has it; when that one has gone, however it went, it may start", async () => {
    const dir = await tempDir();
    const first = ServerProcess.start(installed, { MEMORY_STORAGE_DIR: dir });
    const url = await first.url();
    await call(url, "POST", "/v1/chat", { message: "I prefer jazz concerts." });
    const second = await ServerProcess.start(installed, { MEMORY_STORAGE_DIR: dir }).ended;
    expect(second).toMatchObject({ code: 1, stdout: "" });
    expect(second.stderr).toContain(`Process ${first.pid} `);
    expect(second.stderr).toContain(dir);
    expect((await call(url, "GET", "/healthz")).status).toBe(200);
    first.signal("SIGKILL");
    await first.ended;
    const third = ServerProcess.start(installed, { MEMORY_STORAGE_DIR: dir });
    const sessions = await call<{ data: Session[] }>(await third.url(), "GET", "/v1/sessions");
    expect(sessions.body.data).toHaveLength(1);
  }, 60_000);

  test("a port that is taken is told in words, and the directory is free again", async () => {
    const dir = await tempDir();
    const first = ServerProcess.start(installed, { MEMORY_STORAGE_DIR: await tempDir() });
    const { port } = new URL(await first.url());
    const second = await ServerProcess.start(installed, { MEMORY_STORAGE_DIR: dir, PORT: port }).ended;
    expect(second).toMatchObject({ code: 1, stdout: "" });
    expect(second.stderr).toMatch(/port is taken/i);
    expect(second.stderr).toContain(`: ${port} on 127.0.0.1.\nSet PORT `);
    await ServerProcess.start(installed, { MEMORY_STORAGE_DIR: dir }).url();
  }, 60_000);

  test("a start that fails when it listens already ends, and its port and directory are free", async () => {
    const dir = await tempDir();
    const port = String(await freePort());
    // Where the address is to be written stands a directory.
    await mkdir(join(dir, "maitred.address"));
    const failed = await ServerProcess.start(installed, { MEMORY_STORAGE_DIR: dir, PORT: port }).ended;
    expect(failed).toMatchObject({ code: 1, signal: null, stdout: "" });
    expect(failed.stderr).toContain("Maitred can't start.\nThe storage answered EISDIR.");
    expect(failed.stderr).not.toMatch(/^\s+at /m);
    await rmdir(join(dir, "maitred.address"));
    const url = await ServerProcess.start(installed, { MEMORY_STORAGE_DIR: dir, PORT: port }).url();
    expect(new URL(url).port).toBe(port);
  }, 60_000);
});

const TURNS = 6;

/** Chat turns wait for {@link OpenAIStub.release}; what is asked for with a schema is what the message says; all else is a name. */
function heldModel(body: ChatBody) {
  if (body.tools !== undefined) return { text: ["I will ", "remember ", "that."], fault: "slow" as const };
  if (body.response_format === undefined) return { text: "Stamps" };
  const said = /I collect stamps of country \d+/.exec(JSON.stringify(body.messages.at(-1)))?.[0];
  const add = {
    ...{ op: "add", quote: said, target: null, text: said?.replace("I collect", "Collects"), category: "other" },
    ...{ aspect: said?.split(" ").slice(-2).join(" "), type: "preference", strength: "soft", subject: "self", scope: "standing" },
    ...{ valid_until: null, confidence: 1, explicit: true, entities: [] },
  };
  return { text: JSON.stringify({ operations: said === undefined ? [] : [add] }) };
}

test("[stop-graceful] SIGTERM under load: turns in flight are answered whole, nothing new is begun, it exits 0 and nothing is lost", async () => {
  const dir = await tempDir();
  const stub = await OpenAIStub.open();
  onTestFinished(() => stub.close());
  stub.chatOtherwise(heldModel);
  const variables = { MEMORY_STORAGE_DIR: dir, OPENAI_BASE_URL: stub.url, EMBEDDING_PROVIDER: "hashing" };
  const server = ServerProcess.start(installed, variables);
  const url = await server.url();
  const send = (n: number, stream: boolean) =>
    fetch(`${url}/v1/chat`, {
      method: "POST",
      headers: { "X-User-Id": `guest-${n}`, "Content-Type": "application/json", "Idempotency-Key": `turn-${n}` },
      body: JSON.stringify({ message: `I collect stamps of country ${n}.`, stream }),
    });
  const turns = Array.from({ length: TURNS }, (_, n) => send(n, n % 2 === 0));
  await stub.arrived(TURNS);
  server.signal("SIGTERM");
  await server.logged("stopping");
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  stub.release();

  const answers = await Promise.all(
    turns.map(async (turn, n): Promise<ChatAnswer> => {
      const response = await turn;
      expect(response.status).toBe(200);
      const text = await response.text();
      if (n % 2 !== 0) return JSON.parse(text) as ChatAnswer;
      const events = parseEvents(text);
      expect(events.at(-1)?.event).toBe("message");
      return events.at(-1)?.data as ChatAnswer;
    }),
  );
  expect(answers.map(({ message }) => message.content)).toEqual(answers.map(() => "I will remember that."));
  const ended = await server.ended;
  expect(ended).toMatchObject({ code: 0, signal: null });
  expect(ended.stderr).not.toMatch(/"level":"(error|fatal)"/);
  // The last write-ahead logs are in their files.
  for (const name of await readdir(dir)) if (name.endsWith("-wal")) expect((await stat(join(dir, name))).size).toBe(0);

  const again = ServerProcess.start(installed, variables);
  const after = await again.url();
  for (const [n, answer] of answers.entries()) {
    const guest = `guest-${n}`;
    const path = `/v1/sessions/${answer.session_id}`;
    const messages = await call<{ data: Message[] }>(after, "GET", `${path}/messages`, undefined, guest);
    expect(messages.body.data.map(({ content }) => content)).toEqual([`I collect stamps of country ${n}.`, "I will remember that."]);
    expect(messages.body.data[1]?.id).toBe(answer.message.id);
    const left = await call(after, "POST", `${path}/flush?timeout_ms=20000`, undefined, guest);
    expect(left.body).toEqual({ pending_turns: 0, failed_turns: 0 });
    const memories = await call<{ data: Memory[] }>(after, "GET", "/v1/memories", undefined, guest);
    expect(memories.body.data.map(({ text }) => text)).toEqual([`Collects stamps of country ${n}`]);
  }
  // What the client never heard of is asked for again with its key: the same answer, no second turn.
  const repeated = await fetch(`${after}/v1/chat`, {
    method: "POST",
    headers: { "X-User-Id": "guest-1", "Content-Type": "application/json", "Idempotency-Key": "turn-1" },
    body: JSON.stringify({ message: "I collect stamps of country 1.", stream: false }),
  });
  expect(((await repeated.json()) as ChatAnswer).message.id).toBe(answers[1]?.message.id);
}, 90_000);

test("[stop-graceful] [turn-durable] SIGTERM amid guests who talk without a pause: each turn is answered whole or not begun, and the answered ones are there", async () => {
  const dir = await tempDir();
  const server = ServerProcess.start(installed, { MEMORY_STORAGE_DIR: dir });
  const url = await server.url();
  const answered: { guest: string; answer: ChatAnswer }[] = [];
  const talk = async (guest: string) => {
    const headers = { "X-User-Id": guest, "Content-Type": "application/json" };
    for (let n = 0; ; n += 1) {
      const body = JSON.stringify({ message: `Any concerts next week? (${n})`, stream: n % 2 === 0 });
      const response = await fetch(`${url}/v1/chat`, { method: "POST", headers, body }).catch(() => null);
      // Once it is stopping: no connection, or a clear "not now".
      if (response === null || response.status === 503) return;
      expect(response.status).toBe(200);
      const text = await response.text();
      const last = n % 2 === 0 ? parseEvents(text).at(-1) : { event: "message", data: JSON.parse(text) };
      expect(last?.event).toBe("message");
      answered.push({ guest, answer: last?.data as ChatAnswer });
      if (answered.length === 12) server.signal("SIGTERM");
    }
  };
  await Promise.all(["ada", "bob", "cem", "dot"].map(talk));
  expect(await server.ended).toMatchObject({ code: 0, signal: null });
  expect(answered.length).toBeGreaterThanOrEqual(12);

  const after = await ServerProcess.start(installed, { MEMORY_STORAGE_DIR: dir }).url();
  for (const { guest, answer } of answered) {
    const { body } = await call<{ data: Message[] }>(after, "GET", `/v1/sessions/${answer.session_id}/messages`, undefined, guest);
    expect(body.data.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(body.data[1]).toMatchObject({ id: answer.message.id, content: answer.message.content });
  }
}, 90_000);

describe("a start with a damaged file says which", () => {
  test("and ends where it is state.db; a line in the middle of a journal and vectors.db leave the rest, with which it goes on", async () => {
    const dir = await tempDir();
    const whole = ServerProcess.start(installed, { MEMORY_STORAGE_DIR: dir });
    const before = await whole.url();
    const first = await call<ChatAnswer>(before, "POST", "/v1/chat", { message: "I prefer jazz concerts." });
    const id = first.body.session_id;
    await call(before, "POST", "/v1/chat", { message: "Any opera in Vienna?", session_id: id });
    await call(before, "POST", `/v1/sessions/${id}/flush`);
    whole.signal("SIGTERM");
    await whole.ended;

    const state = join(dir, STATE_FILE);
    const sound = await readFile(state);
    await writeFile(state, "this is no database ".repeat(500));
    const refused = await ServerProcess.start(installed, { MEMORY_STORAGE_DIR: dir }).ended;
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`${STATE_FILE} is damaged`);
    expect(refused.stderr).toContain("maitred restore");
    await writeFile(state, sound);

    await writeFile(join(dir, "vectors.db"), "nor is this ".repeat(500));
    const journal = join(dir, `${id}.jsonl`);
    const lines = (await readFile(journal, "utf8")).split("\n");
    const at = lines.findIndex((line) => line.includes('"role":"assistant"'));
    lines[at] = `${lines[at]?.slice(0, 40)}\u0000 garbage`;
    await writeFile(journal, lines.join("\n"));

    const damaged = ServerProcess.start(installed, { MEMORY_STORAGE_DIR: dir });
    const url = await damaged.url();
    expect(damaged.stderr).toContain("vectors.db");
    const sessions = await call<{ data: Session[] }>(url, "GET", "/v1/sessions");
    expect(sessions.body.data.map((session) => session.id)).toEqual([id]);
    const messages = await call<{ data: Message[] }>(url, "GET", `/v1/sessions/${id}/messages`);
    expect(messages.body.data.map(({ role }) => role)).toEqual(["user", "user", "assistant"]);
    // Told when it is read: a start after a clean end looks at no journal.
    await damaged.logged(id);
    // No memory is not "no constraints": what can't be read is said.
    const answer = await call<ChatAnswer>(url, "POST", "/v1/chat", { message: "Anything good this weekend?", session_id: id });
    expect(answer).toMatchObject({ status: 200, body: { memory: { status: "degraded" } } });
    expect(await call(url, "GET", "/v1/memories")).toMatchObject({ status: 503, body: { code: "LONG_TERM_MEMORY_UNAVAILABLE" } });
    const ready = await call<{ parts: Record<string, { status: string; detail?: string }> }>(url, "GET", "/readyz");
    expect(ready.body.parts.long_term).toMatchObject({ status: "down", detail: expect.stringContaining("vectors.db") });
    expect(await readFile(join(dir, "vectors.db"), "utf8")).toContain("nor is this");
    damaged.signal("SIGTERM");
    expect((await damaged.ended).code).toBe(0);
  }, 60_000);
});
