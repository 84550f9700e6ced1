import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { needing } from "../support/needing.js";
import { type InstalledPackage, installPackage, PACKED_WITHIN_MS } from "./install.js";

const run = promisify(execFile);
const env = { PATH: process.env.PATH, HOME: process.env.HOME, NEXT_TELEMETRY_DISABLED: "1" };

/** Applications of other people's frameworks, as they are written and built, over the packed package. */
needing("ecosystem")("an application with the packed package", () => {
  let installed: InstalledPackage;
  beforeAll(async () => {
    installed = await installPackage();
    for (const name of ["typescript", "@types/node"]) await installed.link(name);
    for (const name of ["next", "react", "react-dom", "@langchain/core", "@langchain/langgraph"]) await installed.link(name, "ecosystem");
  }, PACKED_WITHIN_MS);
  afterAll(() => installed.remove());

  /** Compiles an example as it is shipped; what doesn't fit the types fails. */
  async function compiled(example: string): Promise<string> {
    const { project, home } = installed;
    await cp(join(home, "examples", example), join(project, example));
    const compiler = join(project, "node_modules", "typescript", "bin", "tsc");
    const options = ["--target", "es2023", "--module", "nodenext", "--strict", "--skipLibCheck", "--types", "node", "--outDir", "compiled"];
    await run(process.execPath, [compiler, ...options, example], { cwd: project }).catch((error: { stdout?: string }) => {
      throw new Error(`${example} doesn't compile:\n${error.stdout}`);
    });
    return join(project, "compiled", example.replace(/ts$/, "js"));
  }

  test("LangGraph: its example compiles against both, and the second thread knows what the first was told", async () => {
    const script = await compiled("langgraph.ts");
    const { stdout } = await run(process.execPath, [script], { cwd: installed.project, env });
    expect(stdout).toMatch(/The second thread knows what the first was told\.\n$/);
    const source = await readFile(join(installed.home, "examples", "langgraph.ts"), "utf8");
    expect(source.split("\n").length).toBeLessThan(60);
  }, 60_000);

  test("Next.js is built with the one line of the quickstart, without a warning, and answers", async () => {
    const { project, home } = installed;
    const app = join(project, "next");
    const route = join(app, "app", "maitred", "[...path]");
    await mkdir(route, { recursive: true });
    await cp(await compiled("next-route.ts"), join(route, "route.js"));
    await writeFile(join(app, "app", "layout.js"), "export default function Layout({ children }) { return children; }\n");
    const [, line] =
      /Next\.js `(serverExternalPackages: \[[^\]]+\])`/.exec(await readFile(join(home, "docs", "quickstart.md"), "utf8")) ?? [];
    // What the project is linked with lies elsewhere on the disk.
    await writeFile(join(app, "next.config.mjs"), `export default { ${line}, turbopack: { root: "/" } };\n`);
    await writeFile(join(app, "package.json"), JSON.stringify({ name: "a-next-app", private: true, type: "module" }));
    const next = join(project, "node_modules", "next", "dist", "bin", "next");
    const built = await run(process.execPath, [next, "build"], { cwd: app, env }).catch((error: { stdout?: string; stderr?: string }) => {
      throw new Error(`next build:\n${error.stdout}\n${error.stderr}`);
    });
    expect(`${built.stdout}${built.stderr}`).not.toMatch(/⚠|warn|error/i);
    expect(built.stdout).toContain("ƒ /maitred/[...path]");

    const data = { MEMORY_STORAGE_DIR: join(project, "next-data") };
    const server = spawn(process.execPath, [next, "start", "-H", "127.0.0.1", "-p", "0"], { cwd: app, env: { ...env, ...data } });
    const ended = once(server, "exit");
    try {
      const url = await addressIn(server.stdout);
      const answer = await fetch(`${url}/maitred/v1/chat`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Signed-In-User": "ada" },
        body: JSON.stringify({ message: "Good evening." }),
      });
      expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ turn: 1 })]);
      expect((await fetch(`${url}/maitred/v1/me`)).status).toBe(401);
    } finally {
      server.kill("SIGTERM");
      await ended;
    }
  }, 240_000);
});

async function addressIn(output: AsyncIterable<unknown>): Promise<string> {
  let said = "";
  for await (const chunk of output) {
    said += String(chunk);
    const [url] = /http:\/\/[\d.]+:\d+/.exec(said) ?? [];
    if (url !== undefined && said.includes("Ready")) return url;
  }
  throw new Error(`next start ended:\n${said}`);
}
