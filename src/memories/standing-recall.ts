import type { CategoriesOf } from "../domain/categories.js";
import { byStated, holdsAt, type MemoryRecord } from "../domain/memory-record.js";
import type { Owner } from "../domain/owner.js";
import { recalledOf } from "../domain/recalled-memory.js";
import { topStanding } from "../domain/standing-preferences.js";
import type { RecallRequest } from "../ports/memories.js";
import type { FoundMemories } from "../ports/memory-store.js";
import type { DecidedRecall, RecallDecider } from "./recall-decider.js";
import { isAtHand } from "./recall-decision.js";

export interface StandingRecallParts {
  readonly categoriesOf: CategoriesOf;
  /** Days after which the weight of a soft memory is half. Default 180. */
  readonly halfLifeDays?: number;
  /** Standing preferences, at most. Default 12. */
  readonly standing?: number;
}

/** Preferences for a time come before the standing ones, the newest first, at most this many. */
const TRIP_LIMIT = 5;

/**
 * Of a domain without a table, which memories a turn is given: all that must hold, what is for a time, the top standing preferences, and
 * what is most like the message.
 */
export class StandingRecall implements RecallDecider {
  readonly #parts: Required<StandingRecallParts>;

  constructor({ categoriesOf, halfLifeDays = 180, standing = 12 }: StandingRecallParts) {
    this.#parts = { categoriesOf, halfLifeDays, standing };
  }

  alikeFor(): null {
    return null;
  }

  async decide(owner: Owner, { records, scores }: FoundMemories, { now }: Pick<RecallRequest, "now">): Promise<DecidedRecall> {
    const { categoriesOf, halfLifeDays, standing: limit } = this.#parts;
    const ranking = { halfLifeDays, categoryOrder: categoriesOf(owner).map(({ name }) => name) };
    const atHand = records.filter((record) => isAtHand(record, now));
    const hard = atHand.filter(({ strength }) => strength === "hard").sort(byStated);
    const soft = atHand.filter(({ strength }) => strength === "soft");
    // One that lies ahead too: it is talked about most before it begins.
    const trip = soft
      .filter((record) => record.valid_until !== null)
      .sort((a, b) => byStated(b, a))
      .slice(0, TRIP_LIMIT);
    const standing = soft.filter((record) => record.valid_until === null);
    const alike = records
      .filter((record) => scores.has(record.id) && holdsAt(record, now) && record.type !== "narrative")
      .sort((a, b) => (scores.get(b.id) ?? 0) - (scores.get(a.id) ?? 0));
    const given = new Set<MemoryRecord>([...hard, ...trip, ...topStanding(standing, limit, now, ranking), ...alike]);
    return {
      told: { memories: [...given].map((record) => recalledOf(record, now, { score: scores.get(record.id) ?? null })) },
      alike: alike.filter(({ strength }) => strength === "soft"),
    };
  }
}
