import fs from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { HashingEmbedder } from "../../src/embedding/hashing-embedder.js";
import { createMaitred, createOrchestrator, type Maitred, type MaitredParts } from "../../src/index.js";
import { AppError } from "../../src/platform/errors.js";
import { type Logger, silentLogger } from "../../src/platform/logger.js";
import type { ChatModel, ModelEvent, ModelMessage } from "../../src/ports/agent.js";
import { byWords } from "../support/by-words.js";
import { SLOW } from "../support/projects.js";

// A busy machine takes its time over a start.
vi.setConfig({ testTimeout: 120_000 });

async function tempDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "maitred-in-code-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  return dir;
}

/** In memory unless a directory is named; closed at the end of the test. */
async function opened(variables: Record<string, string> = {}, parts: MaitredParts = {}): Promise<Maitred> {
  const kept = variables.MEMORY_STORAGE_DIR === undefined ? { SHORT_TERM_BACKEND: "memory" } : {};
  const maitred = await createOrchestrator(byWords({ RECALL_DEADLINE_MS: "10000", ...kept, ...variables }), parts);
  onTestFinished(() => maitred.close({ drainMs: 0 }));
  return maitred;
}

function noting(level: keyof Logger): { readonly logger: Logger; readonly noted: [object, string][] } {
  const noted: [object, string][] = [];
  return { logger: { ...silentLogger, [level]: (fields: object, message: string) => void noted.push([fields, message]) }, noted };
}

describe("a store whose embedder was changed", () => {
  test("says how to go on, and opens with `reembed`: every memory and all history is found", async () => {
    const dir = await tempDir();
    const [small, large] = [new HashingEmbedder({ dimension: 64 }), new HashingEmbedder({ dimension: 128 })];
    const before = await createOrchestrator({ MEMORY_STORAGE_DIR: dir }, { embedder: small });
    const ada = await before.owner("ada");
    const now = new Date();
    const memory = await before.memories.add(ada, { text: "Prefers jazz concerts", category: "genre" }, { now });
    const { session_id: session } = await before.chat.chat({ owner: ada, message: "We met at the lighthouse" });
    await before.sessions.flush(ada, session, 20_000);
    await before.close();

    const refused = createOrchestrator({ MEMORY_STORAGE_DIR: dir }, { embedder: large });
    await expect(refused).rejects.toMatchObject({ code: "REINDEX_REQUIRED", hint: expect.stringContaining("reembed: true") });
    const after = await opened({ MEMORY_STORAGE_DIR: dir }, { embedder: large, reembed: true });
    expect((await after.memories.search(ada, { text: "jazz" })).map(({ id }) => id)).toContain(memory.id);
    await vi.waitFor(async () => expect(await after.history.search(ada, { query: "lighthouse", now: new Date() })).not.toEqual([]), 20_000);
  });
});

