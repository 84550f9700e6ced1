import { describe, expect, test } from "vitest";
import { CONCIERGE_CATEGORIES } from "../../../packages/concierge/src/categories.js";
import type { Statement } from "../../../src/domain/memory.js";
import type { MemoryRecord } from "../../../src/domain/memory-record.js";
import { topStanding, weight } from "../../../src/domain/standing-preferences.js";
import { recordFrom } from "../../../src/memories/statement-record.js";
import { derivedId } from "../../../src/platform/ids.js";
import { later, NOW, statement } from "../../contract/long-term.contract.js";

const categoryOrder = CONCIERGE_CATEGORIES.map((category) => category.name);
const ranking = { halfLifeDays: 180, categoryOrder };

function record(text: string, more: Partial<Statement> = {}, over: Partial<MemoryRecord> = {}): MemoryRecord {
  const claim = {
    id: derivedId("memory", text),
    statedAt: NOW.toISOString(),
    source: null,
    statement: statement(text, more),
    waits: null,
  };
  return { ...recordFrom(claim, NOW, CONCIERGE_CATEGORIES), ...over };
}

const stepFree = record("Needs step-free access", { category: "accessibility", strength: "hard" });
const jazz = record("Prefers jazz");
const two = record("Usually books 2 tickets", { category: "party_size" });

describe("Ranking", () => {
  test("a soft preference weighs half after each half-life since it was last confirmed or recalled; a hard one always the same", () => {
    const now = later(180);
    expect(weight(jazz, now, ranking)).toBeCloseTo(0.5);
    expect(weight(jazz, later(360), ranking)).toBeCloseTo(0.25);
    expect(weight({ ...jazz, last_recalled_at: now.toISOString() }, now, ranking)).toBeCloseTo(1);
    expect(weight({ ...jazz, last_confirmed_at: now.toISOString() }, now, ranking)).toBeCloseTo(1);
    expect(weight(stepFree, later(3600), ranking)).toBe(1);
  });

  test("one talkative category doesn't crowd out the others", () => {
    const artists = Array.from({ length: 50 }, (_, n) => record(`Likes band ${n}`, { category: "artist" }, { seen_count: 9 }));
    const chosen = topStanding([...artists, two, jazz], 5, NOW, ranking);
    expect(chosen.slice(0, 3).map(({ category }) => category)).toEqual(["genre", "artist", "party_size"]);
    expect(chosen).toHaveLength(5);
  });
});
