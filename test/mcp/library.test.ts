import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { expect, onTestFinished, test } from "vitest";
import { createMaitred } from "../../src/index.js";
import { mcpServer } from "../../src/mcp.js";
import type { AppError } from "../../src/platform/errors.js";
import { connect } from "./client.js";

test("a server of one's own has the tools of the user that it is made for, and tells what fails", async () => {
  const maitred = await createMaitred({ shortTermBackend: "memory", embeddingProvider: "hashing", recallDeadlineMs: 10_000 });
  onTestFinished(() => maitred.close());
  const failures: AppError[] = [];
  const clientOf = async (user: string) => {
    const [near, far] = InMemoryTransport.createLinkedPair();
    await mcpServer(maitred.for({ user }), { failed: (error) => failures.push(error) }).connect(far);
    return connect(near);
  };
  const ada = await clientOf("ada");
  const { memory } = await ada.call<{ memory: { id: string } }>("add_memory", { text: "Prefers an aisle seat", strength: "soft" });
  expect(await maitred.for({ user: "ada" }).memories.get(memory.id)).toMatchObject({ text: "Prefers an aisle seat" });
  const turn = await ada.call<{ session_id: string }>("chat", { message: "Good evening.", incognito: true });
  expect(await maitred.for({ user: "ada" }).sessions.get(turn.session_id)).toMatchObject({ id: turn.session_id });

  const ben = await clientOf("ben");
  expect(await ben.refusal("forget_memory", { id: memory.id })).toMatchObject({ code: "MEMORY_NOT_FOUND" });
  expect(failures.map(({ code }) => code)).toEqual(["MEMORY_NOT_FOUND"]);
});
