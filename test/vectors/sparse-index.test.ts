import fc from "fast-check";
import { expect, test } from "vitest";
import { SparseIndex } from "../../src/vectors/local/sparse-index.js";
import type { KeptSparse } from "../../src/vectors/requests/point.js";

const indices = fc.uniqueArray(fc.nat(30), { maxLength: 8 });
const sparse = indices.chain((at) =>
  fc
    .array(fc.integer({ min: -4, max: 4 }), { minLength: at.length, maxLength: at.length })
    .map((values): KeptSparse => ({ indices: new Uint32Array(at), values: new Float32Array(values) })),
);
/** Around the number from which postings are made. */
const vectors = fc.oneof(fc.array(sparse, { maxLength: 20 }), fc.array(sparse, { minLength: 120, maxLength: 140 }));

function dot(a: KeptSparse, b: KeptSparse): number | null {
  const shared = [...a.indices].flatMap((index, i) => {
    const at = b.indices.indexOf(index);
    return at < 0 ? [] : [(a.values[i] ?? 0) * (b.values[at] ?? 0)];
  });
  return shared.length === 0 ? null : shared.reduce((sum, product) => sum + product, 0);
}

test("few points or many: each that shares an index with the query is found with the dot product, under the vector's own name", () => {
  fc.assert(
    fc.property(vectors, sparse, fc.array(fc.nat(139), { maxLength: 10 }), (all, query, removed) => {
      const index = new SparseIndex();
      for (const [slot, vector] of all.entries()) {
        index.add(slot, new Map([["bm25", vector]]));
        if (removed.includes(slot)) index.remove(slot);
      }
      expect(index.find("other", query, all.length).count).toBe(0);
      const found = () => {
        const { count, slots, scores } = index.find("bm25", query, all.length);
        return [...slots.subarray(0, count)].map((slot): [number, number] => [slot, scores[slot] ?? Number.NaN]);
      };
      const first = found();
      expect(found(), "the query before leaves nothing behind").toEqual(first);
      const told = first.filter(([slot]) => !removed.includes(slot)).sort(([a], [b]) => a - b);
      const expected = all.flatMap((vector, slot) => {
        const score = removed.includes(slot) ? null : dot(vector, query);
        return score === null ? [] : [[slot, score]];
      });
      expect(told).toEqual(expected);
    }),
  );
});

test("of few points it takes less than half of what postings would", () => {
  const vector = (n: number) => ({ indices: Uint32Array.from({ length: 20 }, (_, i) => n * 20 + i), values: new Float32Array(20).fill(1) });
  const [few, many] = [new SparseIndex(), new SparseIndex()];
  for (let slot = 0; slot < 100; slot++) few.add(slot, new Map([["bm25", vector(slot)]]));
  for (let slot = 0; slot < 200; slot++) many.add(slot, new Map([["bm25", vector(slot)]]));
  expect(few.bytes).toBeGreaterThan(100 * 20 * 8);
  expect(few.bytes).toBeLessThan(many.bytes / 4);
});
