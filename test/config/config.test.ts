import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openCategories } from "../../src/compose/backends.js";
import { parseConfig, readEnvironment } from "../../src/config.js";
import { AppError } from "../../src/errors.js";

function problemsOf(env: Record<string, string>): string[] {
  try {
    parseConfig(env);
    return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect(error.code).toBe("INVALID_CONFIG");
    return error.errors.map((problem) => problem.pointer);
  }
}

test("nothing configured means: no key, no server, loopback", () => {
  expect(parseConfig({})).toMatchObject({
    HOST: "127.0.0.1",
    PORT: 3000,
    SHORT_TERM_BACKEND: "file",
    SHORT_TERM_ROUNDS: 10,
    MEM0_ENABLED: true,
    MEM0_PROVIDER: "local",
    HISTORY_BACKEND: "local",
    LLM_PROVIDER: "offline",
    EMBEDDING_PROVIDER: "hashing",
    RATE_LIMIT_PER_MINUTE: 0,
    CORS_ORIGINS: [],
  });
});

test("a key or a base URL brings the model and the embedder, a Qdrant URL the stores", () => {
  const config = parseConfig({ OPENAI_BASE_URL: "http://127.0.0.1:11434/v1", QDRANT_URL: "http://127.0.0.1:6333", AUTH_MODE: "header" });
  expect(config).toMatchObject({
    LLM_PROVIDER: "openai",
    EMBEDDING_PROVIDER: "openai",
    MEM0_PROVIDER: "qdrant",
    HISTORY_BACKEND: "qdrant",
    RATE_LIMIT_PER_MINUTE: 120,
  });
  expect(parseConfig({ OPENAI_API_KEY: "k", EMBEDDING_PROVIDER: "hashing" })).toMatchObject({
    LLM_PROVIDER: "openai",
    EMBEDDING_PROVIDER: "hashing",
  });
});

test("every problem is reported, by the variable's name, at once", () => {
  expect(
    problemsOf({
      PORT: "http",
      MEM0_ENABLED: "yes",
      SHORT_TERM_BACKEND: "postgres",
      MEMORY_MIN_CONFIDENCE: "2",
      QDRANT_URL: "qdrant:6333",
    }),
  ).toEqual(["/PORT", "/SHORT_TERM_BACKEND", "/MEM0_ENABLED", "/QDRANT_URL", "/MEMORY_MIN_CONFIDENCE"]);
});

test.each([
  [{ MEM0_PROVIDER: "qdrant" }, "/QDRANT_URL"],
  [{ LLM_PROVIDER: "openai" }, "/OPENAI_API_KEY"],
  [{ MEM0_INFER: "true" }, "/MEM0_INFER"],
  [{ MEM0_INFER: "true", OPENAI_API_KEY: "k", LLM_PROVIDER: "offline" }, "/MEM0_INFER"],
  [{ AUTH_MODE: "api-key" }, "/API_KEYS_FILE"],
  [{ AUTH_MODE: "jwt" }, "/JWT_SECRET"],
])("what %o needs beside it is named", (env, pointer) => {
  expect(problemsOf(env)).toEqual([pointer]);
});

test("the process environment comes before .env.local, which comes before .env", async () => {
  const dir = await mkdtemp(join(tmpdir(), "maitred-config-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  await writeFile(join(dir, ".env"), "PORT=1\nHOST=a\nLOG_LEVEL=debug\n");
  await writeFile(join(dir, ".env.local"), "PORT=2\nHOST=b\n");
  expect(readEnvironment(dir, { PORT: "3", HOST: "" })).toMatchObject({ PORT: "3", HOST: "b", LOG_LEVEL: "debug" });
});

test("categories of one's own replace the concierge's; a file that holds something else is refused by name", async () => {
  const dir = await mkdtemp(join(tmpdir(), "maitred-categories-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  const path = join(dir, "categories.json");
  await writeFile(
    path,
    JSON.stringify([
      { name: "cabin", description: "decks and cabins" },
      { name: "other", description: "all else" },
    ]),
  );
  expect((await openCategories(path)).map(({ name }) => name)).toEqual(["cabin", "other"]);
  expect((await openCategories(undefined)).map(({ name }) => name)).toContain("dietary");
  await writeFile(path, JSON.stringify([{ name: "cabin" }]));
  await expect(openCategories(path)).rejects.toMatchObject({
    code: "INVALID_CONFIG",
    message: expect.stringContaining("MEMORY_CATEGORIES_FILE"),
  });
  await expect(openCategories(join(dir, "none.json"))).rejects.toMatchObject({ code: "INVALID_CONFIG" });
});
