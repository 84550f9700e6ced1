import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type InstalledPackage, installPackage, PACKED_WITHIN_MS } from "../packaging/install.js";

/** `maitred init`, from a bare directory on. What `npm install` would bring is linked. */

const run = promisify(execFile);
const FIVE_MINUTES = 300;
let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installPackage();
  for (const name of ["esbuild", "vitest"]) await installed.link(name);
}, PACKED_WITHIN_MS);
afterAll(() => installed.remove());

/** Runs a command as a person would in the project's directory. */
async function maitred(dir: string, ...argv: readonly string[]) {
  const env = { PATH: process.env.PATH, RECALL_DEADLINE_MS: "10000" };
  const ended = run(process.execPath, [join(installed.home, "dist", "cli.js"), ...argv], { cwd: dir, env });
  return ended.then((output) => ({ code: 0, ...output })).catch(({ code, stdout, stderr }) => ({ code, stdout, stderr }));
}

test("from a bare directory to a second session that knows what the first was told, in less than five minutes", async () => {
  const began = performance.now();
  const made = await maitred(installed.project, "init", "spa", "--yes", "--port", "4100");
  expect(made).toMatchObject({
    code: 0,
    stderr: "",
    stdout: expect.stringMatching(/\nNext:\n {2}cd spa && npm install\n {2}npm run dev\n$/),
  });
  const spa = join(installed.project, "spa");
  expect(await readFile(join(spa, ".env"), "utf8")).toContain("DOMAIN_FILE=./domain.ts\nPORT=4100\n");
  expect((await maitred(spa, "chat", "-m", "I am allergic to nuts, by the way.")).code).toBe(0);
  const second = await maitred(spa, "--json", "chat", "-m", "What do you have on Monday?");
  const seconds = (performance.now() - began) / 1_000;
  console.log(`From nothing to a second session that knows: ${seconds.toFixed(1)} s`);
  const { memory } = JSON.parse(second.stdout) as { memory: { recalled: { text: string }[] } };
  expect(memory.recalled.map(({ text }) => text)).toEqual([expect.stringContaining("nuts")]);
  expect(seconds).toBeLessThan(FIVE_MINUTES);
}, 120_000);

test("its test is one of vitest, and passes", async () => {
  await maitred(installed.project, "init", "tested", "--yes");
  const tested = join(installed.project, "tested");
  const { scripts } = JSON.parse(await readFile(join(tested, "package.json"), "utf8")) as { scripts: Record<string, string> };
  expect(scripts).toEqual({ start: "maitred serve", dev: "maitred serve --watch", test: "vitest run" });
  const vitest = join(installed.project, "node_modules", "vitest", "vitest.mjs");
  const { stdout } = await run(process.execPath, [vitest, "run"], { cwd: tested, env: { PATH: process.env.PATH } }).catch((error) => error);
  expect(stdout).toMatch(/Tests .*2 passed/);
}, 120_000);

test("a file that is there is not written over but with --force; a package.json keeps what else it has", async () => {
  const dir = join(installed.project, "there");
  await mkdir(dir);
  const own = { name: "there", license: "MIT", scripts: { lint: "biome check" }, dependencies: { pg: "^8.0.0" } };
  await writeFile(join(dir, "package.json"), JSON.stringify(own));
  const refused = await maitred(dir, "init");
  expect(refused).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(`in ${dir} there is package.json already`) });
  await expect(readFile(join(dir, "domain.ts"))).rejects.toThrow();
  expect(await maitred(dir, "init", "--force", "--provider", "anthropic", "--model", "claude")).toMatchObject({ code: 0 });
  expect(JSON.parse(await readFile(join(dir, "package.json"), "utf8"))).toMatchObject({
    name: "there",
    license: "MIT",
    scripts: { lint: "biome check", start: "maitred serve" },
    dependencies: { pg: "^8.0.0", maitred: expect.any(String), "@ai-sdk/anthropic": "^3.0.0" },
  });
  expect(await readFile(join(dir, ".env"), "utf8")).toContain("# ANTHROPIC_API_KEY= in .env.local\n");
}, 60_000);

test("what can't be is said in words, and nothing is written", async () => {
  const said = async (...argv: readonly string[]) => (await maitred(installed.project, "init", "wrong", ...argv)).stderr.split("\n")[0];
  expect(await said("--provider", "antropic")).toBe('There is no provider "antropic"; did you mean "anthropic"?');
  expect(await said("--provider", "mistral")).toBe("Which of mistral's models is not said.");
  expect(await said("--port", "http")).toBe('"http" is no port.');
  await expect(readFile(join(installed.project, "wrong", "domain.ts"))).rejects.toThrow();
}, 60_000);
