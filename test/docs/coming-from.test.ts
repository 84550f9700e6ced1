import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import * as adk from "../../src/adk.js";
import * as aiSdk from "../../src/ai-sdk.js";
import { VARIABLES } from "../../src/compose/config.js";
import * as index from "../../src/index.js";
import * as langchain from "../../src/langchain.js";
import * as openaiAgents from "../../src/openai-agents.js";
import { fakeApplication } from "../support/fake-application.js";
import { appOver } from "../support/http-client.js";

/** What docs/coming-from.md says that things are called here, exists; its snippets are run by packaging/snippets. */

const page = readFileSync(join(import.meta.dirname, "../../docs/coming-from.md"), "utf8");
/** The right-hand column of the tables and the examples: what is ours. */
const ours = page
  .split("\n")
  .map((line) => (line.startsWith("|") ? (line.split(" | ").at(1) ?? "") : line))
  .join("\n");
const all = (pattern: RegExp): string[] => [...new Set([...ours.matchAll(pattern)].map((match) => match[1] ?? ""))];
const MODULES: Readonly<Record<string, object>> = {
  maitred: index,
  "maitred/adk": adk,
  "maitred/ai-sdk": aiSdk,
  "maitred/langchain": langchain,
  "maitred/openai-agents": openaiAgents,
};

describe("routes", () => {
  let known: Record<string, object> = {};
  beforeAll(async () => {
    const document = await (await appOver(fakeApplication())).request("/openapi.json");
    known = ((await document.json()) as { paths: Record<string, object> }).paths;
  });

  test("every one is there, with its method", () => {
    const named = [...ours.matchAll(/`((?:GET|POST|PATCH|DELETE)) (\/v1\/[^`?]*)[^`]*`/g)].map(([, method = "", path = ""]) => ({
      method,
      path,
    }));
    expect(named.length).toBeGreaterThan(20);
    for (const { method, path } of named)
      expect([path, Object.keys(known[path] ?? {})]).toEqual([path, expect.arrayContaining([method.toLowerCase()])]);
  });
});

test("every method of `maitred` and of a user's handle is one", async () => {
  const maitred = await index.createOrchestrator({ SHORT_TERM_BACKEND: "memory", EMBEDDING_PROVIDER: "hashing" });
  onTestFinished(() => maitred.close({ drainMs: 0 }));
  const named = all(/\b((?:maitred|ada)\.[a-z]\w*(?:\.\w+)?)\b/gi);
  expect(named.length).toBeGreaterThan(10);
  for (const name of named) {
    const objects = { maitred, ada: maitred.for({ user: "ada" }) };
    const value = name.split(".").reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], objects);
    expect([name, typeof value]).toEqual([name, expect.stringMatching(/^(function|object)$/)]);
  }
});

test("every import is exported, and every other name of a module", () => {
  const imports = [...ours.matchAll(/import \{ ([^}]+) \} from "([^"]+)"/g)].flatMap(([, names = "", from = ""]) =>
    names.split(", ").map((name) => ({ name, from })),
  );
  const named = [...ours.matchAll(/`(\w+)` of `(maitred\/[\w-]+)`/g)].map(([, name = "", from = ""]) => ({ name, from }));
  expect(imports.length + named.length).toBeGreaterThan(8);
  for (const { name, from } of [...imports, ...named]) expect([from, name, name in (MODULES[from] ?? {})]).toEqual([from, name, true]);
});

test("every variable is one", () => {
  const named = all(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`/g);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !Object.hasOwn(VARIABLES, name))).toEqual([]);
});
