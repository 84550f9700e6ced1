import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { listening } from "../mcp/client.js";
import { needing } from "../support/needing.js";
import { startWorld, tempDir } from "./world.js";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..", "..");

/** An example of a client, as its user runs it, against a server with nothing configured that nobody has spoken to yet. */
async function against(program: string, ...args: readonly string[]): Promise<string> {
  const world = await startWorld(await tempDir());
  const env = { PATH: process.env.PATH, MAITRED_URL: await listening(world.app) };
  const { stdout, stderr } = await run(program, args, { cwd: root, env });
  expect(stderr).toBe("");
  return stdout;
}

test("a client of MCP: the second conversation knows what the first was told; what was added is found and forgotten", async () => {
  const said = await against(process.execPath, "--import", "tsx", "examples/mcp-client.ts");
  expect(said).toContain("Tools: chat, search_memories, add_memory, forget_memory, search_history\n");
  expect(said).toMatch(/was found, and is forgotten\.\n$/);
}, 60_000);

needing("python")("Python's standard library", () => {
  test("the second session knows what the first was told, and a problem is told by its code", async () => {
    expect(await against("python3", "examples/python-client.py")).toMatch(/knew what the first was told, and it is forgotten\.\n$/);
  }, 60_000);
});

needing("curl")("curl", () => {
  test("the second session knows what the first was told, and an answer is streamed", async () => {
    const said = await against("sh", "examples/curl.sh");
    expect(said).toContain("event: message\n");
    expect(said).toMatch(/The second session knew what the first was told\.\n$/);
  }, 60_000);
});

test("each takes less than 60 lines", () => {
  for (const name of ["mcp-client.ts", "python-client.py", "curl.sh"])
    expect([name, readFileSync(join(root, "examples", name), "utf8").split("\n").length]).toEqual([name, expect.toSatisfy((n) => n < 60)]);
});