describe("a memory by hand", () => {
  test("goes under `other` without a category, and under the table's name of a misspelt one, also when it is edited", async () => {
    const maitred = await opened();
    const [ada, now] = [await maitred.owner("ada"), new Date()];
    expect(await maitred.memories.add(ada, { text: "Collects stamps" }, { now })).toMatchObject({ category: "other" });
    const { id } = await maitred.memories.add(ada, { text: "Prefers row 4", category: "seatting" }, { now });
    expect(await maitred.memories.get(ada, id)).toMatchObject({ category: "seating" });
    expect(await maitred.memories.patch(ada, id, { category: "no such thing" }, { now })).toMatchObject({ category: "other" });
  });

  test.each([
    ["a number as text", { text: 7 }, "/text"],
    ["a number as category", { text: "Likes jazz", category: 7 }, "/category"],
    ["text as tags", { text: "Likes jazz", tags: "a" }, "/tags"],
  ])("with %s is refused and says where, new or edited", async (_name, given, pointer) => {
    const maitred = await opened();
    const [ada, now] = [await maitred.owner("ada"), new Date()];
    const refused = { code: "INVALID_REQUEST", errors: expect.arrayContaining([expect.objectContaining({ pointer })]) };
    await expect(maitred.memories.add(ada, given as never, { now })).rejects.toMatchObject(refused);
    const { id } = await maitred.memories.add(ada, { text: "Likes opera" }, { now });
    await expect(maitred.memories.patch(ada, id, given as never, { now })).rejects.toMatchObject(refused);
  });

  test("a message that is no text, or blank, is refused before anything is kept", async () => {
    const maitred = await opened();
    const owner = await maitred.owner("ada");
    for (const message of [7, " \n"])
      await expect(maitred.chat.chat({ owner, message: message as string })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
    expect((await maitred.sessions.list(owner, {})).data).toEqual([]);
  });
});

test("[owner-isolation] user:ada is another user than ada", async () => {
  const maitred = await opened();
  await maitred.memories.add(await maitred.owner("ada"), { text: "Likes jazz" }, { now: new Date() });
  expect((await maitred.memories.list(await maitred.owner("user:ada"), {})).data).toEqual([]);
});

test("an answer carries the metadata that is kept with its message, with the sources that it names", async () => {
  const maitred = await opened();
  const owner = await maitred.owner("ada");
  const answer = await maitred.chat.chat({ owner, message: "What concerts are there next week?" });
  const [kept] = (await maitred.sessions.messages(owner, answer.session_id, { order: "desc", limit: 1 })).data;
  expect(answer.message.metadata?.sources).not.toEqual([]);
  expect(kept).toMatchObject({ id: answer.message.id, metadata: { ...answer.message.metadata, tokens: expect.anything() } });
});

test("SHORT_TERM_ROUNDS=0 shows the model none of the rounds before", async () => {
  const sent: (readonly ModelMessage[])[] = [];
  const model: ChatModel = {
    name: "noting",
    standIn: false,
    async *stream({ messages }): AsyncGenerator<ModelEvent, void, undefined> {
      sent.push(messages);
      yield { type: "text", delta: "Very well." };
      yield { type: "end", reason: "stop", usage: { input_tokens: 1, output_tokens: 1 } };
    },
  };
  const maitred = await opened({ SHORT_TERM_ROUNDS: "0", MEM0_ENABLED: "false" }, { model });
  const owner = await maitred.owner("ada");
  const { session_id: sessionId } = await maitred.chat.chat({ owner, message: "The first word" });
  await maitred.chat.chat({ owner, sessionId, message: "The second word" });
  const second = sent.find((messages) => JSON.stringify(messages.at(-1)).includes("The second word")) ?? [];
  expect(second.filter(({ role }) => role !== "system")).toHaveLength(1);
});

test("a model of one's own may be frozen", async () => {
  const model: ChatModel = Object.freeze({
    name: "frozen",
    standIn: false,
    async *stream(): AsyncGenerator<ModelEvent, void, undefined> {
      yield { type: "text", delta: "Very well." };
      yield { type: "end", reason: "stop", usage: { input_tokens: 1, output_tokens: 1 } };
    },
  });
  const maitred = await opened({ MEM0_ENABLED: "false" }, { model });
  const answer = await maitred.chat.chat({ owner: await maitred.owner("ada"), message: "Good evening." });
  expect(answer.message.content).toBe("Very well.");
});

test("a state.db that was cut to nothing is told, one that is new is not", async () => {
  const dir = await tempDir();
  const { logger, noted } = noting("error");
  const first = await createOrchestrator(byWords({ MEMORY_STORAGE_DIR: dir }), { logger });
  await first.close();
  expect(noted).toEqual([]);
  await Promise.all(["state.db-wal", "state.db-shm"].map((name) => rm(join(dir, name), { force: true })));
  await writeFile(join(dir, "state.db"), "");
  await opened({ MEMORY_STORAGE_DIR: dir }, { logger });
  expect(noted).toEqual([[{ path: join(dir, "state.db") }, expect.stringContaining("empty")]]);
});

describe("a storage directory", () => {
  test.each(["index.db", "bookings.db", "owners/2bd806c97f0e00af.jsonl", "owners/2bd806c97f0e00af.memories.jsonl"])(
    "of an older version (%s) ends the start with what to do, and is left as it is",
    async (name) => {
      const dir = await tempDir();
      await mkdir(join(dir, "owners"));
      await writeFile(join(dir, name), "kept");
      const start = createOrchestrator(byWords({ MEMORY_STORAGE_DIR: dir }));
      await expect(start).rejects.toMatchObject({
        code: "INVALID_CONFIG",
        message: expect.stringContaining(`it holds ${name} and no state.db`),
        hint: expect.stringMatching(/another MEMORY_STORAGE_DIR.*export.*import/),
      });
      expect(await readdir(dir)).not.toContain("state.db");
      expect(await readFile(join(dir, name), "utf8")).toBe("kept");
    },
  );

  test("of this version may hold such a file", async () => {
    const dir = await tempDir();
    const first = await createOrchestrator(byWords({ MEMORY_STORAGE_DIR: dir }));
    await first.close();
    await writeFile(join(dir, "index.db"), "");
    await opened({ MEMORY_STORAGE_DIR: dir });
  });

  test("whose state.db is damaged ends the start, and says that a backup is needed", async () => {
    const dir = await tempDir();
    const first = await createOrchestrator(byWords({ MEMORY_STORAGE_DIR: dir }));
    await first.close();
    await writeFile(join(dir, "state.db"), "no database ".repeat(1_000));
    await expect(createOrchestrator(byWords({ MEMORY_STORAGE_DIR: dir }))).rejects.toMatchObject({
      code: "STORAGE_DAMAGED",
      message: expect.stringContaining(join(dir, "state.db")),
      hint: expect.stringContaining("maitred restore"),
    });
  });

  test("that can't be made is named at the start", async () => {
    const file = join(await tempDir(), "file");
    await writeFile(file, "");
    const start = createOrchestrator(byWords({ MEMORY_STORAGE_DIR: join(file, "below") }));
    await expect(start).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE", message: expect.stringContaining(join(file, "below")) });
  });
});

describe("what a library logs", () => {
  test("a misspelt variable is told with the one that it was meant for", async () => {
    const { logger, noted } = noting("warn");
    await opened({ MEM0_ENABLD: "false" }, { logger });
    expect(noted).toContainEqual([{ variable: "MEM0_ENABLD", meant: "MEM0_ENABLED" }, expect.any(String)]);
  });

  /** What is written to standard error from now on. */
  function standardError(): { readonly lines: string[]; levels(): readonly string[] } {
    const lines: string[] = [];
    const writeSync = fs.writeSync;
    const written = vi.spyOn(fs, "writeSync").mockImplementation((...args: unknown[]) => {
      if (args[0] !== 2) return writeSync(...(args as Parameters<typeof writeSync>));
      lines.push(String(args[1]));
      return Buffer.byteLength(String(args[1]));
    });
    onTestFinished(() => written.mockRestore());
    return { lines, levels: () => [...new Set(lines.map((line) => (JSON.parse(line) as { level: string }).level))].sort() };
  }

  /** Fails a turn, which is a warning beside what is told at other levels. */
  async function failingTurn(maitred: Maitred): Promise<void> {
    onTestFinished(() => maitred.close({ drainMs: 0 }));
    await expect(maitred.chat.chat({ owner: await maitred.owner("ada"), message: "Good evening." })).rejects.toThrow();
  }
  const failing = (): ChatModel => ({
    name: "failing",
    standIn: false,
    // biome-ignore lint/correctness/useYield: it fails before
    async *stream(): AsyncGenerator<ModelEvent, void, undefined> {
      throw new AppError("MODEL_UNAVAILABLE");
    },
  });
  const options = () => ({ shortTermBackend: "memory" as const, mem0Enabled: false, model: failing() });

  test("goes to standard error at LOG_LEVEL, and nowhere without it or with a blank one", async () => {
    const { lines } = standardError();
    await opened({ MEM0_ENABLD: "false" });
    await opened({ MEM0_ENABLD: "false", LOG_LEVEL: " " });
    expect(lines).toEqual([]);
    await opened({ MEM0_ENABLD: "false", LOG_LEVEL: "warn" });
    expect(lines.join("")).toContain("MEM0_ENABLED");
  });

  test("is of `logLevel` and above, as option or as a variable in `env`, the option first", { tags: [SLOW] }, async () => {
    const { lines, levels } = standardError();
    await failingTurn(await createMaitred({ ...options(), logLevel: "error", env: { LOG_LEVEL: "debug" } }));
    expect(lines).toEqual([]);
    await failingTurn(await createMaitred({ ...options(), logLevel: "warn" }));
    expect(levels()).toEqual(["warn"]);
    await failingTurn(await createMaitred({ ...options(), env: { LOG_LEVEL: "debug" } }));
    expect(levels()).toEqual(["debug", "warn"]);
  });

  test("goes to a logger of one's own from `logLevel` on, and whole without one", { tags: [SLOW] }, async () => {
    const told: string[] = [];
    const note = (level: string) => () => void told.push(level);
    const logger: Logger = { debug: note("debug"), info: note("info"), warn: note("warn"), error: note("error") };
    await failingTurn(await createMaitred({ ...options(), logger, logLevel: "silent" }));
    expect(told).toEqual([]);
    await failingTurn(await createMaitred({ ...options(), logger, logLevel: "warn" }));
    expect(new Set(told)).toEqual(new Set(["warn"]));
    await failingTurn(await createMaitred({ ...options(), logger }));
    expect(told).toContain("debug");
  });
});
