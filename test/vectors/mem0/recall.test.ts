import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CONCIERGE_CATEGORIES } from "../../../packages/concierge/src/categories.js";
import { CONCIERGE_RECALL } from "../../../packages/concierge/src/recall-table.js";
import { ownerOf } from "../../../src/domain/owner.js";
import { HashingEmbedder } from "../../../src/embedding/hashing-embedder.js";
import { RecallByOccasion, StandingRecall } from "../../../src/memories/memories.js";
import { AppError } from "../../../src/platform/errors.js";
import type { Embedder } from "../../../src/ports/embedding.js";
import { later, NOW, said, statement, TestClock } from "../../contract/long-term.contract.js";
import type { AppliedMemories } from "../../support/applied-memories.js";
import { openMem0 } from "../../support/mem0.js";
import { InMemoryOwnerLedger } from "../../support/memory-stores.js";
import { VectorDouble } from "../../support/vector-double.js";

const ann = ownerOf("default", "ann");
const bob = ownerOf("default", "bob");

/** The hashing embedder, counted, and broken at will. */
class SwitchedEmbedder implements Embedder {
  readonly #inner = new HashingEmbedder({ dimension: 64 });
  readonly id = this.#inner.id;
  readonly dimension = 64;
  readonly lexical = true;
  calls: (readonly string[])[] = [];
  how: (texts: readonly string[]) => Promise<readonly Float32Array[]> = (texts) => this.#inner.embed(texts);

  embed(texts: readonly string[]) {
    this.calls.push(texts);
    return this.how(texts);
  }
}

const never = () => new Promise<never>(() => {});

