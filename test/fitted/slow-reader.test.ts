import { expect, test } from "vitest";
import { startWorld, tempDir } from "../e2e/world.js";
import { openOneSlotServer } from "./one-slot-server.js";
import { taskOf } from "./task-of.js";

const JAZZ = JSON.stringify({
  off_record: null,
  operations: [{ op: "add", quote: "I love jazz", text: "Loves jazz", category: "genre", strength: "soft", subject: "self" }],
});
const NOTHING = JSON.stringify({ off_record: null, operations: [] });

interface Pace {
  readonly tokenMs: (task: string) => number;
  /** Whether a reading's first token waits until a second turn has been answered. Default: it doesn't. */
  readonly readsLater?: boolean;
}

async function slowWorld({ tokenMs, readsLater = false }: Pace, variables: Readonly<Record<string, string>> = {}, padding = 0) {
  const secondTurn = (): Promise<void> => server.happened("turn ended", 2);
  const server = await openOneSlotServer(
    (body) => {
      const task = taskOf(body);
      if (task === "title") return "An evening out";
      if (task === "turn") return "Very well, a fine evening it will be.";
      const said = JSON.stringify(body.messages).includes("I love jazz") ? JAZZ : NOTHING;
      return said.padEnd(said.length + padding, " ");
    },
    { tokenMs, heldUntil: (task) => (readsLater && task === "reading" ? secondTurn() : undefined) },
  );
  const env = { OPENAI_BASE_URL: server.url, OPENAI_MODEL: "m", EMBEDDING_PROVIDER: "hashing", EXTRACTION_IDLE_MS: "0", ...variables };
  const world = await startWorld(await tempDir(), env);
  const client = world.as("ada");
  const memories = async () => (await client.get<{ data: { text: string }[] }>("/v1/memories")).body.data;
  const written = () => world.application.parts.worker.drain(60_000);
  return { server, client, memories, written };
}

test("[slow-reader] a reading that takes longer than a call may forms its memory, by one answer", async () => {
  // 230 tokens, of which a call's time holds 150 at most.
  const { server, client, memories, written } = await slowWorld({ tokenMs: () => 10 }, { MODEL_TIMEOUT_MS: "1500" }, 800);
  expect((await client.post("/v1/chat", { message: "I love jazz, any concerts?" })).status).toBe(200);
  await written();
  expect(await memories()).toMatchObject([{ text: "Loves jazz" }]);
  expect(server.events().filter((event) => event === "reading ended")).toHaveLength(1);
}, 90_000);

test("[slow-reader] a guest's turn comes before a reading that is under way on the one slot, which then begins anew", async () => {
  const { server, client, memories, written } = await slowWorld({ tokenMs: () => 1, readsLater: true });
  await client.post("/v1/chat", { message: "I love jazz, any concerts?" });
  await server.happened("reading began");
  const { status } = await client.post("/v1/chat", { message: "Is the opera open on Sunday?" });
  expect(status).toBe(200);
  const events = server.events();
  expect(events.slice(0, events.lastIndexOf("turn ended"))).toContain("reading left");
  expect(events.slice(0, events.lastIndexOf("turn ended"))).not.toContain("reading ended");
  await written();
  expect(await memories()).toMatchObject([{ text: "Loves jazz" }]);
}, 90_000);

test("[slow-reader] where one slot is known, never two readings stand before a guest's turn", async () => {
  const { server, client, written } = await slowWorld({ tokenMs: (task) => (task === "turn" ? 1 : 20), readsLater: true });
  await client.post("/v1/chat", { message: "I love jazz, any concerts?" });
  await server.happened("reading began");
  // Has the reading yield: one slot is known from here on.
  await client.post("/v1/chat", { message: "Is the opera open on Sunday?" });
  const from = server.events().length;
  await client.post("/v1/chat", { message: "Where is the ballet on Monday?" });
  await client.post("/v1/chat", { message: "What about the museum?" });
  await written();
  let waiting = 0;
  const waitingAfter = server.events().map((event) => {
    if (/^(?:reading|title) came$/.test(event)) waiting += 1;
    else if (/^(?:reading|title) (?:ended|left)$/.test(event)) waiting -= 1;
    return waiting;
  });
  expect(Math.max(...waitingAfter.slice(from))).toBe(1);
}, 90_000);
