import { expect, test } from "vitest";
import type { ChatAnswer } from "../../src/ports/resources.js";
import { startWorld, tempDir } from "../e2e/world.js";
import { EMBEDDING_FAULTS } from "../support/providers/embedding-faults.js";
import { openEmbeddingServer } from "../support/providers/embedding-server.js";

test("each dialect of embeddings stands in the table once", () => {
  expect(new Set(EMBEDDING_FAULTS.map(({ name }) => name)).size).toBe(EMBEDDING_FAULTS.length);
});

test("a user's message is embedded once a turn, for recall, history and memories alike", async () => {
  const server = await openEmbeddingServer({ answers: () => null });
  const env = { OPENAI_BASE_URL: `${server.address}/v1`, OPENAI_MODEL: "m", EXTRACTION_IDLE_MS: "0", EMBEDDING_PROVIDER: "openai" };
  const world = await startWorld(await tempDir(), env);
  const message = "I love jazz, are there any concerts in Vienna?";
  await world.as("ada").say(message);
  const sent = server.asked.flatMap(({ body }) => body.input);
  expect(sent.filter((text) => text.includes(message))).toHaveLength(1);
  expect(sent).toContainEqual(expect.stringContaining("Loves jazz"));
});

test.each(EMBEDDING_FAULTS.map((fault) => [fault.name, fault] as const))("%s", async (_name, fault) => {
  const server = await openEmbeddingServer(fault);
  const logged: string[] = [];
  const log = (fields: object, message: string) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const common = { OPENAI_BASE_URL: `${server.address}/v1`, OPENAI_MODEL: "m", EXTRACTION_IDLE_MS: "0" };
  const env = { ...common, ...fault.variables?.(server.address) };
  const world = await startWorld(await tempDir(), env, { logger: { debug: log, info: log, warn: log, error: log } });
  const guest = world.as("ada");

  await guest.say(fault.says ?? "I love jazz, are there any concerts in Vienna?");
  const answer: ChatAnswer = await guest.say("What do I love?");
  expect([answer.memory.status, answer.memory.recalled.map(({ text }) => text)]).toEqual([fault.recall, ["Loves jazz"]]);
  await guest.say("Which concerts are on tonight?");
  expect(server.refused).toHaveLength(fault.refused === "all" ? server.asked.length : fault.refused);

  const told = logged.join("\n");
  if (fault.log === null) expect(told).not.toMatch(/embedder/);
  else expect(told).toMatch(fault.log);
  expect(told).not.toMatch(/azure-key|love jazz/);

  const { parts } = (await guest.get<{ parts: { embedder: { status: string; detail?: string } } }>("/readyz")).body;
  if (fault.readyz === "ok") expect(parts.embedder.status).toBe("ok");
  else expect(parts.embedder).toMatchObject({ status: "degraded", detail: expect.stringMatching(fault.readyz) });
});
