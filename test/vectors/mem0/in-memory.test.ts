import { expect, test } from "vitest";
import { recordOf } from "../../../src/domain/memory-record.js";
import { ownerOf } from "../../../src/domain/owner.js";
import { longTermContract, NOW, TestClock } from "../../contract/long-term.contract.js";
import { InMemoryLongTerm } from "../../support/in-memory-long-term.js";
import { InMemoryStore } from "../../support/in-memory-store.js";
import { sampleMemory } from "../../support/samples.js";

longTermContract("The fake of other tests", async (clock) => ({ memory: new InMemoryLongTerm(clock), close: async () => {} }));

test("what the fake of the store finds is taken from the memories that are known", async () => {
  const ann = ownerOf("default", "ann");
  const store = new InMemoryStore(new TestClock());
  const likes = (id: string) => recordOf(sampleMemory({ id, text: `Likes jazz, ${id}`, valid_from: NOW.toISOString() }));
  const [kept, gone] = [likes("kept"), likes("gone")];
  await store.project(ann, { puts: [kept, gone], removed: [], marker: { seq: 1, count: 2, epoch: 0 } }, {});
  const confirmed = { ...kept, seen_count: 2 };
  const search = { text: "jazz", limit: 5, known: new Map([[kept.id, confirmed]]) };
  expect(await store.similar(ann, search)).toEqual([confirmed]);
  expect((await store.search(ann, { ...search, fields: {} })).map(({ record }) => record)).toEqual([confirmed]);
});
