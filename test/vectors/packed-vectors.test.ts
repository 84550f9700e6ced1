import { expect, test } from "vitest";
import { withPackedVectors } from "../../src/vectors/local/local-protocol.js";

const long = Array.from({ length: 768 }, (_, n) => n / 7);
const sparse = { indices: [1, 2], values: [0.5, 1] };

test("dense vectors of a call are packed, to the last bit, and nothing else is touched", () => {
  const filter = { must: [{ key: "user_id", match: { value: "ada" } }] };
  const sent = withPackedVectors("query", {
    prefetch: [
      { query: long, filter },
      { query: sparse, using: "bm25" },
    ],
    query: long,
    filter,
  });
  expect(sent).toEqual({
    prefetch: [
      { query: Float64Array.from(long), filter },
      { query: sparse, using: "bm25" },
    ],
    query: Float64Array.from(long),
    filter,
  });
  const points = [
    { id: "a", vector: { "": long, bm25: sparse }, payload: { numbers: long } },
    { id: "b", vector: long },
  ];
  expect(withPackedVectors("upsert", { points, wait: true })).toEqual({
    points: [
      { id: "a", vector: { "": Float64Array.from(long), bm25: sparse }, payload: { numbers: long } },
      { id: "b", vector: Float64Array.from(long) },
    ],
    wait: true,
  });
});

test("what is no vector is sent as it is, for whoever checks it", () => {
  for (const args of [
    undefined,
    null,
    7,
    { query: "jazz" },
    { query: [...long, "x"] },
    { query: [1, 2] },
    { points: 3 },
    { points: [null] },
  ]) {
    expect(withPackedVectors("query", args)).toEqual(args);
    expect(withPackedVectors("upsert", args)).toEqual(args);
  }
});
