import { expect, test } from "vitest";
import { startWorld, tempDir } from "../e2e/world.js";
import { openOneSlotServer } from "./one-slot-server.js";
import { taskOf } from "./reading-world.js";

const JAZZ = JSON.stringify({
  off_record: null,
  operations: [{ op: "add", quote: "I love jazz", text: "Loves jazz", category: "genre", strength: "soft", subject: "self" }],
});
const NOTHING = JSON.stringify({ off_record: null, operations: [] });

async function slowWorld(variables: Readonly<Record<string, string>>, tokenMs: (task: string) => number, padding = 0) {
  const server = await openOneSlotServer(
    (body) => {
      const task = taskOf(body);
      if (task === "title") return "An evening out";
      if (task === "turn") return "Very well, a fine evening it will be.";
      const said = JSON.stringify(body.messages).includes("I love jazz") ? JAZZ : NOTHING;
      return said.padEnd(said.length + padding, " ");
    },
    { tokenMs },
  );
  const env = { OPENAI_BASE_URL: server.url, OPENAI_MODEL: "m", EMBEDDING_PROVIDER: "hashing", EXTRACTION_IDLE_MS: "0", ...variables };
  const world = await startWorld(await tempDir(), env);
  const client = world.as("ada");
  const memories = async () => (await client.get<{ data: { text: string }[] }>("/v1/memories")).body.data;
  const written = () => world.application.parts.worker.drain(25_000);
  return { server, client, memories, written };
}

test("[slow-reader] a reading that takes longer than a call may forms its memory, by one answer", async () => {
  // A hundredth of the real times: five tokens a second, a bound of four seconds.
  const { server, client, memories, written } = await slowWorld({ MODEL_TIMEOUT_MS: "400" }, () => 10, 300);
  await client.post("/v1/chat", { message: "I love jazz, any concerts?" });
  await written();
  expect(await memories()).toMatchObject([{ text: "Loves jazz" }]);
  expect(server.events.filter((event) => event === "reading ended")).toHaveLength(1);
});

test("[slow-reader] a guest's turn comes before a reading that is under way on the one slot, which then begins anew", async () => {
  const { server, client, memories, written } = await slowWorld({}, (task) => (task === "reading" ? 50 : 1), 100);
  await client.post("/v1/chat", { message: "I love jazz, any concerts?" });
  await server.happened("reading began");
  const { status } = await client.post("/v1/chat", { message: "Is the opera open on Sunday?" });
  expect(status).toBe(200);
  expect(server.events.slice(0, server.events.lastIndexOf("turn ended"))).not.toContain("reading ended");
  await written();
  expect(await memories()).toMatchObject([{ text: "Loves jazz" }]);
}, 30_000);

test("[slow-reader] where one slot is known, never two readings stand before a guest's turn", async () => {
  const { server, client, written } = await slowWorld({}, (task) => (task === "turn" ? 1 : 50), 100);
  const sessions = [
    "I love jazz, any concerts?",
    "Is the opera open on Sunday?",
    "Where is the ballet on Monday?",
    "What about the museum?",
  ];
  await client.post("/v1/chat", { message: sessions[0] });
  await server.happened("reading began");
  // Has the reading yield: one slot is known from here on.
  await client.post("/v1/chat", { message: sessions[1] });
  const from = server.events.length;
  await client.post("/v1/chat", { message: sessions[2] });
  await client.post("/v1/chat", { message: sessions[3] });
  await written();
  let [waiting, most] = [0, 0];
  for (const event of server.events.slice(from)) {
    if (/^(?:reading|title) came$/.test(event)) waiting += 1;
    else if (/^(?:reading|title) (?:ended|left)$/.test(event)) waiting -= 1;
    most = Math.max(most, waiting);
  }
  expect(most).toBe(1);
}, 30_000);
