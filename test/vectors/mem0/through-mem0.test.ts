import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ownerOf } from "../../../src/domain/owner.js";
import { loadMem0 } from "../../../src/vectors/mem0/mem0-client.js";
import type { Mem0Service } from "../../../src/vectors/mem0/mem0-service.js";
import { AROUND_MEM0 } from "../../../src/vectors/mem0/memory-points.js";
import { NOW, said, statement, TestClock } from "../../contract/long-term.contract.js";
import type { AppliedMemories } from "../../support/applied-memories.js";
import { openMem0 } from "../../support/mem0.js";
import { VectorDouble } from "../../support/vector-double.js";

const ann = ownerOf("default", "ann");

describe("What goes through mem0ai's Memory, and what goes around it", () => {
  let dir: string;
  let double: VectorDouble;
  let memory: AppliedMemories;
  let store: Mem0Service;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "maitred-mem0-"));
    double = new VectorDouble();
    ({ memory, store } = await openMem0({ dir, store: double.store(), clock: new TestClock() }));
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await memory.close();
    await rm(dir, { recursive: true });
  });

  test("memories are added by Memory.add and found by Memory.search, with inference off and the owner pinned", async () => {
    const { Memory } = await loadMem0(join(dir, "mem0"));
    const add = vi.spyOn(Memory.prototype, "add");
    const search = vi.spyOn(Memory.prototype, "search");
    await memory.apply(ann, [said(ann, "Prefers jazz", { aspect: "jazz" })], { now: NOW });
    await memory.add(ann, statement("Likes opera", { aspect: "opera" }), { now: NOW });
    expect(add.mock.calls.map(([text, options]) => [text, options.userId, options.infer])).toEqual([
      ["Prefers jazz", ann, false],
      ["Likes opera", ann, false],
    ]);
    await memory.recall(ann, { text: "jazz", now: NOW, deadlineMs: 20_000 });
    await memory.search(ann, { text: "jazz" });
    await store.similar(ann, { text: "jazz", limit: 3, known: new Map() });
    expect(search.mock.calls.map(([query, options]) => [query, options.filters?.user_id])).toEqual([
      ["jazz", ann],
      ["jazz", ann],
      ["jazz", ann],
    ]);
  });

  test("without Mem0 nothing is stored and nothing is found by meaning", async () => {
    const { Memory } = await loadMem0(join(dir, "mem0"));
    await memory.apply(ann, [said(ann, "Saw jazz once", { type: "episodic" })], { now: NOW });
    vi.spyOn(Memory.prototype, "search").mockResolvedValue({ results: [] });
    expect((await memory.recall(ann, { text: "jazz", now: NOW, deadlineMs: 20_000 })).memories).toEqual([]);
    expect(await memory.search(ann, { text: "jazz" })).toEqual([]);
    vi.spyOn(Memory.prototype, "add").mockResolvedValue({ results: [{ id: "x", memory: "y", metadata: { event: "ADD" } }] });
    await expect(memory.apply(ann, [said(ann, "Prefers jazz")], { now: NOW })).rejects.toMatchObject({
      code: "LONG_TERM_MEMORY_UNAVAILABLE",
    });
  });

  test("what is listed, found or shown is the caller's own: changing it changes nothing that is kept", async () => {
    const one = said(ann, "Prefers aisle seats", { category: "seating", aspect: "position" });
    await memory.apply(ann, [one], { now: NOW });
    for (const given of [
      (await memory.list(ann, {})).data[0],
      await memory.get(ann, one.memory_id),
      (await memory.search(ann, { text: "aisle seats" }))[0],
    ])
      Array.prototype.push.call(given?.tags, "vip");
    expect((await memory.get(ann, one.memory_id)).tags).toEqual([]);
  });

  test("every call that goes around it stands in the table with its reason; Mem0's update, delete, deleteAll and getAll are never used", async () => {
    const { Memory } = await loadMem0(join(dir, "mem0"));
    const unused = (["update", "delete", "deleteAll", "getAll", "get", "history", "reset"] as const).map((name) =>
      vi.spyOn(Memory.prototype, name),
    );
    const one = said(ann, "Prefers aisle seats", { category: "seating", aspect: "position" });
    await memory.apply(ann, [one, said(ann, "Prefers window seats", { category: "seating", aspect: "position" })], { now: NOW });
    await memory.patch(ann, (await memory.list(ann, {})).data[0]?.id ?? "", { tags: ["x"] }, { now: NOW });
    await memory.recall(ann, { text: "seats", now: NOW, deadlineMs: 20_000 });
    await memory.history(ann, one.memory_id);
    await memory.detachSession(ann, "s1", "drop-quotes");
    await memory.forget(ann, one.memory_id, { now: NOW });
    await memory.erase(ann);
    const setUp = new Set(["collectionExists", "getCollection", "createCollection", "createPayloadIndex"]);
    const throughMem0 = new Set(["upsert", "query"]);
    const around = new Set(double.calls.map(({ call }) => call).filter((call) => !throughMem0.has(call)));
    for (const call of around) expect(setUp.has(call) ? "collections" in AROUND_MEM0 : call in AROUND_MEM0).toBe(true);
    const listed = Object.keys(AROUND_MEM0).filter((call) => call !== "collections" && call !== "upsert");
    expect(listed.filter((call) => ![...around].includes(call as never))).toEqual([]);
    for (const spy of unused) expect(spy).not.toHaveBeenCalled();
  });
});
