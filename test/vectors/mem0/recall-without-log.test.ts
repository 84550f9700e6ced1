import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Memory } from "../../../src/domain/memory.js";
import { recordOf } from "../../../src/domain/memory-record.js";
import { ownerOf } from "../../../src/domain/owner.js";
import type { Mem0Service } from "../../../src/vectors/mem0/mem0-service.js";
import { NOW, TestClock } from "../../contract/long-term.contract.js";
import { openMem0 } from "../../support/mem0.js";
import { sampleMemory } from "../../support/samples.js";
import { VectorDouble } from "../../support/vector-double.js";

const ann = ownerOf("default", "ann");
/** Over two pages of a scroll. */
const SOFT = 600;
const ALLERGY = "Is allergic to nuts";

let dir: string;
let double: VectorDouble;
let store: Mem0Service;

const at = NOW.toISOString();
const record = (id: string, change: Partial<Memory>) =>
  recordOf(sampleMemory({ id, need: null, created_at: at, stated_at: at, valid_from: at, last_confirmed_at: at, ...change }));
const soft = Array.from({ length: SOFT }, (_, n) =>
  record(`00000000-0000-4000-8000-${String(n).padStart(12, "0")}`, { strength: "soft", category: "genre", text: `Likes composer ${n}` }),
);
// The last of all in the order of ids.
const allergy = record("ffffffff-ffff-4fff-bfff-ffffffffffff", {
  strength: "hard",
  type: "constraint",
  category: "dietary",
  text: ALLERGY,
});

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-mem0-"));
  double = new VectorDouble();
  store = (await openMem0({ dir, store: double.store(), clock: new TestClock() })).store;
  await store.project(ann, { puts: [...soft, allergy], removed: [], marker: { seq: 1, count: SOFT + 1, epoch: 0 } }, {});
  double.calls.length = 0;
});
afterEach(() => rm(dir, { recursive: true }));

const recall = (signal?: AbortSignal) => store.recall(ann, { text: "", now: NOW, deadlineMs: 20_000, ...(signal && { signal }) });
const isForHard = (args: unknown) => JSON.stringify(args).includes('"hard"');

test("what must hold is given though the soft memories never come", async () => {
  const gaveUp = new AbortController();
  double.fail = (_call, args) => (isForHard(args) ? undefined : new Promise<never>(() => {}));
  double.answer = (points) => {
    setImmediate(() => gaveUp.abort());
    return points;
  };
  const { found } = await recall(gaveUp.signal);
  expect(found.records.map(({ text }) => text)).toEqual([ALLERGY]);
});

test("soft memories are given though what must hold never comes", async () => {
  const gaveUp = new AbortController();
  double.fail = (_call, args) => (isForHard(args) ? new Promise<never>(() => {}) : undefined);
  double.answer = (points) => {
    setImmediate(() => gaveUp.abort());
    return points;
  };
  const { status, found } = await recall(gaveUp.signal);
  expect(status).toBe("timeout");
  expect(found.records).toHaveLength(256);
});

test("however many are kept, two requests read what is given", async () => {
  const { status, found } = await recall();
  expect(status).toBe("ok");
  expect(found.records[0]?.text).toBe(ALLERGY);
  expect(found.records).toHaveLength(1 + 256);
  expect(double.calls.map(({ call }) => call)).toEqual(["scroll", "scroll"]);
});
