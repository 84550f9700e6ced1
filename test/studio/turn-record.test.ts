import { expect, test } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import { EngineConversationList } from "../../src/state/conversations/conversation-list.js";
import type { StateEngine } from "../../src/state/engine.js";
import { prefixRange } from "../../src/state/engine.js";
import { ownerPartition } from "../../src/state/partition.js";
import { EngineTurnRecords } from "../../src/state/turn-records/turn-records.js";
import { startWorld, tempDir } from "../e2e/world.js";
import { readsNuts, TaskModel } from "../support/task-model.js";

const ADA = ownerOf("default", "ada");
const CANARY = "Quetzalcoatl";

async function recorded() {
  let engine: StateEngine | undefined;
  const model = new TaskModel();
  model.read = readsNuts;
  const around = {
    engine: (it: StateEngine) => {
      engine = it;
      return it;
    },
  };
  const world = await startWorld(await tempDir(), {}, { model, around });
  if (engine === undefined) return expect.fail("there is no engine");
  const kept = engine;
  const raw = async () => (await kept.read(ownerPartition(ADA), { ranges: [prefixRange("turn-record/")] })).ranges[0] ?? [];
  return { world, model, records: new EngineTurnRecords(kept), raw, engine: kept };
}

test("[operator-sees-what-happened] a turn leaves what it was given, how long each part took, and what became of its reading", async () => {
  const { world, model, records } = await recorded();
  const client = world.as("ada");
  model.replies.push({ name: "search_events", arguments: { text: "jazz" } }, "Here they are.");
  const { session_id } = await client.say(`Nut allergies run in the family, ${CANARY}.`);
  await expect.poll(async () => (await records.get(ADA, session_id, 1)).writeBack, { timeout: 20_000 }).not.toBeNull();
  const { turn, reading, writeBack } = await records.get(ADA, session_id, 1);
  expect(turn).toMatchObject({ outcome: "completed", error_code: null, model: "by task", memory_status: "empty", incognito: false });
  expect(turn?.prompt_blocks.map(({ name }) => name)).toEqual(["prompt", "now", "question"]);
  for (const block of turn?.prompt_blocks ?? []) expect(block.tokens).toBeGreaterThan(0);
  expect(turn?.timings.map(({ name }) => name)).toEqual(["window", "recall", "model", "gate", "search_events", "model"]);
  expect(writeBack).toMatchObject({ attempts: 1, error_code: null });
  // The search waited for the need that its own message tells.
  expect(writeBack?.proposals).toBeNull();
  const [proposal, ...others] = reading?.proposals ?? [];
  expect(others).toEqual([]);
  expect(proposal).toMatchObject({ op: "add", quote_at: { start: 0 }, outcome: "kept", reason: null });
  const { status } = await client.get(`/v1/memories/${proposal?.memory_id}`);
  expect(status).toBe(200);
});

test("[operator-sees-what-happened] a turn that failed leaves its record too, with the code and what its calls took", async () => {
  const { world, model, records } = await recorded();
  model.replies.push(new Error("away"));
  const { body } = await world.as("ada").post<{ session_id: string }>("/v1/chat", { message: "What is on on Friday?" });
  await expect.poll(async () => (await records.get(ADA, body.session_id, 1)).turn, { timeout: 20_000 }).not.toBeNull();
  const { turn } = await records.get(ADA, body.session_id, 1);
  expect(turn).toMatchObject({ outcome: "failed", error_code: expect.any(String), first_token_ms: null });
  expect(turn?.timings.at(-1)).toMatchObject({ name: "model", error: expect.any(String) });
});

test("[operator-sees-what-happened] a record holds no words, and goes with its session, with its messages, with its owner", async () => {
  const { world, records, raw, engine } = await recorded();
  const client = world.as("ada");
  const say = async () => (await client.say(`Nut allergies, and ${CANARY} with them.`)).session_id;
  const [purged, emptied, last] = [await say(), await say(), await say()];
  await expect.poll(async () => (await raw()).length, { timeout: 20_000 }).toBe(3);
  expect(JSON.stringify(await raw())).not.toContain(CANARY);
  expect((await client.delete(`/v1/sessions/${purged}?purge=true`)).status).toBe(204);
  expect((await client.delete(`/v1/sessions/${emptied}/messages`)).status).toBe(204);
  const left = new Set((await raw()).map(({ key }) => key.split("/")[1]));
  expect([...left]).toEqual([last]);
  const { body } = await client.delete<{ verified: boolean; erased: Record<string, number> }>("/v1/me?confirm=true");
  expect(body).toMatchObject({ verified: true, erased: { turn_records: 1 } });
  expect([await records.residue(ADA), await raw()]).toEqual([0, []]);
  const list = new EngineConversationList({ engine } as ConstructorParameters<typeof EngineConversationList>[0]);
  expect(await list.residue(ADA)).toBe(0);
});

test("[operator-sees-what-happened] of an incognito turn no more than numbers is left", async () => {
  const { world, records } = await recorded();
  const { body } = await world.as("ada").post<{ session_id: string }>("/v1/chat", { message: "Nut allergies.", incognito: true });
  await expect.poll(async () => (await records.get(ADA, body.session_id, 1)).turn, { timeout: 20_000 }).not.toBeNull();
  expect(await records.get(ADA, body.session_id, 1)).toMatchObject({
    turn: { incognito: true, memory_status: "disabled", recalled: [], held_back: null },
    reading: null,
    writeBack: null,
  });
});
