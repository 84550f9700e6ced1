import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..", "..");
const env = { PATH: process.env.PATH, HOME: process.env.HOME };

/** As a user runs them, with nothing configured. */
async function example(name: string): Promise<string> {
  const { stdout } = await run(process.execPath, ["--import", "tsx", join("examples", name)], { cwd: root, env });
  return stdout;
}

test("the two sessions: the second knows what the first one said, and only with long-term memory", async () => {
  expect(await example("two-sessions.ts")).toMatch(/Both are as they should be\.\n$/);
}, 60_000);

test("an agent of one's own: its second session knows what the first was told", async () => {
  expect(await example("own-agent.ts")).toMatch(/The second session knows what the first was told\.\n$/);
}, 60_000);
test("the library remembers what was said, streams, and erases", async () => {
  const said = await example("library.ts");
  expect(said).toMatch(/Recalled: .*nuts/);
  expect(said).toMatch(/Remembered: Arrives by train; .*\nErased: 3 memories, verified: true\n/);
}, 60_000);

test("OpenAI's own client: another conversation knows what the first one was told", async () => {
  const said = await example("openai-client.ts");
  expect(said).toMatch(/^Said: \S/);
  expect(said).toMatch(/\nThen: \S/);
  expect(said).toMatch(/\nRemembered: .*nuts/);
}, 60_000);

test("the AI SDK: its provider, and what useChat reads", async () => {
  expect(await example("ai-sdk.ts")).toMatch(/\nRecalled: .*nuts/);
}, 60_000);

test("a server that is there already answers below its path, for whom it has signed in", async () => {
  const child = spawn(process.execPath, ["--import", "tsx", join("examples", "express.ts")], { cwd: root, env: { ...env, PORT: "0" } });
  const ended = once(child, "exit");
  try {
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const url = line.toString().trim();
    const home = await fetch(url, { redirect: "manual" });
    expect([home.status, home.headers.get("Location")]).toEqual([302, "/maitred"]);
    expect((await fetch(`${url}maitred/v1/me`)).status).toBe(401);
    const me = await fetch(`${url}maitred/v1/me`, { headers: { Cookie: home.headers.get("Set-Cookie") ?? "" } });
    expect(await me.json()).toMatchObject({ user: { id: "ada", tenant: "hotel-lindenhof" } });
  } finally {
    child.kill("SIGINT");
    await ended;
  }
}, 60_000);

test("a route of Next.js is a function of requests", async () => {
  const dir = await mkdtemp(join(tmpdir(), "maitred-next-"));
  const code = `const { POST } = await import("./examples/next-route.ts");
    const headers = { "Content-Type": "application/json", "X-Signed-In-User": "ada" };
    const ask = (init) => POST(new Request("https://example.org/maitred/v1/chat", { method: "POST", ...init }));
    const said = await ask({ headers, body: JSON.stringify({ message: "Good evening." }) });
    const nobody = await ask({ body: "{}" });
    console.log(said.status, (await said.json()).turn, nobody.status);
    process.exit();`;
  try {
    const options = { cwd: root, env: { ...env, MEMORY_STORAGE_DIR: dir } };
    const { stdout } = await run(process.execPath, ["--import", "tsx", "--input-type=module", "-e", code], options);
    expect(stdout).toBe("200 1 401\n");
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}, 60_000);

test("each takes less than 60 lines", () => {
  for (const name of ["ai-sdk.ts", "openai-client.ts", "library.ts", "express.ts", "next-route.ts", "own-agent.ts", "two-sessions.ts"])
    expect([name, readFileSync(join(root, "examples", name), "utf8").split("\n").length]).toEqual([name, expect.toSatisfy((n) => n < 60)]);
});

test("a product that is described once takes less than 90", () => {
  const names = readdirSync(join(root, "examples", "domains"));
  expect(names).toEqual(["dentist.ts", "hotel.ts", "restaurant.ts"]);
  const lines = names.map((name) => readFileSync(join(root, "examples", "domains", name), "utf8").split("\n").length);
  expect(lines).toEqual(names.map(() => expect.toSatisfy((n) => n < 90)));
});
