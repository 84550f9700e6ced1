import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { PayloadSchema, Point } from "../../src/ports/vectors.js";
import type { ChatBody } from "../support/openai-stub.js";
import { type Guest, holdTime, Rig } from "./rig.js";
import { answeredOf, caughtUp, textsOf } from "./store-faults.js";

let rig: Rig | undefined;
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });
beforeEach(holdTime);
afterEach(async () => {
  await rig?.close();
  rig = undefined;
  vi.useRealTimers();
});

async function opened(before?: Parameters<typeof Rig.open>[0]): Promise<Rig> {
  rig = await Rig.open(before);
  return rig;
}

test("[reply-never-waits] a dead store costs a few turns their deadline, whoever's they are, and is asked again later", async () => {
  const on = await opened();
  await on.settle();
  on.qdrant.fault({ type: "hang" });
  const strangers = Array.from({ length: 10 }, (_, n) => on.guest(`guest-${n}`, `folk-${n}`));
  const statuses: (string | null)[] = [];
  for (const guest of strangers) {
    const seen = await guest.askAside();
    expect(answeredOf(seen)).toBe("200");
    statuses.push(seen.memory);
  }
  expect(statuses).toEqual([...Array(3).fill("timeout"), ...Array(7).fill("degraded")]);
  expect((await on.composed.readiness()).status).toBe("degraded");

  await on.heal();
  expect((await on.bob.ask()).memory).toBe("ok");
  expect((await on.ada.ask()).memory).toBe("ok");
  expect((await on.composed.readiness()).parts.long_term?.status).toBe("ok");
});

test("[reply-never-waits] extraction, summary and name that hang hold up no turn, of the same session neither", async () => {
  const on = await opened();
  await on.settle();
  on.openai.failChat("hang", (body) => (body as ChatBody).tools === undefined);
  const first = await on.ada.prefer("matinees");
  expect([answeredOf(first), first.memory, first.answer?.memory.write_back]).toEqual(["200", "ok", "pending"]);
  for (let n = 0; n < 3; n++) {
    const next = await on.ada.ask();
    expect([answeredOf(next), next.memory]).toEqual(["200", "ok"]);
  }
  await on.heal();
  expect(await caughtUp(on.ada, 5)).toBe("all caught up");
});

test("[other-users-unaffected] a user whose write-backs all hang leaves room for another's", async () => {
  const on = await opened();
  await on.settle();
  on.openai.failEmbeddings("hang", (body) => JSON.stringify(body).includes(on.ada.word));
  const sessions: Guest[] = [];
  for (let n = 0; n < 12; n++) {
    const session = on.guest("ada", on.ada.word);
    sessions.push(session);
    expect(answeredOf(await session.prefer(`number ${n}`))).toBe("200");
  }
  await on.bob.prefer("matinees");
  expect(await on.bob.flushed(false)).toBe(true);
  expect(await on.bob.memories()).toEqual(["Prefers opera evenings", "Prefers opera matinees"]);

  await on.heal();
  for (const session of sessions) expect(await session.flushed(true)).toBe(true);
  expect(await on.ada.memories()).toHaveLength(13);
});

test.each([
  [{ type: "refuse" }, "degraded"],
  [{ type: "hang" }, "timeout"],
  [{ type: "status", status: 500 }, "degraded"],
  [{ type: "malformed" }, "degraded"],
] as const)(
  "[degradation-honest] a Qdrant that does %j at the start doesn't stop it: turns are answered, say %s, and are caught up with later",
  async (fault, status) => {
    const on = await opened(({ qdrant }) => qdrant.fault(fault));
    const { ada, bob } = on;
    const first = await ada.prefer("evenings");
    expect([answeredOf(first), first.memory]).toEqual(["200", status]);
    await ada.prefer("matinees");
    expect((await on.composed.readiness()).status).toBe("degraded");

    await on.heal();
    expect(await caughtUp(ada, 2)).toBe("all caught up");
    await bob.prefer("evenings");
    expect(await bob.flushed(true)).toBe(true);
    expect(textsOf(await bob.ask())).toEqual(["Prefers opera evenings"]);
    const found = await on.composed.history.search(ada.owner, { query: "jazz matinees", limit: 1 });
    expect(found.map((hit) => hit.content)).toEqual(["I prefer jazz matinees."]);
    const { parts } = await on.composed.readiness();
    expect([parts.long_term?.status, parts.history?.status]).toEqual(["ok", "ok"]);
  },
);

test.each(["memory", "history"] as const)(
  "[degradation-honest] a collection (%s) that is made anew with another dimension while the server runs: turns say so, nothing is written to it, and all is caught up with when it is mended",
  async (name) => {
    const on = await opened();
    const { ada, bob, qdrant } = on;
    await on.settle();
    const { config, payload_schema } = await qdrant.client.getCollection(name);
    const { points } = await qdrant.client.scroll(name, { limit: 100, with_payload: true, with_vector: true });
    const made = async (size: number) => {
      await qdrant.client.deleteCollection(name);
      const sparse_vectors = config.params.sparse_vectors as Record<string, { modifier: "idf" }>;
      await qdrant.client.createCollection(name, { vectors: { size, distance: "Cosine" }, sparse_vectors });
      for (const [field_name, schema] of Object.entries(payload_schema)) {
        const { params, data_type } = schema as { params?: PayloadSchema; data_type: PayloadSchema };
        await qdrant.client.createPayloadIndex(name, { field_name, field_schema: params ?? data_type });
      }
    };
    await made(8);

    const statuses: (string | null)[] = [];
    const said = ["I prefer jazz matinees.", ...Array<string>(3).fill("Don't remember this: what did I say about jazz last time?")];
    for (const message of said) {
      const seen = await ada.say(message);
      expect(answeredOf(seen)).toBe("200");
      statuses.push(seen.memory);
    }
    // On a busy machine a look back ends with the deadline.
    const ill = (status: string | null) => status === "degraded" || status === "timeout";
    expect(statuses.map(ill)).toEqual([name === "memory", true, true, true]);
    expect(await ada.flushed(false)).toBe(false);
    expect((await qdrant.client.count(name, { exact: true })).count).toBe(0);
    const { parts } = await on.composed.readiness();
    expect((name === "memory" ? parts.long_term : parts.history)?.status).toBe("degraded");

    await made(64);
    await qdrant.client.upsert(name, { points: points as Point[], wait: true });
    await on.heal();
    expect(await caughtUp(ada, 1 + said.length)).toBe("all caught up");
    expect(textsOf(await bob.ask())).toEqual(["Prefers opera evenings"]);
    await ada.say("Don't remember this: what did I say about jazz last time?");
    const well = (await on.composed.readiness()).parts;
    expect([well.long_term?.status, well.history?.status]).toEqual(["ok", "ok"]);
  },
);

test("a Qdrant whose collection is of another dimension stops the start, and says what to do", async () => {
  await expect(
    Rig.open(({ qdrant }) =>
      qdrant.client.createCollection("memory", { vectors: { size: 8, distance: "Cosine" }, sparse_vectors: { bm25: { modifier: "idf" } } }),
    ),
  ).rejects.toMatchObject({ code: "REINDEX_REQUIRED" });
});
