import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { importViolations, readSources } from "./import-rules.js";

describe("import rules", () => {
  test("the sources keep them", () => {
    expect(importViolations(readSources(join(import.meta.dirname, "..", "src")))).toEqual([]);
  });

  test("databases are opened in one place, tests included: those that are made elsewhere end the process when they are collected", async () => {
    const root = join(import.meta.dirname, "..");
    const files = ["src", "test", "bench"].flatMap((folder) => readSources(join(root, folder)));
    const made = files.filter(({ path, text }) => /new BetterSqlite3\(|\.iterate\(/.test(text) && !path.endsWith("import-rules.test.ts"));
    expect(made.map(({ path }) => path)).toEqual(["platform/sqlite.ts"]);
  });

  test.each([
    ["a folder that imports another", { path: "history/x.ts", text: 'import { y } from "../long-term/y.js";' }],
    ["a port that imports a folder of another name", { path: "history.ts", text: 'import type { y } from "./vectors/y.js";' }],
    ["openai outside its files", { path: "agent/react-agent.ts", text: 'import OpenAI from "openai";' }],
    ["mem0ai outside its files", { path: "long-term/reconcile.ts", text: 'const m = await import("mem0ai/oss");' }],
    ["hono outside http/", { path: "main.ts", text: 'import { Hono } from "hono";' }],
    ["compose imported by a part", { path: "lifecycle.ts", text: 'import { compose } from "./compose.js";' }],
    ["the environment read outside config.ts", { path: "cli.ts", text: "const url = process.env.QDRANT_URL;" }],
  ])("report %s", (_what, planted) => {
    expect(importViolations([planted])).toHaveLength(1);
  });
});
