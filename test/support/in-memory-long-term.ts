import { CONCIERGE_CATEGORIES } from "../../packages/concierge/src/categories.js";
import { CONCIERGE_NEEDS } from "../../packages/concierge/src/needs.js";
import { check } from "../../src/memories/checks/check.js";
import type { ReadMessage } from "../../src/memories/memories.js";
import type { CheckProposed } from "../../src/memories/tool-proposals.js";
import { type Clock, systemClock } from "../../src/platform/clock.js";
import { AppError } from "../../src/platform/errors.js";
import { silentLogger } from "../../src/platform/logger.js";
import { AppliedMemories } from "./applied-memories.js";
import { InMemoryStore } from "./in-memory-store.js";
import { InMemoryMemoryLog, InMemoryOwnerLedger } from "./memory-stores.js";

/** A reader that no test expects to be asked. */
export const noReader: ReadMessage = async () => {
  throw new AppError("INTERNAL", { detail: "A message was read, and no reader was scripted." });
};

/** The concierge's own check, by words alone. */
export const checkByWords: CheckProposed = async (message, operations) =>
  check(
    message,
    { operations: [...operations], off_record: null, unreadable: 0 },
    { reader: "tool", categories: CONCIERGE_CATEGORIES, needs: CONCIERGE_NEEDS },
  );

export interface InMemoryLongTermOptions {
  readonly readMessage?: ReadMessage;
  readonly checkProposed?: CheckProposed;
  readonly store?: InMemoryStore;
  readonly ledger?: InMemoryOwnerLedger;
  readonly log?: InMemoryMemoryLog;
}

/**
 * Long-term memory in maps, for tests of everything that stands on its ports: the real use-case over a log and a store in maps.
 * `failWith` puts the store out of reach.
 */
export class InMemoryLongTerm extends AppliedMemories {
  readonly store: InMemoryStore;
  readonly log: InMemoryMemoryLog;

  constructor(clock: Clock = systemClock, options: InMemoryLongTermOptions = {}) {
    const {
      readMessage = noReader,
      checkProposed = checkByWords,
      store = new InMemoryStore(clock),
      ledger = new InMemoryOwnerLedger(),
    } = options;
    const log = options.log ?? new InMemoryMemoryLog(ledger);
    super({ log, store, ledger, readMessage, checkProposed, clock, logger: silentLogger }, { categoriesOf: () => CONCIERGE_CATEGORIES });
    this.store = store;
    this.log = log;
  }

  get failWith(): AppError | null {
    return this.store.failWith;
  }

  set failWith(error: AppError | null) {
    this.store.failWith = error;
  }
}
