import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type InstalledPackage, installPackage } from "./install.js";

const run = promisify(execFile);
let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installPackage();
}, 120_000);
afterAll(() => installed.remove());

/** The first TypeScript in README's "From code". */
async function readmeSnippet(): Promise<string> {
  const readme = await readFile(join(installed.home, "README.md"), "utf8");
  const code = /## From code\n+```ts\n(?<code>[\s\S]*?)```/.exec(readme)?.groups?.code;
  if (code === undefined) throw new Error("README has no snippet under “From code”.");
  return code;
}

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

describe("the packed package, alone in an empty project", () => {
  test("holds what is documented, and neither sources nor tests nor anybody's data", () => {
    expect(installed.files).toEqual(
      expect.arrayContaining(["dist/index.js", "dist/index.d.ts", "dist/cli.js", "dist/main.js", "README.md"]),
    );
    expect(installed.files).toEqual(expect.arrayContaining(["dist/web/index.html", "LICENSE", "CHANGELOG.md"]));
    expect(installed.files.filter((file) => !/^(dist\/|package\.json$|README\.md$|LICENSE$|CHANGELOG\.md$)/.test(file))).toEqual([]);
    expect(installed.files.filter((file) => /\.jsonl|\.db|\.env|\.test\./.test(file))).toEqual([]);
  });

  test("README's library example compiles against the types and runs, without a peer that is optional", async () => {
    const { project } = installed;
    for (const name of ["typescript", "@types/node"]) await installed.link(name);
    expect(existsSync(join(project, "node_modules", "@huggingface"))).toBe(false);
    await writeFile(join(project, "snippet.ts"), `${await readmeSnippet()}\nexport {};\n`);
    const options = {
      target: "es2023",
      module: "nodenext",
      strict: true,
      skipLibCheck: true,
      types: ["node"],
      exactOptionalPropertyTypes: true,
    };
    await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["snippet.ts"] }));
    const compiler = join(project, "node_modules", "typescript", "bin", "tsc");
    await run(process.execPath, [compiler, "-p", "."], { cwd: project }).catch((error: { stdout?: string }) => {
      throw new Error(`README's example doesn't compile:\n${error.stdout}`);
    });
    const { stdout } = await run(process.execPath, ["snippet.js"], { cwd: project, env: { PATH: process.env.PATH } });
    expect(stdout).toMatch(/jazz/i);
    expect(stdout).toMatch(/step-free/i);
    expect(existsSync(join(project, "memory_storage", "vectors.db"))).toBe(true);
  }, 60_000);

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

  test("a variable that is wrong rejects with a code and a hint, not with a stack", async () => {
    const code = `import { createOrchestrator, isAppError } from "maitred";
      await createOrchestrator({ PORT: "many", MEM0_ENABLED: "perhaps" }).catch((error) =>
        console.log(isAppError(error, "INVALID_CONFIG"), error.errors.map(({ pointer }) => pointer).join(" ")));`;
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
