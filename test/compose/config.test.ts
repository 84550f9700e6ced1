import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { concierge } from "@maitred/concierge";
import { expect, onTestFinished, test } from "vitest";
import { openCategories } from "../../src/compose/backends.js";
import { parseConfig, VARIABLES } from "../../src/compose/config.js";
import { misspeltVariables, readEnvironment } from "../../src/compose/environment.js";
import { AppError } from "../../src/platform/errors.js";
import { namesRead } from "../support/names-read.js";

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
    EMBEDDING_PROVIDER: "minilm",
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

test("an embedder may have an address and a key of its own; the model's key goes to the model's origin alone", () => {
  const embedding = (env: Record<string, string>) => {
    const { EMBEDDING_PROVIDER, EMBEDDING_BASE_URL, EMBEDDING_API_KEY } = parseConfig(env);
    return [EMBEDDING_PROVIDER, EMBEDDING_BASE_URL, EMBEDDING_API_KEY];
  };
  const model = { OPENAI_BASE_URL: "https://models.example/v1", OPENAI_API_KEY: "model" };
  expect(embedding(model)).toEqual(["openai", "https://models.example/v1", "model"]);
  expect(embedding({ ...model, EMBEDDING_API_KEY: "own" })).toEqual(["openai", "https://models.example/v1", "own"]);
  expect(embedding({ ...model, EMBEDDING_BASE_URL: "https://models.example/embed/v1" })[2]).toBe("model");
  expect(embedding({ ...model, EMBEDDING_BASE_URL: "http://127.0.0.1:11434/v1" })).toEqual([
    "openai",
    "http://127.0.0.1:11434/v1",
    undefined,
  ]);
  for (const url of ["http://models.example/v1", "https://models.example:8443/v1"])
    expect(embedding({ ...model, EMBEDDING_BASE_URL: url })[2], url).toBeUndefined();
  const azure = { ...model, OPENAI_HEADERS: '{"api-key":"model"}', OPENAI_QUERY: '{"api-version":"v"}' };
  const sent = (env: Record<string, string>) => {
    const { EMBEDDING_HEADERS: headers, EMBEDDING_QUERY: query } = parseConfig(env);
    return { headers, query };
  };
  expect(sent(azure)).toEqual({ headers: { "api-key": "model" }, query: { "api-version": "v" } });
  expect(sent({ ...azure, EMBEDDING_HEADERS: '{"api-key":"own"}' }).headers).toEqual({ "api-key": "own" });
  expect(sent({ ...azure, EMBEDDING_BASE_URL: "http://127.0.0.1:11434/v1" })).toEqual({ headers: undefined, query: undefined });
  expect(embedding({ EMBEDDING_BASE_URL: "http://127.0.0.1:11434/v1" })[0]).toBe("openai");
  expect(parseConfig({ EMBEDDING_BASE_URL: "http://127.0.0.1:11434/v1" }).LLM_PROVIDER).toBe("offline");
  expect(problemsOf({ EMBEDDING_PROVIDER: "openai" })).toEqual(["/EMBEDDING_API_KEY"]);
});

test("origins are those that a browser can send; another is refused, as none would ever match it", () => {
  const all = "https://shop.example, http://localhost:5173,http://[::1]:8080,capacitor://localhost,";
  expect(parseConfig({ CORS_ORIGINS: all }).CORS_ORIGINS).toEqual([
    "https://shop.example",
    "http://localhost:5173",
    "http://[::1]:8080",
    "capacitor://localhost",
  ]);
  const wrong = ["foo", "*", "null", "shop.example", "https://*.example", "https://shop.example/", "https://Shop.example", "https://a:443"];
  for (const origin of wrong) {
    const read = () => parseConfig({ CORS_ORIGINS: `https://shop.example,${origin}` });
    expect(read).toThrow(`CORS_ORIGINS: "${origin}" is no origin; one is a scheme, a host and perhaps a port`);
  }
});

test("recall waits longer for a remote embedder, unless it is told how long", () => {
  expect(parseConfig({}).RECALL_DEADLINE_MS).toBe(150);
  expect(parseConfig({ OPENAI_API_KEY: "k" }).RECALL_DEADLINE_MS).toBe(800);
  expect(parseConfig({ OPENAI_API_KEY: "k", EMBEDDING_PROVIDER: "hashing" }).RECALL_DEADLINE_MS).toBe(150);
  expect(parseConfig({ OPENAI_API_KEY: "k", RECALL_DEADLINE_MS: "300" }).RECALL_DEADLINE_MS).toBe(300);
});

test("a prefix of `none` takes a model's away", () => {
  expect(parseConfig({ EMBEDDING_QUERY_PREFIX: "none", EMBEDDING_DOCUMENT_PREFIX: "doc: " })).toMatchObject({
    EMBEDDING_QUERY_PREFIX: "",
    EMBEDDING_DOCUMENT_PREFIX: "doc: ",
  });
});

test("every problem is reported, by the variable's name, at once", () => {
  expect(
    problemsOf({
      PORT: "http",
      MEM0_ENABLED: "yes",
      SHORT_TERM_BACKEND: "mongo",
      MEMORY_MIN_CONFIDENCE: "2",
      QDRANT_URL: "qdrant:6333",
    }),
  ).toEqual(["/PORT", "/SHORT_TERM_BACKEND", "/MEM0_ENABLED", "/QDRANT_URL", "/MEMORY_MIN_CONFIDENCE"]);
});

