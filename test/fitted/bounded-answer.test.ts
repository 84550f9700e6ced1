import { expect, test } from "vitest";
import { startWorld, tempDir } from "../e2e/world.js";
import { openOneSlotServer } from "./one-slot-server.js";
import { openSmallWindowServer, plainConcierge } from "./small-window-server.js";
import { taskOf } from "./task-of.js";

test("[slow-reader] an answer is bounded by what the model writes in the time of a call, and said to be half where it is cut", async () => {
  let turns = 0;
  const server = await openOneSlotServer(
    (body) => {
      if (taskOf(body) !== "turn") return '{"off_record":null,"operations":[]}';
      turns += 1;
      return turns === 1 ? "Very well, it will be a fine evening at the opera." : "and a table ".repeat(300);
    },
    // A fifteenth of a minute, and of a model's time.
    { tokenMs: (task) => (task === "turn" ? 20 : 1) },
  );
  const env = { OPENAI_BASE_URL: server.url, OPENAI_MODEL: "m", EMBEDDING_PROVIDER: "hashing", MODEL_TIMEOUT_MS: "4000" };
  const client = (await startWorld(await tempDir(), env)).as("ada");
  const first = await client.post<{ session_id: string; message: { metadata: object } }>("/v1/chat", { message: "Is the opera open?" });
  expect(first.body.message.metadata).not.toHaveProperty("finish");
  const { session_id } = first.body;
  const second = await client.post<{ message: { content: string; metadata: object } }>("/v1/chat", { message: "And then?", session_id });
  expect(second.status).toBe(200);
  expect(second.body.message.metadata).toMatchObject({ finish: "length" });
  const [unbounded, bounded] = server.bodies.filter((body) => taskOf(body) === "turn");
  expect(unbounded).not.toHaveProperty("max_completion_tokens");
  expect(bounded?.max_completion_tokens).toBeLessThan(200);
});

test("[slow-reader] one that is still being written when its time is over is cut there, and said to be half: nobody knew how slow it is", async () => {
  const server = await openOneSlotServer((body) => (taskOf(body) === "turn" ? "and a table ".repeat(2_000) : "{}"), { tokenMs: () => 5 });
  const env = { OPENAI_BASE_URL: server.url, OPENAI_MODEL: "m", EMBEDDING_PROVIDER: "hashing", MODEL_TIMEOUT_MS: "2000" };
  const client = (await startWorld(await tempDir(), env)).as("ada");
  const { status, body } = await client.post<{ message: { content: string; metadata: object } }>("/v1/chat", { message: "And then?" });
  expect(status).toBe(200);
  expect(body.message.metadata).toMatchObject({ finish: "length" });
  expect(body.message.content).toMatch(/^and a table and a table/);
});

test("[small-window] an endpoint that tells its window is asked for it before the first answer, which is bounded by it", async () => {
  const server = await openSmallWindowServer("llama.cpp", 4_096, plainConcierge, { tells: true });
  const env = { OPENAI_BASE_URL: server.url, OPENAI_MODEL: "m", EMBEDDING_PROVIDER: "hashing" };
  const client = (await startWorld(await tempDir(), env)).as("ada");
  expect((await client.post("/v1/chat", { message: "Is the opera open?" })).status).toBe(200);
  expect(server.refused).toEqual([]);
  expect(server.answered.find((body) => taskOf(body) === "turn")?.max_completion_tokens).toBeLessThan(1_000);
});