describe("Recall", () => {
  let dir: string;
  let double: VectorDouble;
  let embedder: SwitchedEmbedder;
  let memory: AppliedMemories;
  const recall = (deadlineMs = 20_000, signal?: AbortSignal) =>
    memory.recall(ann, { text: "Jazz in Leeds with Ella", now: NOW, deadlineMs, ...(signal === undefined ? {} : { signal }) });

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "maitred-mem0-"));
    double = new VectorDouble();
    embedder = new SwitchedEmbedder();
    const opened = await openMem0({
      dir,
      store: double.store(),
      clock: new TestClock(),
      embedder,
      options: { breaker: { failures: 3, halfOpenAfterMs: 5_000 } },
    });
    memory = opened.memory;
    await memory.apply(
      ann,
      [
        said(ann, "Prefers jazz", { aspect: "jazz" }),
        said(ann, "Needs step-free access", { category: "accessibility", aspect: "step-free", strength: "hard", type: "constraint" }),
        said(ann, "Saw jazz in Leeds", { type: "episodic", category: "other" }),
      ],
      { now: NOW },
    );
    embedder.calls = [];
  });
  afterEach(async () => {
    vi.useRealTimers();
    double.fail = () => {};
    await memory.close();
    await rm(dir, { recursive: true });
  });
  const texts = (result: { memories: readonly { text: string }[] }) => result.memories.map(({ text }) => text);
  const failing = (which: (call: string, args: unknown) => boolean, how: () => void | Promise<void>) => {
    double.fail = (call, args) => (which(call, args) ? how() : undefined);
  };
  const refuse = () => {
    throw new Error("connection refused");
  };

  test("embeds the message once, names in it or not", async () => {
    await recall();
    expect(embedder.calls).toEqual([["Jazz in Leeds with Ella"]]);
  });

  test("a trip to come is given before it begins, with its first day, and so is when a wish holds", async () => {
    const days = { valid_from: "2026-04-10T00:00:00.000Z", valid_until: "2026-04-14T23:59:59.000Z" };
    const flight = said(ann, "Flies to Lisbon", { category: "location", type: "fact", scope: "trip", ...days });
    const aisle = said(ann, "Prefers the aisle", { category: "seating", aspect: "position", condition: "for opera" });
    await memory.apply(ann, [flight, aisle], { now: NOW });
    const ofFlight = { text: "Flies to Lisbon", ...days };
    const ofAisle = { text: "Prefers the aisle", condition: "for opera" };
    expect((await recall()).memories).toEqual(expect.arrayContaining([ofFlight, ofAisle].map((each) => expect.objectContaining(each))));
  });

  test("what held before it was kept tells since when; what holds since then has no day of its own", async () => {
    const moved = said(ann, "Lives in Bonn", { category: "location", aspect: "home", valid_from: "2025-11-03T10:00:00.000Z" });
    await memory.apply(ann, [moved], { now: NOW });
    const { memories } = await recall();
    expect(memories.find(({ text }) => text === "Lives in Bonn")?.valid_from).toBe("2025-11-03T10:00:00.000Z");
    expect(memories.filter(({ valid_from }) => valid_from !== undefined)).toHaveLength(1);
  });

  test("an embedder that fails costs the likeness alone, and is told", async () => {
    embedder.how = async () => {
      throw new AppError("EMBEDDING_UNAVAILABLE");
    };
    const result = await recall();
    expect(result.status).toBe("degraded");
    expect(texts(result)).toEqual(["Needs step-free access", "Prefers jazz"]);
  });

  test("an embedder that fails is left alone after three times, and the store is read all the same", async () => {
    embedder.how = async () => {
      throw new AppError("EMBEDDING_UNAVAILABLE");
    };
    for (let n = 0; n < 5; n++) await recall();
    expect(embedder.calls).toHaveLength(3);
    const result = await recall();
    expect(result.status).toBe("degraded");
    expect(texts(result)).toEqual(["Needs step-free access", "Prefers jazz"]);
    expect((await memory.health()).status).toBe("degraded");
  });

  test("an embedder that hangs, or that answers in another dimension, leaves what came in time", async () => {
    embedder.how = never;
    const late = await recall(30);
    expect(late.status).toBe("timeout");
    expect(texts(late)).toEqual(["Needs step-free access", "Prefers jazz"]);
    embedder.how = async () => [new Float32Array(3)];
    expect((await recall()).status).toBe("degraded");
  });

  test("a store that hangs ends with the deadline, and what the log says is told all the same", async () => {
    failing(() => true, never);
    const result = await recall(30);
    expect(result.status).toBe("timeout");
    expect(texts(result)).toEqual(["Needs step-free access", "Prefers jazz"]);
  });

  test("where nothing is remembered the store is asked for nothing", async () => {
    const ofBob = () => memory.recall(bob, { text: "Jazz in Leeds", now: NOW, deadlineMs: 20_000 });
    await ofBob();
    double.calls.length = 0;
    expect(await ofBob()).toEqual({ status: "empty", memories: [] });
    expect(double.calls).toEqual([]);
    expect(embedder.calls).toEqual([]);
  });

  test("a turn asks the store for what is similar, and for nothing that the log has", async () => {
    double.calls.length = 0;
    expect(texts(await recall())).toEqual(["Needs step-free access", "Prefers jazz", "Saw jazz in Leeds"]);
    expect(double.calls.every(({ call }) => call === "query")).toBe(true);
  });

  test("a search that hangs leaves what the filters found", async () => {
    failing((call) => call === "query", never);
    const result = await recall(200);
    expect(result.status).toBe("timeout");
    expect(texts(result)).toEqual(["Needs step-free access", "Prefers jazz"]);
  });

  test("a store that refuses is degraded, and the next recall after it recovered is whole", async () => {
    failing(() => true, refuse);
    const result = await recall();
    expect(result.status).toBe("degraded");
    expect(texts(result)).toEqual(["Needs step-free access", "Prefers jazz"]);
    double.fail = () => {};
    expect((await recall()).status).toBe("ok");
  });

  test("a dead store is left alone after three failures, then tried once, and used again", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: NOW });
    failing(() => true, refuse);
    for (let n = 0; n < 3; n++) await recall();
    double.calls.length = 0;
    const alone = await recall();
    expect(alone.status).toBe("degraded");
    expect(texts(alone)).toEqual(["Needs step-free access", "Prefers jazz"]);
    expect(double.calls).toEqual([]);
    expect(await memory.health()).toMatchObject({ status: "degraded" });
    vi.setSystemTime(NOW.getTime() + 5_001);
    expect((await recall()).status).toBe("degraded");
    expect(double.calls.length).toBeGreaterThan(0);
    double.calls.length = 0;
    await recall();
    expect(double.calls).toEqual([]);
    vi.setSystemTime(NOW.getTime() + 11_000);
    double.fail = () => {};
    expect((await recall()).status).toBe("ok");
    expect(await memory.health()).toEqual({ status: "ok" });
  });

  test("three recalls in a row that lack something show in health, for as long as none is whole", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: NOW });
    const lying = (points: never[]) => [...points, { id: "stranger", payload: {}, score: 1 } as never];
    for (const [ill, well] of [
      [() => failing(() => true, refuse), () => failing(() => false, refuse)],
      // A store that lies is no less ill: its breaker stays closed, for what it says is checked.
      [() => (double.answer = lying as never), () => (double.answer = (points) => points)],
    ]) {
      ill?.();
      for (let n = 0; n < 2; n++) await recall();
      expect(await memory.health()).toEqual({ status: "ok" });
      await recall();
      expect(await memory.health()).toMatchObject({ status: "degraded" });
      // Nobody talks for a while: nothing got better by that.
      vi.setSystemTime(Date.now() + 60_000);
      expect(await memory.health()).toEqual({ status: "degraded", detail: "The last 3 recalls failed or were late." });
      well?.();
      await recall();
      expect(await memory.health()).toEqual({ status: "ok" });
    }
  });

  test("a store that fails while an embedder hangs is left alone, not the embedder only", async () => {
    embedder.how = () => new Promise((_, reject) => setTimeout(reject, 20, new AppError("EMBEDDING_UNAVAILABLE")));
    failing(() => true, refuse);
    for (let n = 0; n < 3; n++) await recall();
    double.calls.length = 0;
    await recall();
    expect(double.calls).toEqual([]);
  });

  test("writes that fail three times in a row show in health until one goes well", async () => {
    const write = (n: number) => memory.add(ann, statement(`Prefers jazz of the ${n}th kind`), { now: NOW });
    failing((call) => call === "upsert", refuse);
    for (let n = 0; n < 3; n++) await expect(write(n)).rejects.toMatchObject({ code: "LONG_TERM_MEMORY_UNAVAILABLE" });
    // What is logged and not in the store yet is tried again at the next use.
    expect((await recall()).status).toBe("degraded");
    expect(await memory.health()).toEqual({ status: "degraded", detail: expect.stringMatching(/^The last \d writes failed\.$/) });
    double.fail = () => {};
    await write(4);
    expect(await memory.health()).toEqual({ status: "ok" });
  });

  test("callers that give up don't open the breaker", async () => {
    failing(() => true, never);
    for (let n = 0; n < 5; n++) await recall(20_000, AbortSignal.abort());
    double.fail = () => {};
    expect((await recall()).status).toBe("ok");
  });

  test("a store that answers with another user's memories: they are dropped, and the status says degraded", async () => {
    await memory.apply(bob, [said(bob, "Prefers polka", { aspect: "polka" })], { now: NOW });
    const [theirs] = (await memory.list(bob, {})).data;
    const payload = (await double.retrieve("memory", { ids: [theirs?.id ?? ""] }))[0]?.payload;
    double.answer = (points) => [...points, { id: theirs?.id, payload, score: 1 } as never];
    const result = await recall();
    expect(result.status).toBe("degraded");
    expect(texts(result).sort()).toEqual(["Needs step-free access", "Prefers jazz", "Saw jazz in Leeds"]);
    expect(texts({ memories: (await memory.list(ann, {})).data })).not.toContain("Prefers polka");
    await expect(memory.needs(ann, { now: NOW })).rejects.toMatchObject({ code: "LONG_TERM_MEMORY_UNAVAILABLE" });
  });

  test("where the message's vector is late, what its occasion calls for is given all the same, and the status says that it was", async () => {
    const categoriesOf = () => CONCIERGE_CATEGORIES;
    const recall = new RecallByOccasion({ table: CONCIERGE_RECALL, categoriesOf });
    const opened = await openMem0({ dir, store: double.store(), clock: new TestClock(), embedder, recall });
    await opened.memory.apply(
      ann,
      [
        said(ann, "Is allergic to nuts", { category: "dietary", aspect: "nuts", strength: "hard", type: "constraint" }),
        said(ann, "Spends up to 35 euros on a meal", { category: "budget", aspect: "meal budget" }),
        said(ann, "Likes row D", { category: "seating", aspect: "row" }),
      ],
      { now: NOW },
    );
    embedder.how = never;
    embedder.calls = [];
    const ask = (text: string, deadlineMs: number) => opened.memory.recall(ann, { text, now: NOW, deadlineMs });
    // Idle talk is told by its words, and waits for no vector.
    expect(await ask("Thanks!", 20_000)).toMatchObject({ status: "empty", memories: [] });
    expect(embedder.calls).toEqual([]);
    const late = await ask("Where could I have supper?", 1_000);
    expect(late.status).toBe("timeout");
    expect(texts(late).toSorted()).toEqual(["Is allergic to nuts", "Needs step-free access", "Spends up to 35 euros on a meal"]);
    await opened.memory.close();
  });

  test("old soft preferences give way to newer ones when there is room for few, constraints never do", async () => {
    const opened = await openMem0({
      dir,
      store: double.store(),
      clock: new TestClock(),
      embedder,
      recall: new StandingRecall({ categoriesOf: () => CONCIERGE_CATEGORIES, standing: 1, halfLifeDays: 30 }),
    });
    await opened.memory.apply(ann, [said(ann, "Prefers opera", { aspect: "opera", at: later(300).toISOString(), confidence: 0.7 })], {
      now: later(300),
    });
    const result = await opened.memory.recall(ann, { text: "", now: later(301), deadlineMs: 20_000, limit: 0 });
    expect(texts(result)).toEqual(["Needs step-free access", "Prefers opera"]);
    await opened.memory.close();
  });

  test("what was recalled for its likeness counts as recalled, once a day, off the reply path", async () => {
    const writes = () => double.calls.filter(({ call }) => call === "setPayload");
    await recall();
    await memory.close();
    expect(writes().length).toBeGreaterThan(0);
    const before = writes().length;
    await recall();
    await memory.close();
    expect(writes()).toHaveLength(before);
    let release: () => void = () => {};
    failing(
      (call) => call === "setPayload",
      () => new Promise((resolve) => (release = resolve)),
    );
    expect((await memory.recall(ann, { text: "jazz", now: later(2), deadlineMs: 20_000 })).status).toBe("ok");
    release();
    double.fail = () => {};
  });
});

