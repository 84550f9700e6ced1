/** Maitred in your own process: users, a tool of your own, a streamed answer, memories. Runs without keys: `npx tsx examples/library.ts`. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMaitred, defineTool } from "maitred";
import { z } from "zod";

const bookTable = defineTool({
  name: "book_table",
  description: "Books a table at the house's own restaurant.",
  parameters: z.object({ guests: z.int().positive(), at: z.iso.datetime() }),
  run: ({ guests, at }, { userMessage }) => ({ booked: true, guests, at, note: userMessage.content }),
});

const dir = await mkdtemp(join(tmpdir(), "maitred-library-"));
const maitred = await createMaitred({
  memoryStorageDir: dir,
  openaiApiKey: process.env.OPENAI_API_KEY,
  tools: [bookTable],
  prompt: "You look after the guests of a small hotel. Book tables with your tool only.",
  beforeTool: ({ tool }) => (tool === "book_table" ? { ask: "Shall I book this table?" } : undefined),
  afterTurn: ({ user, answer }) => console.log(`[${user}, turn ${answer.turn}]`),
});

const ada = maitred.for({ user: "ada", tenant: "hotel-lindenhof" });
const first = await ada.chat("I'm allergic to nuts, and I prefer a table by the window.");
await ada.sessions.flush(first.session_id);

for await (const event of ada.stream("A table for two, please.")) {
  if (event.type === "memory") console.log("Recalled:", event.memory.recalled.map(({ text }) => text).join("; "));
  if (event.type === "token") process.stdout.write(event.delta);
}

await ada.memories.add("Arrives by train", { category: "other" });
const { data } = await ada.memories.list({ limit: 10 });
console.log("\nRemembered:", data.map(({ text }) => text).join("; "));
const { erased, verified } = await ada.erase();
console.log("Erased:", erased.memories, "memories, verified:", verified);

await maitred.close();
await rm(dir, { recursive: true });
