import { execFile } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type InstalledPackage, installPackage, PACKED_WITHIN_MS } from "./install.js";

/** What an installation of the core weighs, and what it says where a package is wanted that it does without. */

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "..", "..");
const PATH = process.env.PATH;

const names = z.record(z.string(), z.string()).default({});
const lockedPackage = z.looseObject({
  dependencies: names,
  optionalDependencies: names,
  peerDependencies: names,
  peerDependenciesMeta: z.record(z.string(), z.object({ optional: z.boolean().default(false) })).default({}),
});
const locked = z
  .object({ packages: z.record(z.string(), lockedPackage) })
  .parse(JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"))).packages;

/** The folders that `npm install --omit=dev` of the package makes beside it: what it asks for, and what that asks for. */
function installedWith(from = "", found = new Set<string>()): ReadonlySet<string> {
  const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = locked[from] ?? lockedPackage.parse({});
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true);
  for (const name of [...Object.keys(dependencies), ...Object.keys(optionalDependencies), ...peers]) {
    const folder = folderOf(name, from);
    if (folder === undefined || found.has(folder)) continue;
    found.add(folder);
    installedWith(folder, found);
  }
  return found;
}

/** Where Node.js finds a package from a folder. Undefined for one of another platform. */
function folderOf(name: string, from: string): string | undefined {
  const places = [from];
  for (let at = from.lastIndexOf("/node_modules/"); at !== -1; at = from.lastIndexOf("/node_modules/", at - 1))
    places.push(from.slice(0, at));
  return [...places, ""].map((place) => join(place, "node_modules", name)).find((folder) => folder in locked);
}

/** Without packages inside, and without what a compiler leaves beside what it makes. */
function bytesOf(folder: string): number {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => name !== "node_modules" && name !== "obj");
  return entries.reduce((sum, entry) => {
    const path = join(folder, entry.name);
    return sum + (entry.isDirectory() ? bytesOf(path) : statSync(path).size);
  }, 0);
}