describe("Writing", () => {
  let dir: string;
  let double: VectorDouble;
  let memory: AppliedMemories;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "maitred-mem0-"));
    double = new VectorDouble();
    memory = (await openMem0({ dir, store: double.store(), clock: new TestClock() })).memory;
  });
  afterEach(() => rm(dir, { recursive: true }));
  const jazz = said(ann, "Prefers jazz", { aspect: "jazz" });

  test("a write that is acknowledged and not there is not reported as stored, and its repetition stores it", async () => {
    double.answer = () => [];
    await expect(memory.apply(ann, [jazz], { now: NOW })).rejects.toMatchObject({ code: "LONG_TERM_MEMORY_UNAVAILABLE" });
    double.answer = (points) => points;
    expect((await memory.apply(ann, [jazz], { now: NOW })).stored).toEqual([jazz.memory_id]);
    expect((await memory.list(ann, {})).data).toHaveLength(1);
  });

  test("cut off after any call, the same plan completes to the same memories", async () => {
    const opera = said(ann, "Prefers aisle seats", { category: "seating", aspect: "position" });
    const window = said(ann, "Prefers window seats", { category: "seating", aspect: "position", at: later(1).toISOString() });
    const plan = [jazz, opera, window];
    for (let cut = 0; ; cut++) {
      const owner = ownerOf("default", `cut-${cut}`);
      const own = plan.map((operation, n) => ({ ...operation, memory_id: said(owner, "x", { message: `${n}` }).memory_id }));
      let left = cut;
      let reached = false;
      double.fail = () => {
        reached ||= left === 0;
        if (left-- <= 0) throw new Error("cut off");
      };
      await memory.apply(owner, own, { now: NOW }).catch(() => undefined);
      double.fail = () => {};
      await memory.apply(owner, own, { now: later(2) });
      const all = (await memory.list(owner, { includeSuperseded: true })).data.map(({ text, status, seen_count }) => [
        text,
        status,
        seen_count,
      ]);
      expect(all.sort()).toEqual([
        ["Prefers aisle seats", "superseded", 1],
        ["Prefers jazz", "active", 1],
        ["Prefers window seats", "active", 1],
      ]);
      if (!reached) break;
    }
  });

  test("where a change fails, those under way have ended when it is told, and no more than eight are under way", async () => {
    const wanted = Array.from({ length: 20 }, (_, n) => said(ann, `Prefers jazz ${n}`, { aspect: `jazz ${n}`, message: `${n}` }));
    await memory.apply(ann, wanted, { now: NOW });
    let begun = 0;
    let most = 0;
    let underWay = 0;
    double.fail = async (call) => {
      if (call !== "setPayload") return;
      begun += 1;
      if (begun === 1) throw new Error("cut off");
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise((resolve) => setImmediate(resolve));
      underWay -= 1;
    };
    const again = wanted.map(({ memory_id, source }, n) => ({
      op: "confirm" as const,
      target_id: memory_id,
      stated_at: later(1).toISOString(),
      source: { ...source, message_id: `again ${n}` },
    }));
    await expect(memory.apply(ann, again, { now: later(1) })).rejects.toThrow();
    expect(underWay).toBe(0);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(8);
  });

  test("a forgotten memory's tombstone is there before the memory goes", async () => {
    await memory.apply(ann, [jazz], { now: NOW });
    const opened = await openMem0({
      dir,
      store: double.store(),
      clock: new TestClock(),
      ledger: Object.assign(new InMemoryOwnerLedger(), {
        addTombstones: async () => {
          throw new AppError("STORAGE_UNAVAILABLE");
        },
      }),
    });
    await expect(opened.memory.forget(ann, jazz.memory_id, { now: NOW })).rejects.toThrow();
    expect(await memory.get(ann, jazz.memory_id)).toMatchObject({ text: "Prefers jazz" });
  });

  test("the tombstone holds the messages and a hash, and no word of the text", async () => {
    const opened = await openMem0({ dir, store: double.store(), clock: new TestClock() });
    await opened.memory.apply(
      ann,
      [
        jazz,
        { op: "confirm", target_id: jazz.memory_id, stated_at: later(1).toISOString(), source: { ...jazz.source, message_id: "again" } },
      ],
      { now: NOW },
    );
    await opened.memory.forget(ann, jazz.memory_id, { now: NOW });
    const [tombstone] = await opened.ledger.tombstones(ann);
    expect(tombstone).toMatchObject({ memoryId: jazz.memory_id, messageIds: [jazz.source.message_id, "again"] });
    expect(JSON.stringify(tombstone)).not.toContain("jazz");
  });

  test("the start checks the dimension and the embedder of what is stored", async () => {
    await memory.add(ann, statement("Prefers jazz"), { now: NOW });
    const open = (embedder: Embedder) => openMem0({ dir, store: double.store(), clock: new TestClock(), embedder });
    await expect(open(new HashingEmbedder({ dimension: 128 }))).rejects.toMatchObject({ code: "REINDEX_REQUIRED" });
    const other: Embedder = { id: "another", dimension: 256, lexical: false, embed: async () => [] };
    await expect(open(other)).rejects.toMatchObject({ code: "REINDEX_REQUIRED", hint: expect.stringContaining("maitred reindex") });
    await expect(open(new HashingEmbedder({ dimension: 256 }))).resolves.toBeDefined();
  });

  test("a store that is out of reach doesn't stop the start, and is used when it is back", async () => {
    const late = new VectorDouble();
    late.fail = () => {
      throw new Error("connection refused");
    };
    const opened = await openMem0({ dir, store: late.store(), clock: new TestClock() });
    await expect(opened.memory.list(ann, {})).rejects.toMatchObject({ code: "LONG_TERM_MEMORY_UNAVAILABLE" });
    late.fail = () => {};
    expect((await opened.memory.apply(ann, [jazz], { now: NOW })).stored).toEqual([jazz.memory_id]);
  });

  test("collections are made for many owners before Mem0 could: a tenant index, a graph for each owner", async () => {
    expect(double.calls.find(({ call }) => call === "createCollection")?.args).toMatchObject({
      hnsw_config: { m: 0, payload_m: 16 },
      sparse_vectors: { bm25: { modifier: "idf" } },
    });
    const indexes = double.calls.filter(({ call }) => call === "createPayloadIndex").map(({ args }) => args);
    expect(indexes).toContainEqual({ field_name: "user_id", field_schema: { type: "keyword", is_tenant: true }, wait: true });
  });
});
