import { setImmediate as nextTick } from "node:timers/promises";
import { type CategoriesOf, type Category, categoryOf } from "../domain/categories.js";
import type { MemoryRecord } from "../domain/memory-record.js";
import type { Owner } from "../domain/owner.js";
import type { RecallTable } from "../domain/recall-table.js";
import { recalledOf } from "../domain/recalled-memory.js";
import type { Need } from "../ports/agent.js";
import type { Embedder } from "../ports/embedding.js";
import type { RecallRequest } from "../ports/memories.js";
import type { FoundMemories } from "../ports/memory-store.js";
import { RecallAnchors } from "./recall-anchors.js";
import type { DecidedRecall, RecallDecider } from "./recall-decider.js";
import { decideRecall, NAMED_AMONG } from "./recall-decision.js";
import { RecallParty } from "./recall-party.js";
import { RecallWords } from "./recall-words.js";

export interface RecallByOccasionParts {
  readonly table: RecallTable;
  readonly categoriesOf: CategoriesOf;
  /** The domain's: a message that names one of them is not idle. Default: none. */
  readonly needs?: readonly Need[];
  /** Tells what messages mean. Default: their words alone tell it. */
  readonly embedder?: Embedder;
  /** Days after which the weight of a soft memory is half. Default 180. */
  readonly halfLifeDays?: number;
  /** Soft memories whose own occasion isn't known, at most, and four of them where a message's isn't. Default 12. */
  readonly standing?: number;
}

/** New memories that are read between two turns of others. */
const READ_AT_ONCE = 100;

/** Decides by a domain's table which memories a turn is given. */
export class RecallByOccasion implements RecallDecider {
  readonly #parts: Required<Omit<RecallByOccasionParts, "embedder" | "needs" | "table">>;
  readonly #words: RecallWords;
  readonly #party: RecallParty;
  readonly #anchors: RecallAnchors | null;

  constructor({ table, needs = [], embedder, categoriesOf, halfLifeDays = 180, standing = 12 }: RecallByOccasionParts) {
    this.#parts = { categoriesOf, halfLifeDays, standing };
    this.#words = new RecallWords(
      table,
      needs.flatMap(({ words = [] }) => words),
    );
    this.#party = new RecallParty(table.party);
    this.#anchors = embedder === undefined || embedder.lexical ? null : new RecallAnchors(table, embedder);
  }

  /** What is idle by its words is given nothing, whatever it is like. */
  alikeFor(text: string): number {
    return this.#words.ofMessage(text).isIdle ? 0 : NAMED_AMONG;
  }

  async decide(
    owner: Owner,
    { records, scores, vector }: FoundMemories,
    { text, now }: Pick<RecallRequest, "text" | "now">,
  ): Promise<DecidedRecall> {
    const { categoriesOf, halfLifeDays, standing } = this.#parts;
    const categories = categoriesOf(owner);
    await this.#read(records, categories);
    const { given, held_back } = decideRecall(
      { records, scores },
      { text, meaning: vector === null ? null : (this.#anchors?.meaningOf(vector) ?? null), now },
      {
        words: this.#words,
        party: this.#party,
        categories,
        ranking: { halfLifeDays, categoryOrder: categories.map(({ name }) => name) },
        standing,
      },
    );
    const memories = given.map(({ record, why }) => recalledOf(record, now, { score: scores.get(record.id) ?? null, why }));
    return {
      told: { memories, held_back },
      alike: given.flatMap(({ record }) => (record.strength === "soft" && scores.has(record.id) ? [record] : [])),
    };
  }

  /** Each memory is read once; of many that are new, others get their turn between. */
  async #read(records: readonly MemoryRecord[], categories: readonly Category[]): Promise<void> {
    let fresh = 0;
    for (const record of records) {
      if (record.status !== "active" || this.#words.hasRead(record)) continue;
      this.#words.ofMemory(record, categoryOf(categories, record.category));
      fresh += 1;
      if (fresh % READ_AT_ONCE === 0) await nextTick();
    }
  }

  /** Resolves when what messages mean can be told by their vectors, or can't be. */
  load(): Promise<void> {
    return this.#anchors?.load() ?? Promise.resolve();
  }
}
