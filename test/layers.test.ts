import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { cruise, type ICruiseOptions, type ICruiseResult, type IFlattenedRuleSet } from "dependency-cruiser";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "..");
const { forbidden, options } = createRequire(import.meta.url)("../.dependency-cruiser.cjs") as {
  forbidden: (IFlattenedRuleSet["forbidden"] & { name: string }[]) | undefined;
  options: ICruiseOptions;
};

const SOURCES = ["src", "packages/*/src"];

/** Who breaks which rule: the importing file, what it imports, and the rule. */
const PLANTED: readonly (readonly [rule: string, from: string, to: string])[] = [
  ["no-circles", "platform/a.ts", "platform/b.ts"],
  ["layers-compose", "compose/a.ts", "http/b.ts"],
  ["layers-turn-after-turn-memories-sessions-history-privacy-import-operations-events", "turn/a.ts", "compose/b.ts"],
  ["layers-jobs", "jobs/a.ts", "after-turn/b.ts"],
  ["layers-agent", "agent/a.ts", "turn/b.ts"],
  ["layers-vectors-embedding-telemetry-webhooks", "vectors/mem0/a.ts", "memories/b.ts"],
  ["layers-state", "state/sessions/a.ts", "vectors/mem0/b.ts"],
  ["layers-gate", "gate/a.ts", "telemetry/b.ts"],
  ["layers-languages", "languages/a.ts", "state/b.ts"],
  ["layers-ports", "ports/a.ts", "state/sessions/b.ts"],
  ["layers-domain", "domain/a.ts", "ports/b.ts"],
  ["layers-platform", "platform/a.ts", "domain/b.ts"],
  ["front-files-http", "http/a.ts", "cli/b.ts"],
  ["front-files-turn", "turn/a.ts", "memories/b.ts"],
  ["adapters-are-composed", "memories/a.ts", "vectors/mem0/b.ts"],
  ["adapters-stand-alone", "vectors/mem0/a.ts", "vectors/qdrant/b.ts"],
  ["journals-by-state", "state/journal/a.ts", "state/jsonl/b.ts"],
  ["state-by-ports", "turn/a.ts", "state/b.ts"],
  ["stores-of-state-are-composed", "gate/a.ts", "state/sessions/b.ts"],
  ["engines-are-composed", "operations/a.ts", "state/engines/redis/b.ts"],
  ["engines-know-the-port", "state/engines/redis/a.ts", "state/sessions/b.ts"],
  ["packages-are-loaded", "compose/a.ts", "@maitred/minilm"],
  ["packages-are-composed", "turn/a.ts", "@maitred/minilm"],
  ["packages-stand-alone", "../packages/minilm/src/a.ts", "platform/b.ts"],
  ["pages-in-the-browser", "studio/a.ts", "domain/b.ts"],
  ["pages-are-bundled", "http/a.ts", "studio/b.tsx"],
  ["preact-in-pages", "http/a.ts", "preact"],
  ["openai-in-its-files", "agent/a.ts", "openai"],
  ["ai-sdk-in-its-files", "agent/a.ts", "ai"],
  ["mem0-in-its-files", "vectors/mem0/a.ts", "mem0ai"],
  ["hono-in-http", "turn/a.ts", "hono"],
  ["mcp-in-its-files", "http/a.ts", "@modelcontextprotocol/server"],
  ["redis-in-its-files", "state/jsonl/a.ts", "ioredis"],
  ["postgres-in-its-files", "state/jsonl/a.ts", "pg"],
  ["vitest-in-testing", "state/jsonl/a.ts", "vitest"],
  ["opentelemetry-in-telemetry", "turn/a.ts", "@opentelemetry/api"],
  ["prometheus-in-telemetry", "turn/a.ts", "prom-client"],
  ["qdrant-in-its-files", "vectors/mem0/a.ts", "@qdrant/js-client-rest"],
];

async function violationsIn(dir: string): Promise<readonly string[]> {
  const { output } = await cruise(SOURCES, { ...options, baseDir: dir, ruleSet: { forbidden: forbidden ?? [] }, validate: true });
  return (output as ICruiseResult).summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`);
}

describe("the layers of ARCHITECTURE.md", () => {
  test("hold in src", async () => {
    expect(await violationsIn(ROOT)).toEqual([]);
  }, 60_000);

  test("each rule has a planted violation below", () => {
    expect([...new Set(PLANTED.map(([rule]) => rule))].sort()).toEqual((forbidden ?? []).map(({ name }) => name).sort());
  });

  describe("a planted violation turns its rule red", () => {
    let dir: string;
    beforeAll(() => {
      dir = mkdtempSync(join(tmpdir(), "maitred-layers-"));
    });
    afterAll(() => rmSync(dir, { recursive: true, force: true }));

    test.each(PLANTED)("%s", async (rule, from, to) => {
      const tree = mkdtempSync(join(dir, "tree-"));
      const write = (path: string, text: string) => {
        mkdirSync(dirname(join(tree, path)), { recursive: true });
        writeFileSync(join(tree, path), text);
      };
      for (const root of ["src", "packages"]) mkdirSync(join(tree, root));
      const local = /\.tsx?$/.test(to);
      const specifier = local
        ? relative(dirname(join("src", from)), join("src", to))
            .replace(/^(?!\.)/, "./")
            .replace(/\.tsx?$/, ".js")
        : to;
      write(join("src", from), `import { b } from "${specifier}";\nexport const a = b;\n`);
      const back = rule === "no-circles" ? `import { a } from "./a.js";\nexport const c = a;\n` : "";
      if (local) write(join("src", to), `${back}export const b = 1;\n`);
      else write(join("node_modules", to, "package.json"), JSON.stringify({ name: to, version: "1.0.0", main: "index.js" }));
      if (!local) write(join("node_modules", to, "index.js"), "exports.b = 1;\n");
      write("package.json", JSON.stringify({ name: "planted", type: "module", dependencies: local ? {} : { [to]: "1.0.0" } }));
      expect((await violationsIn(tree)).map((line) => line.split(":")[0])).toContain(rule);
    });
  });
});
