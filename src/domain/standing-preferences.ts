import { addTo } from "../platform/lists.js";
import { lastConfirmedAt, type MemoryRecord } from "./memory-record.js";

const DAY_MS = 86_400_000;

export interface Ranking {
  /** Days after which the weight of a soft preference is half. Default MEMORY_HALF_LIFE_DAYS (180). */
  readonly halfLifeDays: number;
  /** Categories, those that matter most to a booking first. */
  readonly categoryOrder: readonly string[];
}

/**
 * What a standing preference weighs: its confidence, more when it was said often, halved every half-life since it was last
 * confirmed or recalled. Hard constraints don't decay, and nothing is deleted by it.
 */
export function weight(record: MemoryRecord, now: Date, ranking: Ranking): number {
  const often = 1 + Math.log2(record.seen_count) / 4;
  if (record.strength === "hard") return record.confidence * often;
  const last = Math.max(lastConfirmedAt(record), record.last_recalled_at === null ? 0 : Date.parse(record.last_recalled_at));
  const days = Math.max(0, now.getTime() - last) / DAY_MS;
  return record.confidence * often * 2 ** (-days / ranking.halfLifeDays);
}

/**
 * The first of each category in turn, then the second of each, …: one talkative category doesn't crowd out the rest.
 * Within a category by `compare`; `other` and unknown categories come when the known ones are exhausted of that turn.
 */
function acrossCategories(
  records: readonly MemoryRecord[],
  limit: number,
  categoryOrder: readonly string[],
  compare: (a: MemoryRecord, b: MemoryRecord) => number,
): MemoryRecord[] {
  const byCategory = new Map<string, MemoryRecord[]>();
  for (const record of [...records].sort(compare)) addTo(byCategory, record.category, record);
  const place = (category: string) => {
    const index = categoryOrder.indexOf(category);
    return index === -1 ? categoryOrder.length : index;
  };
  const categories = [...byCategory].sort(([a], [b]) => place(a) - place(b) || (a < b ? -1 : 1)).map(([, list]) => list);
  const chosen: MemoryRecord[] = [];
  const longest = Math.max(0, ...categories.map((list) => list.length));
  for (let turn = 0; turn < longest && chosen.length < limit; turn++) {
    for (const list of categories) {
      const record = list[turn];
      if (record !== undefined && chosen.length < limit) chosen.push(record);
    }
  }
  return chosen;
}

/** The standing preferences that a turn is always given, heaviest of each category first. */
export function topStanding(records: readonly MemoryRecord[], limit: number, now: Date, ranking: Ranking): MemoryRecord[] {
  const weights = new Map(records.map((record) => [record.id, weight(record, now, ranking)]));
  return acrossCategories(
    records,
    limit,
    ranking.categoryOrder,
    (a, b) => (weights.get(b.id) ?? 0) - (weights.get(a.id) ?? 0) || (a.id < b.id ? -1 : 1),
  );
}