test.each([
  [{ LLM_PROVIDER: "openai" }, "/OPENAI_API_KEY"],
  [{ MEM0_INFER: "true" }, "/MEM0_INFER"],
  [{ MEM0_INFER: "true", OPENAI_API_KEY: "k", LLM_PROVIDER: "offline" }, "/MEM0_INFER"],
  [{ SHORT_TERM_BACKEND: "postgres" }, "/DATABASE_URL"],
  [{ SHORT_TERM_BACKEND: "redis" }, "/REDIS_URL"],
  [{ AUTH_MODE: "api-key" }, "/API_KEYS_FILE"],
  [{ AUTH_MODE: "jwt" }, "/JWT_SECRET"],
])("what %o needs beside it is named", (env, pointer) => {
  expect(problemsOf(env)).toEqual([pointer]);
});

test("a Qdrant that is chosen without an address is the one on this machine", () => {
  expect(parseConfig({ MEM0_PROVIDER: "qdrant" }).QDRANT_URL).toBe("http://localhost:6333");
  expect(parseConfig({ HISTORY_BACKEND: "qdrant" })).toMatchObject({ MEM0_PROVIDER: "local", QDRANT_URL: "http://localhost:6333" });
  expect(parseConfig({}).QDRANT_URL).toBeUndefined();
  const postgres = { MEM0_PROVIDER: "pgvector", DATABASE_URL: "postgres://127.0.0.1/maitred" };
  expect(parseConfig(postgres)).toMatchObject({ SHORT_TERM_BACKEND: "postgres", MEM0_PROVIDER: "pgvector", HISTORY_BACKEND: "pgvector" });
  expect(() => parseConfig({ MEM0_PROVIDER: "chroma" })).toThrow(/CHROMA_URL: needed by `chroma`/);
  expect(() => parseConfig({ HISTORY_BACKEND: "pgvector" })).toThrow(/DATABASE_URL: needed by `pgvector`/);
});

test("the window may hold from no round to a thousand", () => {
  expect(["0", "1000"].map((rounds) => parseConfig({ SHORT_TERM_ROUNDS: rounds }).SHORT_TERM_ROUNDS)).toEqual([0, 1000]);
  expect(problemsOf({ SHORT_TERM_ROUNDS: "1001" })).toEqual(["/SHORT_TERM_ROUNDS"]);
});

test("a variable that is misspelt is told with the one that was meant; others' variables are left alone", () => {
  const meant = (...names: string[]) => misspeltVariables(Object.fromEntries(names.map((name) => [name, "x"])));
  expect(meant("QDRNAT_URL", "OPENAI_APIKEY", "RECALL_DEADLINE")).toEqual([
    { name: "QDRNAT_URL", meant: "QDRANT_URL" },
    { name: "OPENAI_APIKEY", meant: "OPENAI_API_KEY" },
  ]);
  expect(meant("PATH", "HOSTNAME", "PORT", "DATABASE_URL_UNPOOLED", "ANTHROPIC_API_KEY", "OPENAI_ORG_ID", "npm_config_cache")).toEqual([]);
});

/** Where variables are described and parsed: what is named there only is read by nobody. */
const SCHEMA = /^(compose\/(config|[a-z-]*variables?)|library\/settings)\.ts$/;

test("every variable of the table is read by code beside its schema", async () => {
  const dir = join(import.meta.dirname, "../../src");
  const files = (await readdir(dir, { recursive: true })).map((name) => name.replaceAll("\\", "/"));
  const code = files.filter((name) => name.endsWith(".ts") && !SCHEMA.test(name));
  const read = new Set<string>();
  for (const name of code) for (const each of namesRead(await readFile(join(dir, name), "utf8"))) read.add(each);
  expect(Object.keys(VARIABLES).filter((name) => !read.has(name))).toEqual([]);
});

test("a variable that is only spoken of, typed or made is not read", () => {
  const spokenOf = 'const a = "NAME"; // config.NAME\n/** {@link NAME} */ type A = Pick<B, "NAME">; interface C { NAME?: string }';
  expect(namesRead(`${spokenOf} const d = { NAME: 1 }; const e = \`NAME\`;`)).not.toContain("NAME");
  for (const read of [
    "config.NAME",
    'config["NAME"]',
    "const { NAME } = c",
    "const { NAME: name } = c",
    "({ NAME = 1 }) => NAME",
    "const a = (b as C).NAME",
  ])
    expect([read, namesRead(`${read};`).has("NAME")]).toEqual([read, true]);
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
  const names = async (...given: Parameters<typeof openCategories>) => (await openCategories(...given)).map(({ name }) => name);
  expect(await names(path, concierge)).toEqual(["cabin", "other"]);
  expect(await names(undefined, concierge)).toContain("seating");
  expect(await names(undefined, {})).toEqual(expect.arrayContaining(["preference", "dietary", "other"]));
  expect(await names(undefined, {})).not.toContain("seating");
  await writeFile(path, JSON.stringify([{ name: "cabin" }]));
  await expect(openCategories(path, {})).rejects.toMatchObject({
    code: "INVALID_CONFIG",
    message: expect.stringContaining("MEMORY_CATEGORIES_FILE"),
  });
  await expect(openCategories(join(dir, "none.json"), {})).rejects.toMatchObject({ code: "INVALID_CONFIG" });
});
