import { expect, test } from "vitest";
import type { Memory } from "../../src/domain/memory.js";
import { memoryOf, recordOf } from "../../src/domain/memory-record.js";
import { knownFor } from "../../src/memories/turn-reading.js";
import { sampleMemory } from "../support/samples.js";

const now = new Date("2026-06-01T12:00:00Z");
const sampleRecord = (change: Partial<Memory>) => recordOf(sampleMemory({ need: null, ...change }));
const soft = (id: string, category: string) => sampleRecord({ id, category, strength: "soft", text: `Likes ${id}` });
const many = (category: string, count: number) => Array.from({ length: count }, (_, place) => soft(`${category}-${place}`, category));
const idsOf = (...args: Parameters<typeof knownFor>) => knownFor(...args).map(({ id }) => id);

test("a reading knows what its message touches, and not all that is known", () => {
  const near = soft("near", "genre");
  const records = [...many("venue", 60), near, soft("like it", "genre")];
  expect(idsOf("Something with jazz", records, [memoryOf(near)], now).sort()).toEqual(["like it", "near"]);
});

test("all that must hold and all that waits is known whatever the message says", () => {
  const hard = sampleRecord({ id: "hard", strength: "hard", category: "dietary", text: "Is allergic to nuts" });
  const waiting = sampleRecord({ id: "waiting", status: "review", category: "venue", text: "Likes the Blue Room" });
  const near = soft("near", "genre");
  const ids = idsOf("Something with jazz", [...many("venue", 60), hard, waiting, near], [memoryOf(near)], now);
  expect(ids.slice(0, 2).sort()).toEqual(["hard", "waiting"]);
  expect(ids).toHaveLength(3);
});

test("where nearness can't be told, it is the newest", () => {
  expect(idsOf("Something with jazz", many("venue", 60), [], now)).toHaveLength(10);
});