describe("an installation of the core", () => {
  let alone: InstalledPackage;
  beforeAll(async () => {
    alone = await installPackage({ alone: true });
  }, PACKED_WITHIN_MS);
  afterAll(() => alone.remove());

  test("is at most 150 packages, and at most 150 MB", () => {
    const folders = [...installedWith()];
    expect(folders.length).toBeGreaterThan(100);
    expect(folders.length + 1).toBeLessThanOrEqual(150);
    const bytes = folders.reduce((sum, folder) => sum + bytesOf(join(ROOT, folder)), bytesOf(alone.home));
    expect(bytes / 1e6).toBeLessThan(150);
  });

  test("has no package of a store, a collector, a provider or a framework", () => {
    const optional = Object.keys(locked[""]?.peerDependencies ?? {});
    expect(optional).toContain("pg");
    expect(optional.filter((name) => locked[""]?.peerDependenciesMeta[name]?.optional !== true)).toEqual([]);
    expect(optional.filter((name) => installedWith().has(`node_modules/${name}`))).toEqual([]);
  });

  test("an import of it loads what its exports need, and neither the stores nor the API", async () => {
    const { loaded, packages } = await loadedBy("maitred");
    expect(packages).toEqual(["@orama/stemmers", "@orama/stopwords", "lru-cache", "uuid", "zod"]);
    expect(loaded.filter((url) => /\/maitred\/dist\/(http|mcp|cli|state\/engines)\//.test(url))).toEqual([]);
  });

  test("what composes a server loads no SDK of a provider before a setting asks for it", async () => {
    const { packages } = await loadedBy(join(alone.home, "dist", "compose", "compose.js"));
    expect(packages).toContain("better-sqlite3");
    expect(packages.filter((name) => /openai|^ai$|^@ai-sdk\//.test(name))).toEqual([]);
  });

  /** Files that an import takes along, and packages that they are of beside the core. */
  async function loadedBy(module: string): Promise<{ readonly loaded: readonly string[]; readonly packages: readonly string[] }> {
    const hook = `export async function load(url, context, next) { process._rawDebug(url); return next(url, context); }`;
    const code = `import { register } from "node:module";
      register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hook)}`)});
      await import(${JSON.stringify(module)});`;
    await writeFile(join(alone.project, "imported.mjs"), code);
    const { stderr } = await run(process.execPath, ["imported.mjs"], { cwd: alone.project, env: { PATH } });
    const loaded = stderr.split("\n").filter((url) => url.startsWith("file:"));
    const packages = loaded.map((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]).filter((name) => name !== "maitred");
    return { loaded, packages: [...new Set(packages)].filter((name) => name !== undefined).sort() };
  }

  const configured = { OPENAI_API_KEY: "none", OPENAI_BASE_URL: "http://127.0.0.1:9/v1", EMBEDDING_PROVIDER: "hashing" };
  const WITHOUT_A_KEY = "@maitred/offline @maitred/minilm`, which is what runs without a key, or set OPENAI_API_KEY.";
  interface Wanting {
    readonly setting: string;
    readonly name: string;
    /** Beside the setting, where that is not `NAME=value`. */
    readonly variables?: Readonly<Record<string, string>>;
    /** What follows `npm install`. Default: the package. */
    readonly command?: string;
  }
  const WANTING: readonly Wanting[] = [
    { setting: "DATABASE_URL", name: "pg", variables: { DATABASE_URL: "postgres://127.0.0.1:9/none" } },
    { setting: "REDIS_URL", name: "ioredis", variables: { REDIS_URL: "redis://127.0.0.1:9" } },
    { setting: "FIRESTORE_PROJECT", name: "@google-cloud/firestore", variables: { FIRESTORE_PROJECT: "none" } },
    { setting: "COSMOS_ENDPOINT", name: "@azure/cosmos", variables: { COSMOS_ENDPOINT: "https://127.0.0.1:9", COSMOS_KEY: "none" } },
    { setting: "QDRANT_URL", name: "@qdrant/js-client-rest", variables: { QDRANT_URL: "http://127.0.0.1:9" } },
    { setting: "CHROMA_URL", name: "chromadb", variables: { MEM0_PROVIDER: "chroma", CHROMA_URL: "http://127.0.0.1:9" } },
    { setting: "ENCRYPTION_KMS_KEY", name: "@aws-sdk/client-kms", variables: { ENCRYPTION_KMS_KEY: "alias/maitred" } },
    {
      setting: "OTEL_EXPORTER_OTLP_ENDPOINT",
      name: "@opentelemetry/sdk-trace-node",
      variables: { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" },
      command: "@opentelemetry/exporter-trace-otlp-http @opentelemetry/resources @opentelemetry/sdk-trace-node`.",
    },
    {
      setting: "EMBEDDING_PROVIDER=transformers",
      name: "@huggingface/transformers",
      variables: { MEMORY_EMBEDDING_MODEL: "any" },
    },
    { setting: "EMBEDDING_PROVIDER=minilm", name: "@maitred/minilm", command: WITHOUT_A_KEY },
    { setting: "LLM_PROVIDER=offline", name: "@maitred/offline", command: WITHOUT_A_KEY },
    {
      setting: "LLM_PROVIDER=mistral",
      name: "@ai-sdk/mistral",
      variables: { LLM_MODEL: "m" },
      command: "@ai-sdk/mistral` (with Node 20: `@ai-sdk/mistral@3`), or set another LLM_PROVIDER.",
    },
  ];
  test.each(WANTING)("a start with $setting ends with what to install, and an exit code of its own", async (wanting) => {
    const { setting, name, variables = {}, command = `${name}\`.` } = wanting;
    const [variable = "", value] = setting.split("=");
    const chosen = value === undefined ? variables : { [variable]: value, ...variables };
    const env = { PATH, PORT: "0", MEMORY_STORAGE_DIR: join(alone.project, "data"), ...configured, ...chosen };
    const started = await run(process.execPath, [join(alone.home, "dist", "main.js")], { cwd: alone.project, env }).catch(
      (error: { code: number; stderr: string }) => error,
    );
    const sentence = `${setting} needs the package ${name}, which can't be loaded.`;
    expect(started).toMatchObject({ code: 78, stderr: `Maitred can't start.\n${sentence}\nRun \`npm install ${command}\n` });
  });

  test("without a tokenizer the tokens of OpenAI's models are estimated, which the log says", async () => {
    const code = `import { createMaitred } from "maitred";
      const say = (fields, message) => { if (message.includes("gpt-tokenizer")) console.log(message); };
      const logger = { debug: say, info: say, warn: say, error: say };
      const maitred = await createMaitred({ shortTermBackend: "memory", logger, env: ${JSON.stringify({ ...configured, OPENAI_MODEL: "gpt-4o" })} });
      await maitred.close();`;
    await writeFile(join(alone.project, "estimated.mjs"), code);
    const { stdout } = await run(process.execPath, ["estimated.mjs"], { cwd: alone.project, env: { PATH } });
    expect(stdout).toBe(
      "An exact count of the tokens of gpt-4o needs the package gpt-tokenizer, which can't be loaded. Run `npm install gpt-tokenizer`. " +
        "Until then they are estimated, from above.\n",
    );
  });

  test("a bundler takes what is not installed for optional", async () => {
    // Mem0 imports its own peers without a way out.
    await writeFile(join(alone.project, "bundled.ts"), 'import { createMaitred } from "maitred";\nconsole.log(typeof createMaitred);\n');
    const esbuild = join(ROOT, "node_modules", ".bin", "esbuild");
    const flags = [
      "bundled.ts",
      "--bundle",
      "--platform=node",
      "--format=esm",
      "--external:mem0ai",
      "--outfile=bundled.mjs",
      "--log-level=error",
    ];
    expect(await run(esbuild, flags, { cwd: alone.project })).toEqual({ stdout: "", stderr: "" });
  });
});
