import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type InstalledPackage, installPackage, PACKED_WITHIN_MS } from "./install.js";

const run = promisify(execFile);
let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installPackage();
}, PACKED_WITHIN_MS);
afterAll(() => installed.remove());

/** The modules of the project that a declaration file names: `import`, `export … from`, `import("…")`, `/// <reference types>`. */
function namedIn(declarations: string): string[] {
  const named = declarations.matchAll(/(?:from\s+|import\(\s*|import\s+|reference types=)["']([^"']+)["']/g);
  return [...named].map((match) => match[1] ?? "");
}

/** What is reached from a declaration file: its files, and the packages that they name. */
async function reachableFrom(entry: string): Promise<{ files: string[]; packages: string[] }> {
  const files = new Set<string>();
  const packages = new Set<string>();
  const visit = async (file: string): Promise<void> => {
    if (files.has(file)) return;
    files.add(file);
    for (const name of namedIn(await readFile(file, "utf8"))) {
      if (name.startsWith(".")) await visit(resolve(dirname(file), name.replace(/\.js$/, ".d.ts")));
      else packages.add(name);
    }
  };
  await visit(entry);
  return { files: [...files], packages: [...packages].sort() };
}

/** An engine in a map, by somebody who has the package alone. */
const STRANGERS_STORE = `
import { expect, test } from "vitest";
import { ScriptedModel, stateEngineContract } from "maitred/testing";
import { MapEngine } from "./map-engine.ts";

class MyEngine extends MapEngine {
  async erase(partition) {
    const entries = await super.erase(partition);
    return process.env.COUNTS_WRONG ? 1 : entries;
  }
}

stateEngineContract("mine", async () => ({ engine: new MyEngine(), dispose: async () => {} }), {
  supports: { shared: "a map is one process's", durable: "a map ends with its process" },
});

test("the scripted model answers as its script says, and no more", async () => {
  const model = new ScriptedModel([{ text: "Good evening." }]);
  const ask = async () => {
    const events = [];
    for await (const event of model.stream({ messages: [] }, { signal: new AbortController().signal })) events.push(event.type);
    return events;
  };
  expect(await ask()).toEqual(["text", "end"]);
  model.assertDone();
  await expect(ask()).rejects.toThrow("did not expect");
});
`;

describe("the packed package, alone in an empty project", () => {
  test("holds what is documented, and neither sources nor tests nor anybody's data", () => {
    expect(installed.files).toEqual(
      expect.arrayContaining(["dist/index.js", "dist/index.d.ts", "dist/cli.js", "dist/main.js", "README.md"]),
    );
    expect(installed.files).toEqual(expect.arrayContaining(["dist/web/index.html", "LICENSE", "CHANGELOG.md"]));
    expect(installed.size).toBeLessThan(3e6);
    const ofSwaggerUi = installed.files.filter((file) => file.includes("swagger-ui"));
    const copied = ["LICENSE", "NOTICE", "swagger-ui-bundle.js", "swagger-ui.css"].map((name) => `dist/web/swagger-ui/${name}`);
    expect(ofSwaggerUi.sort()).toEqual(copied);
    const expected =
      /^(dist\/|docs\/.*\.(md|png)$|examples\/.*\.(ts|py|sh)$|memory_storage\/README\.md$|package\.json$|[A-Z]+\.md$|LICENSE$)/;
    expect(installed.files.filter((file) => !expected.test(file))).toEqual([]);
    expect(installed.files.filter((file) => /\.jsonl|\.db|\.env|\.test\./.test(file))).toEqual([]);
    const ofPages = installed.files.filter((file) => /^dist\/(web|studio)\/[^/]+$/.test(file)).map((file) => file.slice("dist/".length));
    const made = ["web/page", "studio/studio"].flatMap((name) => [`${name}.js`, `${name}.css`]);
    const beside = ["web/LICENSES.txt", "web/docs.html", "web/docs.js", "web/icon.svg", "web/index.html"];
    expect(ofPages.sort()).toEqual([...made, ...beside, "studio/LICENSES.txt", "studio/index.html"].sort());
  });

  test("the models of meanings are a package of their own, with what they run on and whose they are", () => {
    const files = installed.others["@maitred/minilm"];
    const expected = [
      "dist/index.js",
      "dist/index.d.ts",
      "dist/model-thread.js",
      "dist/runtime/ort-wasm-simd-threaded.wasm",
      "package.json",
    ];
    const ofModel = ["weights.bin", "vocabulary.txt", "table.bin", "LICENSE.txt", "NOTICE.txt", "NOTICE-table.txt"];
    expect(files).toEqual(expect.arrayContaining([...expected, ...ofModel.map((name) => `model/${name}`)]));
  });

  test("the other packages hold what was built of them, and no sources", () => {
    expect(Object.keys(installed.others)).toEqual(["@maitred/concierge", "@maitred/minilm", "@maitred/offline"]);
    for (const [name, files] of Object.entries(installed.others))
      expect([
        name,
        files.filter((file) => !/^dist\/.*(?<!\.test)\.(js|d\.ts|json|mjs|txt|wasm)$|^model\/|^package\.json$|^README\.md$/.test(file)),
      ]).toEqual([name, []]);
    expect(installed.others["@maitred/offline"]).toContain("dist/learnt/sentence-weights.json");
    expect(installed.others["@maitred/concierge"]).toContain("dist/prompt.txt");
  });

  test("holds every page and file that README links", async () => {
    const readme = await readFile(join(installed.home, "README.md"), "utf8");
    const links = [...readme.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link]) => link ?? "");
    expect(links.length).toBeGreaterThan(5);
    expect(links.filter((link) => !installed.files.some((file) => file === link || file.startsWith(`${link}/`)))).toEqual([]);
  });

  test.each(["esm", "cjs"] as const)(
    "is bundled around by esbuild with the one line of the quickstart (%s)",
    async (format) => {
      const page = await readFile(join(installed.home, "docs", "quickstart.md"), "utf8");
      const [line] = /esbuild .*--external:maitred.*/.exec(page) ?? [];
      expect(line).toContain("--bundle --platform=node");
      await writeFile(
        join(installed.project, "app.ts"),
        `import { createMaitred } from "maitred";
      import { createApp } from "maitred/http";
      createMaitred({ shortTermBackend: "memory" }).then(async (maitred) => {
        const { message } = await maitred.for({ user: "ada" }).chat("Good evening.");
        const page = await (await createApp(maitred)).fetch(new Request("http://127.0.0.1/"));
        console.log(message.content !== "", page.status);
        await maitred.close();
      });`,
      );
      const out = join(installed.project, "out", `app.${format === "esm" ? "mjs" : "cjs"}`);
      const flags = ["app.ts", "--bundle", "--platform=node", "--external:maitred", `--format=${format}`, `--outfile=${out}`];
      const esbuild = join(import.meta.dirname, "..", "..", "node_modules", ".bin", "esbuild");
      const { stderr } = await run(esbuild, [...flags, "--log-level=warning"], { cwd: installed.project });
      expect(stderr).toBe("");
      const bundled = await run(process.execPath, [out], { cwd: installed.project, env: { PATH: process.env.PATH } });
      expect(bundled).toEqual({ stdout: "true 200\n", stderr: "" });
    },
    60_000,
  );

  test("names nothing that it doesn't ship: no source maps, no path of a source or of a page of the repository", async () => {
    expect(installed.files.filter((file) => file.endsWith(".map"))).toEqual([]);
    const named: string[] = [];
    for (const file of installed.files.filter((each) => /^dist\/.*\.(js|d\.ts)$/.test(each))) {
      const text = await readFile(join(installed.home, file), "utf8");
      if (text.includes("sourceMappingURL")) named.push(file);
      for (const [comment] of text.matchAll(/\/\*\*[\s\S]*?\*\//g))
        if (/\b(?:src|test|docs)\/|\w\.ts\b|\b(?:DESIGN|ARCHITECTURE|API\.md)\b/.test(comment))
          named.push(`${file}: ${comment.slice(0, 80)}`);
    }
    expect(named).toEqual([]);
  });

  test("the types that a caller sees name no vendor's package", async () => {
    const { files, packages } = await reachableFrom(join(installed.home, "dist", "index.d.ts"));
    expect(files.length).toBeGreaterThan(10);
    // zod is the language in which a tool says what it takes.
    expect(packages.filter((name) => name !== "zod" && !name.startsWith("node:") && name !== "node")).toEqual([]);
  });

  test("the command line is there and says its version", async () => {
    const { version } = JSON.parse(await readFile(join(installed.home, "package.json"), "utf8")) as { version: string };
    const { stdout } = await run(process.execPath, [join(installed.home, "dist", "cli.js"), "--version"], { cwd: installed.project });
    expect(stdout.trim()).toBe(version);
  });

  test("a stranger's own engine runs the suite of maitred/testing, and is told what it does not pass", async () => {
    await installed.link("vitest");
    const engine = await readFile(join(import.meta.dirname, "../state/engines/map-engine.ts"), "utf8");
    const elsewhere = engine.replace(/import \{ AppError \} from ".*";/, 'import { MaitredError as AppError } from "maitred";');
    await writeFile(join(installed.project, "map-engine.ts"), elsewhere);
    await writeFile(join(installed.project, "store.test.js"), STRANGERS_STORE);
    const vitest = join(installed.project, "node_modules", "vitest", "vitest.mjs");
    const suite = async (env: Record<string, string>) => {
      const args = [vitest, "run", "store.test.js", "--reporter=json", "--root", installed.project];
      const ran = await run(process.execPath, args, { cwd: installed.project, env: { PATH: process.env.PATH, ...env } }).catch(
        (error: { stdout: string }) => error,
      );
      const { testResults } = JSON.parse(ran.stdout.slice(ran.stdout.indexOf("{"))) as {
        testResults: { assertionResults: { title: string; status: string }[] }[];
      };
      const all = testResults.flatMap(({ assertionResults }) => assertionResults);
      const named = (status: string) => all.filter((each) => each.status === status).map(({ title }) => title);
      return { passed: named("passed"), failed: named("failed"), skipped: [...named("skipped"), ...named("pending")] };
    };
    const sound = await suite({});
    expect(sound.failed).toEqual([]);
    expect(sound.skipped.toSorted()).toEqual([
      "processes measure leases by one clock",
      "the engine restarted: all that was acknowledged is there, and commits are still known",
      "what one process writes the other reads at once",
    ]);
    const erasedTwice = "again finds nothing, and lowers nothing";
    expect(sound.passed).toContain(erasedTwice);
    expect(sound.passed).toContain("the scripted model answers as its script says, and no more");
    expect((await suite({ COUNTS_WRONG: "true" })).failed).toContain(erasedTwice);
  }, 60_000);

  test("without a package that it wants it says which, and how it is installed", async () => {
    const alone = await installPackage({ alone: true });
    onTestFinished(() => alone.remove());
    const code = `import { createMaitred } from "maitred";
      const opened = async (options) => {
        try {
          await (await createMaitred({ shortTermBackend: "memory", ...options })).close();
          console.log("opened");
        } catch ({ code, message, hint }) {
          console.log(code, message, hint);
        }
      };
      await opened({});
      await opened({ embeddingProvider: "hashing" });
      await opened({ embeddingProvider: "hashing", openaiBaseUrl: "http://127.0.0.1:9/v1" });`;
    await writeFile(join(alone.project, "alone.mjs"), code);
    const { stdout } = await run(process.execPath, ["alone.mjs"], { cwd: alone.project, env: { PATH: process.env.PATH } });
    const hint = "Run `npm install @maitred/offline @maitred/minilm`, which is what runs without a key, or set OPENAI_API_KEY.";
    expect(stdout.trim().split("\n")).toEqual([
      `INVALID_CONFIG EMBEDDING_PROVIDER=minilm needs the package @maitred/minilm, which can't be loaded. ${hint}`,
      `INVALID_CONFIG LLM_PROVIDER=offline needs the package @maitred/offline, which can't be loaded. ${hint}`,
      "opened",
    ]);
  });

  test("a variable that is wrong rejects with a code and a hint, not with a stack", async () => {
    const code = `import { createOrchestrator, isMaitredError } from "maitred";
      await createOrchestrator({ PORT: "many", MEM0_ENABLED: "perhaps" }).catch((error) =>
        console.log(isMaitredError(error, "INVALID_CONFIG"), error.errors.map(({ pointer }) => pointer).join(" ")));`;
    await writeFile(join(installed.project, "wrong.mjs"), code);
    const { stdout } = await run(process.execPath, ["wrong.mjs"], { cwd: installed.project });
    expect(stdout.trim()).toBe("true /PORT /MEM0_ENABLED");
  });
});

test("what a declaration names is found in each form", () => {
  const text =
    'import { a } from "one";\nexport * from "./two.js";\ntype T = import("three").X;\n/// <reference types="node" />\nimport "four";';
  expect(namedIn(text)).toEqual(["one", "./two.js", "three", "node", "four"]);
});
