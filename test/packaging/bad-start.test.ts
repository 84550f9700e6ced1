import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { transform } from "esbuild";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type InstalledPackage, installPackage, PACKED_WITHIN_MS } from "./install.js";

/** What a machine lacks is told in a sentence that says what to do, and by an exit code. */

const ROOT = join(import.meta.dirname, "..", "..");
const PATH = process.env.PATH;

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function ended(
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Record<string, string> } = {},
): Promise<Ended> {
  const env = { PATH, ...options.env };
  const ran = promisify(execFile)(process.execPath, args, { cwd: options.cwd, env }).then((output) => ({ code: 0, ...output }));
  return ran.catch(({ code, stdout, stderr }: Ended) => ({ code, stdout, stderr }));
}

let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installPackage();
}, PACKED_WITHIN_MS);
afterAll(() => installed.remove());

describe("a Node.js that is too old", () => {
  const ENTRIES: readonly (readonly [what: string, file: () => string, code: number])[] = [
    ["npm start", () => join(ROOT, "scripts", "install.mjs"), 1],
    ["node dist/main.js", () => join(installed.home, "dist", "main.js"), 78],
    ["maitred", () => join(installed.home, "dist", "cli.js"), 2],
  ];

  test.each(ENTRIES)("%s says which one is needed", async (_what, file, code) => {
    const older = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.18.3" } });`;
    const told = await ended(["--import", `data:text/javascript,${encodeURIComponent(older)}`, file()]);
    const sentence = "Maitred needs Node 20.19 or newer; this is 20.18.3. Install one from https://nodejs.org, then run the same again.\n";
    expect(told).toEqual({ code, stdout: "", stderr: sentence });
    const { engines } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as { engines: { node: string } };
    expect(sentence).toContain(` ${engines.node.replace(">=", "")} `);
  });

  test("parses what looks at its version", async () => {
    const files = [...ENTRIES.map(([, file]) => file()), join(installed.home, "dist", "platform", "node-version.js")];
    for (const file of files) {
      const source = await readFile(file, "utf8");
      // Nothing to be put into older words, and nothing loaded before but what is in this list.
      const written = async (target: string) => (await transform(source, { target, format: "esm" })).code;
      expect([file, await written("node12.20")]).toEqual([file, await written("esnext")]);
      expect([file, source.match(/^import .*/gm) ?? []]).toEqual([
        file,
        /install|node-version/.test(file) ? [] : [expect.stringContaining("node-version")],
      ]);
    }
  });
});

test("an installation that fails says what compiling SQLite takes", async () => {
  const dir = await mkdtemp(join(tmpdir(), "maitred-bare-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  await cp(join(ROOT, "scripts"), join(dir, "scripts"), { recursive: true });
  await writeFile(join(dir, "package-lock.json"), "{}");
  await writeFile(join(dir, "npm.cjs"), "process.exit(7);");
  const told = await ended([join(dir, "scripts", "install.mjs")], { env: { npm_execpath: join(dir, "npm.cjs") } });
  expect(told).toMatchObject({ code: 7, stdout: "" });
  for (const wanted of ["npm registry", "python3", "C++ compiler", "apt-get install", "xcode-select"])
    expect(told.stderr).toContain(wanted);
  expect(told.stderr).not.toMatch(/^\s+at /m);
});

test("SQLite without its native part is told with what to run, by the server and on the command line", async () => {
  const modules = join(installed.project, "node_modules");
  const sqlite = join(modules, "better-sqlite3");
  await rm(sqlite);
  await mkdir(sqlite);
  for (const part of ["package.json", "lib"])
    await cp(join(ROOT, "node_modules", "better-sqlite3", part), join(sqlite, part), { recursive: true });
  await installed.link("bindings");
  onTestFinished(async () => {
    await rm(sqlite, { recursive: true });
    await installed.link("better-sqlite3");
  });
  const env = { PORT: "0", MEMORY_STORAGE_DIR: join(installed.project, "no-sqlite") };
  const sentence =
    "SQLite can't be loaded: its native part is missing, or was made for another Node.js.\nRun `npm rebuild better-sqlite3`.";
  const server = await ended([join(installed.home, "dist", "main.js")], { cwd: installed.project, env });
  expect(server).toMatchObject({ code: 78, stdout: "", stderr: expect.stringContaining(`Maitred can't start.\n${sentence}`) });
  const command = await ended([join(installed.home, "dist", "cli.js"), "sessions"], { cwd: installed.project, env });
  expect(command).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(sentence) });
  for (const { stderr } of [server, command]) expect(stderr).toMatch(/python3, make and a C\+\+ compiler/);
}, 60_000);

test("a port that is taken is named, with its variable, by the server and on the command line", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => other.once("listening", resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as { port: number };
  const env = { MEMORY_STORAGE_DIR: join(installed.project, "taken"), SHORT_TERM_BACKEND: "memory" };
  const sentence = `The port is taken: ${port} on 127.0.0.1.\nSet PORT to another one, or stop what listens there.\n`;
  const server = await ended([join(installed.home, "dist", "main.js")], { cwd: installed.project, env: { ...env, PORT: String(port) } });
  expect(server).toMatchObject({ code: 1, stdout: "" });
  expect(server.stderr).toContain(`Maitred can't start.\n${sentence}`);
  const command = await ended([join(installed.home, "dist", "cli.js"), "serve", "--port", String(port)], { cwd: installed.project, env });
  expect(command).toMatchObject({ code: 1, stdout: "" });
  expect(command.stderr).toContain(sentence);
}, 60_000);
