import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Memory } from "../../src/domain/memory.js";
import type { ChatAnswer, ErasureReceipt } from "../../src/ports/resources.js";
import { COSMOS_KEY, openCosmosServer } from "../support/cosmos-server.js";
import { openFirestoreEmulator } from "../support/firestore-emulator.js";
import { needing } from "../support/needing.js";
import { VECTOR_SERVERS } from "../support/vector-servers.js";
import { startWorld, tempDir } from "./world.js";

/** What is said becomes a memory, is recalled in a second session, also after a restart, and is gone when erased. */
async function remembersAndErases(variables: Readonly<Record<string, string>>, verified: boolean): Promise<void> {
  const dir = await tempDir();
  const before = await startWorld(dir, variables);
  expect((await before.application.readiness()).parts).toMatchObject({ long_term: { status: "ok" }, history: { status: "ok" } });
  const first = await before.as("ada").say("I prefer jazz concerts. I need step-free access.");
  await before.as("ben").say("I prefer opera.");
  await before.stop();

  const world = await startWorld(dir, variables);
  const ada = world.as("ada");
  const second = await ada.say("Anything good this weekend?");
  expect(second.session_id).not.toBe(first.session_id);
  expect(second.memory.status).toBe("ok");
  expect(second.memory.recalled.map(({ category }) => category)).toEqual(expect.arrayContaining(["accessibility", "genre"]));
  const found = await ada.post<{ data: readonly { content: string }[] }>("/v1/history/search", { query: "jazz concerts" });
  expect(found.body.data[0]?.content).toMatch(/jazz/);

  const receipt = await ada.delete<ErasureReceipt>("/v1/me?confirm=true");
  expect(receipt).toMatchObject({ status: 200, body: { verified } });
  expect(receipt.body.unverified === undefined).toBe(verified);
  expect(receipt.body.erased.memories).toBeGreaterThanOrEqual(2);
  expect(receipt.body.erased.history_entries).toBeGreaterThanOrEqual(4);
  expect((await ada.get<{ data: Memory[] }>("/v1/memories")).body.data).toEqual([]);
  expect((await world.as("ben").get<{ data: Memory[] }>("/v1/memories")).body.data).toHaveLength(1);
  await world.stop();
}

for (const { name, program, verified, start } of VECTOR_SERVERS)
  needing(program)(`the whole product over ${name}`, () => {
    test("what is said becomes a memory, is recalled in a second session, also after a restart, and is gone when erased", async () => {
      const server = await start();
      try {
        await remembersAndErases(server.variables, verified);
      } finally {
        await server.close();
      }
    }, 120_000);

    test("while it is down turns are answered without it and readiness says so; when it is back it is used again", async () => {
      const server = await start();
      try {
        const world = await startWorld(await tempDir(), { ...server.variables, SHORT_TERM_BACKEND: "file", RECALL_DEADLINE_MS: "2000" });
        const ada = world.as("ada");
        await ada.say("I prefer jazz concerts.");
        await server.kill();
        const answer = await ada.post<ChatAnswer>("/v1/chat", { message: "Anything good this weekend?" });
        expect(answer).toMatchObject({ status: 200, body: { memory: { status: expect.toBeOneOf(["degraded", "timeout"]) } } });
        expect((await world.application.readiness()).parts).toMatchObject({
          long_term: { status: "down", detail: expect.any(String) },
          history: { status: "down", detail: expect.any(String) },
        });
        await server.start();
        await expect
          .poll(async () => (await world.application.readiness()).parts, { timeout: 30_000 })
          .toMatchObject({ long_term: { status: "ok" }, history: { status: "ok" } });
        await expect.poll(async () => (await ada.get<{ data: Memory[] }>("/v1/memories")).body.data?.length, { timeout: 30_000 }).toBe(1);
      } finally {
        await server.close();
      }
    }, 120_000);
  });

describe("the whole product with its vectors beside the rest of its state", () => {
  test("[erasure-verified] in files, in clear and encrypted", async () => {
    const key = join(await tempDir(), "key");
    await writeFile(key, "0f".repeat(32));
    for (const more of [{}, { ENCRYPTION_KEY_FILE: key }]) await remembersAndErases({ MEM0_PROVIDER: "state", ...more }, true);
  });

  needing("firestore")("Firestore", () => {
    test("carries all of it", { timeout: 120_000 }, async () => {
      const emulator = await openFirestoreEmulator();
      try {
        const variables = { FIRESTORE_PROJECT: "whole", FIRESTORE_EMULATOR_HOST: emulator.host, MEM0_PROVIDER: "state" };
        await remembersAndErases({ ...variables, RECALL_DEADLINE_MS: "2000" }, true);
      } finally {
        await emulator.close();
      }
    });
  });

  needing("cosmos")("Cosmos DB", () => {
    test("carries all of it", { timeout: 120_000 }, async () => {
      const { endpoint, close } = await openCosmosServer();
      try {
        const variables = { COSMOS_ENDPOINT: endpoint, COSMOS_KEY, MEM0_PROVIDER: "state" };
        await remembersAndErases({ ...variables, RECALL_DEADLINE_MS: "2000" }, true);
      } finally {
        await close();
      }
    });
  });
});
