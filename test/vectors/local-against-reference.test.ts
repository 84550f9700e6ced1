import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Condition, Filter, Payload } from "../../src/ports/vectors.js";
import { uuid } from "../../src/testing/vectors-contract.js";
import { openLocalQdrant } from "../../src/vectors/local/local-qdrant.js";

/** The plainest thing that could be right: every point in a list, every filter by recursion. */
interface Plain {
  id: string;
  dense: number[];
  payload: Payload;
}

function holds(condition: Condition, point: Plain): boolean {
  if ("has_id" in condition) return condition.has_id.includes(point.id);
  const value = point.payload[condition.key];
  const values = Array.isArray(value) ? value : [value];
  const { match, range } = condition;
  return values.some((one) => {
    if (match !== undefined && "value" in match) return one === match.value;
    if (match !== undefined) return (match.any as unknown[]).includes(one);
    return typeof one === "number" && one >= (range?.gte ?? one) && one < (range?.lt ?? Number.POSITIVE_INFINITY);
  });
}

function passes(filter: Filter, point: Plain): boolean {
  const { must = [], must_not = [] } = filter;
  return must.every((each) => holds(each, point)) && !must_not.some((each) => holds(each, point));
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0);
  return dot / (Math.hypot(...a) * Math.hypot(...b));
}

const owner = fc.constantFrom("ana", "ben", "cem");
const tag = fc.constantFrom("jazz", "rock", "opera");
const dense = fc.tuple(fc.integer({ min: -5, max: 5 }), fc.integer({ min: -5, max: 5 }), fc.integer({ min: 1, max: 5 })).map((v) => [...v]);
const payload = fc.record(
  { user_id: owner, tag: fc.oneof(tag, fc.array(tag, { minLength: 1, maxLength: 2 })), at: fc.nat(9) },
  { requiredKeys: ["user_id"] },
);
const id = fc.nat(15).map(uuid);
const condition: fc.Arbitrary<Condition> = fc.oneof(
  tag.map((value) => ({ key: "tag", match: { value } })),
  fc.array(tag, { minLength: 1, maxLength: 2 }).map((any) => ({ key: "tag", match: { any } })),
  fc.tuple(fc.nat(9), fc.nat(9)).map(([gte, lt]) => ({ key: "at", range: { gte, lt } })),
  owner.map((value) => ({ key: "user_id", match: { value } })),
  fc.array(id, { maxLength: 4 }).map((has_id) => ({ has_id })),
);
const conditions = fc.array(condition, { maxLength: 2 });
const anyones: fc.Arbitrary<Filter> = fc.record({ must: conditions, must_not: conditions }, { requiredKeys: [] });
const filter: fc.Arbitrary<Filter> = fc.oneof(
  anyones,
  fc.tuple(owner, anyones).map(([value, { must = [], ...rest }]) => ({ ...rest, must: [{ key: "user_id", match: { value } }, ...must] })),
);
type Step =
  | { do: "upsert"; id: string; dense: number[]; payload: Payload; mode: "upsert" | "insert_only" | "update_only" }
  | { do: "set"; filter: Filter; payload: Payload }
  | { do: "delete"; filter: Filter }
  | { do: "look"; filter: Filter; query: number[] };
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("upsert" as const),
      id,
      dense,
      payload: payload as fc.Arbitrary<Payload>,
      mode: fc.constantFrom("upsert" as const, "insert_only" as const, "update_only" as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("set" as const), filter, payload: fc.record({ tag }, { requiredKeys: ["tag"] }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("delete" as const), filter }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("look" as const), filter, query: dense }) },
);

describe("LocalQdrant against a plain list", () => {
  test("any mixture of writes leaves the same points, in the same order, with the same scores", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), fc.constantFrom(1, 1_000_000), async (steps, cacheBytes) => {
        const store = await openLocalQdrant({ path: ":memory:", cacheBytes });
        const { client } = store;
        try {
          await client.createCollection("c", { vectors: { size: 3, distance: "Cosine" } });
          const index = (field_name: string, field_schema: "keyword" | "integer" | { type: "keyword"; is_tenant: true }) =>
            client.createPayloadIndex("c", { field_name, field_schema, wait: true });
          await index("user_id", { type: "keyword", is_tenant: true });
          await index("tag", "keyword");
          await index("at", "integer");
          let plain: Plain[] = [];
          for (const now of steps) {
            if (now.do === "upsert") {
              const there = plain.some((point) => point.id === now.id);
              const point = { id: now.id, vector: now.dense, payload: now.payload };
              await client.upsert("c", { points: [point], update_mode: now.mode, wait: true });
              if (there ? now.mode === "insert_only" : now.mode === "update_only") continue;
              plain = [...plain.filter((other) => other.id !== now.id), { id: now.id, dense: now.dense, payload: now.payload }];
            } else if (now.do === "set") {
              await client.setPayload("c", { filter: now.filter, payload: now.payload, wait: true });
              plain = plain.map((point) =>
                passes(now.filter, point) ? { ...point, payload: { ...point.payload, ...now.payload } } : point,
              );
            } else if (now.do === "delete") {
              await client.delete("c", { filter: now.filter, wait: true });
              plain = plain.filter((point) => !passes(now.filter, point));
            } else {
              const expected = plain.filter((point) => passes(now.filter, point)).sort((a, b) => (a.id < b.id ? -1 : 1));
              const { points } = await client.scroll("c", { filter: now.filter, limit: 100 });
              expect(points.map((point) => ({ id: point.id, payload: point.payload }))).toEqual(
                expected.map((point) => ({ id: point.id, payload: point.payload })),
              );
              expect(await client.count("c", { filter: now.filter })).toEqual({ count: expected.length });
              const found = await client.query("c", { query: now.query, filter: now.filter, limit: 100 });
              const scores = new Map(expected.map((point) => [point.id, cosine(now.query, point.dense)]));
              expect(found.points.map((point) => point.id).sort()).toEqual(expected.map((point) => point.id));
              for (const [i, point] of found.points.entries()) {
                expect(point.score).toBeCloseTo(scores.get(String(point.id)) ?? Number.NaN, 4);
                expect(point.score).toBeLessThanOrEqual((found.points[i - 1]?.score ?? 2) + 1e-9);
              }
            }
          }
        } finally {
          await store.close();
        }
      }),
      { numRuns: 150 },
    );
  });
});
