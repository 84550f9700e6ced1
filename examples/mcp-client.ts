/**
 * Maitred's tools from a client of the Model Context Protocol: what one conversation says, the next one knows; a memory is added, found
 * and forgotten. `npx tsx examples/mcp-client.ts` against a server that runs (`npm start`); MAITRED_URL is another address.
 */
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";

const url = process.env.MAITRED_URL ?? "http://127.0.0.1:3000";
// In AUTH_MODE=local the header says who asks; elsewhere it is "Authorization": "Bearer …".
const headers = { "X-User-Id": process.env.MAITRED_USER ?? "ada" };

const client = new Client({ name: "maitred-example", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit: { headers } }) as Transport);

/** What a tool gives. What it refuses is told by a stable `code`, with a `hint`. */
async function call<T>(name: string, args: Record<string, unknown>): Promise<T> {
  const result = await client.callTool({ name, arguments: args });
  if (result.isError) throw new Error(`${name}: ${JSON.stringify(result.content)}`);
  return result.structuredContent as T;
}

interface Turn {
  readonly session_id: string;
  readonly message: { readonly content: string };
}
interface Found {
  readonly memories: readonly { readonly id: string; readonly text: string }[];
}

try {
  const { tools } = await client.listTools();
  console.log(`Tools: ${tools.map(({ name }) => name).join(", ")}`);

  const first = await call<Turn>("chat", { message: "I prefer jazz concerts." });
  // What is said is read for memories after the answer: this waits for it, which only an example has to.
  await fetch(new URL(`/v1/sessions/${first.session_id}/flush`, url), { method: "POST", headers });
  const second = await call<Turn>("chat", { message: "Anything good this weekend?" });
  console.log(`A new conversation: ${second.message.content}`);
  assert.match(second.message.content, /jazz/i);

  const { memory } = await call<{ memory: { id: string } }>("add_memory", { text: "Prefers an aisle seat", category: "seating" });
  const found = await call<Found>("search_memories", { query: "aisle seat" });
  assert(found.memories.some(({ id }) => id === memory.id));
  await call("forget_memory", { id: memory.id });
  const left = await call<Found>("search_memories", { query: "aisle seat" });
  assert(!left.memories.some(({ id }) => id === memory.id));
  console.log("The second conversation knew what the first was told; what was added was found, and is forgotten.");
} finally {
  await client.close();
}
