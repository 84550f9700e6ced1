import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openWorld, tempDir } from "../e2e/world.js";
import { bundle } from "../support/bundle.js";
import { connect, listening, type McpClient } from "./client.js";

/** The command line as a client of MCP servers spawns it. */

const root = join(import.meta.dirname, "..", "..");
let program: string;
beforeAll(async () => {
  program = await mkdtemp(join(tmpdir(), "maitred-mcp-"));
  await bundle(["src/cli.ts"], program);
}, 60_000);
afterAll(() => rm(program, { recursive: true }));

interface Spawned extends McpClient {
  /** All that it wrote to standard error. */
  stderr(): string;
}

async function spawned(dir: string, argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Spawned> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(program, "cli.js"), ...argv],
    cwd: root,
    env: { PATH: process.env.PATH ?? "", EMBEDDING_PROVIDER: "hashing", MEMORY_STORAGE_DIR: dir, RECALL_DEADLINE_MS: "10000", ...env },
    stderr: "pipe",
  });
  const errors: Buffer[] = [];
  transport.stderr?.on("data", (chunk: Buffer) => errors.push(chunk));
  return { ...(await connect(transport)), stderr: () => Buffer.concat(errors).toString() };
}

const found = (client: McpClient) =>
  client.call<{ memories: readonly { id: string; text: string }[] }>("search_memories", { query: "jazz concerts" });

test("one process says and adds, the next one knows it and forgets it; nobody else has any of it", async () => {
  const dir = await tempDir();
  const first = await spawned(dir, ["mcp"], { MAITRED_USER: "ada" });
  const { tools } = await first.client.listTools();
  expect(tools.map(({ name }) => name)).toContain("chat");
  const { memory } = await first.call<{ memory: { id: string } }>("add_memory", { text: "Prefers jazz concerts", category: "genre" });
  expect((await found(first)).memories).toMatchObject([{ id: memory.id }]);
  expect(await first.refusal("add_memory", { text: "Likes it", user: "ben" })).toMatchObject({ code: "UNKNOWN_FIELD" });
  await first.client.close();
  expect(first.stderr()).toBe("");

  const second = await spawned(dir, ["mcp", "--user", "ada"]);
  const turn = await second.call<{ message: { content: string } }>("chat", { message: "Anything good this weekend?" });
  expect(turn.message.content).toMatch(/jazz/i);
  expect(await second.call("forget_memory", { id: memory.id })).toEqual({ forgotten: memory.id });
  expect(await found(second)).toEqual({ memories: [] });
  await second.client.close();

  const other = await spawned(dir, ["--user", "ben", "mcp"]);
  expect(await other.call("search_history", { query: "weekend" })).toEqual({ messages: [] });
  await other.client.close();
}, 120_000);

test("in front of a server that runs it has the server's memories", async () => {
  const world = await openWorld(await tempDir());
  try {
    await world.as("ada").post("/v1/memories", { text: "Prefers jazz concerts", category: "genre" });
    const url = await listening(world.app);
    const ada = await spawned(world.dir, ["--url", url, "mcp"], { MAITRED_USER: "ada" });
    expect((await found(ada)).memories).toMatchObject([{ text: "Prefers jazz concerts" }]);
    await ada.client.close();
    const ben = await spawned(world.dir, ["--url", url, "--user", "ben", "mcp"]);
    expect(await found(ben)).toEqual({ memories: [] });
    await ben.client.close();
  } finally {
    await world.stop();
  }
}, 120_000);
