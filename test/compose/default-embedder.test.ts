import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { startupBlock } from "../../src/cli/startup-block.js";
import { createOrchestrator, type Maitred } from "../../src/index.js";
import { silentLogger } from "../../src/platform/logger.js";
import { SLOW } from "../support/projects.js";

// A busy machine takes its time over a thread from the sources.
vi.setConfig({ testTimeout: 120_000 });

async function tempDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "maitred-default-embedder-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  return dir;
}

async function opened(dir: string, variables: Record<string, string> = {}, parts: { reembed?: boolean; warned?: string[] } = {}) {
  const { warned = [], ...rest } = parts;
  const logger = { ...silentLogger, warn: (_fields: object, text: string) => void warned.push(text) };
  const maitred = await createOrchestrator({ MEMORY_STORAGE_DIR: dir, RECALL_DEADLINE_MS: "20000", ...variables }, { ...rest, logger });
  onTestFinished(() => maitred.close({ drainMs: 0 }));
  return maitred;
}

/** The texts that a turn is given for their likeness to what is said. */
async function likened(maitred: Maitred, message: string): Promise<string[]> {
  const { memory } = await maitred.for({ user: "ada" }).chat(message);
  expect(memory.status).not.toBe("timeout");
  return memory.recalled.filter(({ score }) => score !== null).map(({ text }) => text);
}

const BY_WORDS = { EMBEDDING_PROVIDER: "hashing" };

test("[understands-without-a-key] nothing configured: a turn is given what it means, and nothing where it asks for nothing", async () => {
  const maitred = await opened(await tempDir());
  const ada = maitred.for({ user: "ada" });
  expect(maitred.info.embedder).toMatchObject({ id: "minilm-v1-512", lexical: false, remote: false, problem: null });
  for (const text of ["Travels with a small dog", "Prefers jazz concerts", "Has dinner at eight"]) await ada.memories.add(text);
  expect((await likened(maitred, "Is there somewhere my puppy may sleep?"))[0]).toBe("Travels with a small dog");
  expect(await likened(maitred, "zzzz")).toEqual([]);
  expect(await likened(maitred, "what time is it")).toEqual([]);
  // What shares a word is found by it, however far its meaning is.
  expect(await likened(maitred, "Kowalczyk jazz zzzz")).toContain("Prefers jazz concerts");
});

test("[embedder-changes-safely] a store that was made by words opens and goes on with them, says what to run, and then means what it says", {
  tags: [SLOW],
}, async () => {
  const dir = await tempDir();
  const before = await opened(dir, BY_WORDS);
  await before.for({ user: "ada" }).memories.add("Travels with a small dog");
  await before.close();

  const warned: string[] = [];
  const after = await opened(dir, {}, { warned });
  expect(after.info.embedder).toMatchObject({ id: "hashing-v1-lexical-768", afterReindex: "minilm" });
  expect(warned.join()).toContain("`maitred reindex`");
  expect(startupBlock(after.info, "http://127.0.0.1:3000/")).toContain("`maitred reindex` goes over to minilm");
  expect((await after.readiness()).parts.embedder).toMatchObject({ status: "ok", detail: expect.stringContaining("maitred reindex") });
  expect(await after.for({ user: "ada" }).memories.search("small dogs")).toHaveLength(1);
  await after.close();

  const fitted = await opened(dir, {}, { reembed: true });
  expect(await likened(fitted, "Is there somewhere my puppy may sleep?")).toEqual(["Travels with a small dog"]);
  await fitted.close();
  const again = await opened(dir);
  expect(again.info.embedder).toMatchObject({ id: "minilm-v1-512" });
  expect(again.info.embedder).not.toHaveProperty("afterReindex");
});

test("[embedder-changes-safely] a store that was made by words and holds nothing goes over by itself; one that names its embedder keeps it", async () => {
  const dir = await tempDir();
  await (await opened(dir, BY_WORDS)).close();
  const after = await opened(dir);
  expect(after.info.embedder.id).toBe("minilm-v1-512");
  await after.for({ user: "ada" }).memories.add("Travels with a small dog");
  await after.close();
  await expect(opened(dir, BY_WORDS)).rejects.toMatchObject({ code: "REINDEX_REQUIRED" });
});

test("[embedder-changes-safely] a store that was made by the model is not read by the table, and is after a reindex; and back", async () => {
  const dir = await tempDir();
  const made = await opened(dir, { EMBEDDING_PROVIDER: "minilm" });
  await made.for({ user: "ada" }).memories.add("Travels with a small dog");
  await made.close();
  const TABLE = { EMBEDDING_PROVIDER: "static" };
  await expect(opened(dir, TABLE)).rejects.toMatchObject({ code: "REINDEX_REQUIRED" });
  const fitted = await opened(dir, TABLE, { reembed: true });
  expect(fitted.info.embedder).toMatchObject({ id: "static-v1-384", lexical: false, remote: false, problem: null });
  expect(startupBlock(fitted.info, "http://127.0.0.1:3000/")).toContain("static-v1-384");
  expect((await fitted.readiness()).parts.embedder).toMatchObject({ status: "ok", detail: expect.stringContaining("static-v1-384") });
  expect(await likened(fitted, "Is there somewhere my puppy may sleep?")).toEqual(["Travels with a small dog"]);
  expect(await likened(fitted, "zzzz")).toEqual([]);
  expect(await likened(fitted, "what time is it")).toEqual([]);
  await fitted.close();
  await expect(opened(dir)).rejects.toMatchObject({ code: "REINDEX_REQUIRED" });
});
