import fc from "fast-check";
import { expect, test } from "vitest";
import { Partition } from "../../src/vectors/local/partition.js";
import type { KeptPoint } from "../../src/vectors/requests/point.js";

const SESSIONS = 20;
const session = fc.nat(SESSIONS - 1).map((n) => `session-${n}`);
const change = fc.record({
  kind: fc.constantFrom("put", "payload", "remove"),
  key: fc.nat(250),
  value: fc.oneof(session, fc.array(session, { maxLength: 3 }), fc.constant(7)),
});

function point(key: number, value: unknown): KeptPoint {
  return { key: `key-${key}`, payload: { session_id: value, at: key }, payloadChars: 10, dense: null, sparse: new Map() };
}

test("points are found by a key's value as by looking through all of them, whatever was put, changed and removed since", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 300 }), session, (changes, sought) => {
      const partition = new Partition(2);
      for (let key = 0; key < 300; key++) partition.put(point(key, `session-${key % SESSIONS}`));
      // Asked for before and after: what is kept by then follows.
      partition.pointsWith("session_id", new Set([sought]));
      for (const { kind, key, value } of changes) {
        if (kind === "put") partition.put(point(key, value));
        else if (kind === "remove") partition.remove(`key-${key}`);
        else partition.setPayload(`key-${key}`, point(key, value).payload, 10);
      }
      const found = partition.pointsWith("session_id", new Set([sought]));
      const all = [...partition.points()].filter(({ payload }) => [payload.session_id].flat().includes(sought));
      expect(found?.map(({ key }) => key).sort()).toEqual(all.map(({ key }) => key).sort());
    }),
  );
});

test("what is kept for it counts as memory that is taken, and no more once the points are gone", () => {
  const partition = new Partition(2);
  for (let key = 0; key < 300; key++) partition.put(point(key, `session-${key % SESSIONS}`));
  const before = partition.bytes;
  partition.pointsWith("session_id", new Set(["session-1"]));
  const kept = partition.bytes - before;
  expect(kept).toBeGreaterThan(300 * 16);
  for (let key = 0; key < 300; key++) partition.setPayload(`key-${key}`, point(key, 7).payload, 10);
  expect(partition.bytes).toBe(before);
});

test("of few points, or of a key with few values, nothing is kept", () => {
  const few = new Partition(2);
  for (let key = 0; key < 20; key++) few.put(point(key, `session-${key}`));
  expect(few.pointsWith("session_id", new Set(["session-1"]))).toBeNull();

  const alike = new Partition(2);
  for (let key = 0; key < 300; key++) alike.put(point(key, key % 2 === 0 ? "active" : "review"));
  expect(alike.pointsWith("session_id", new Set(["active"]))).toBeNull();
});
