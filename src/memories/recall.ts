import { LRUCache } from "lru-cache";
import type { MemoryRecord } from "../domain/memory-record.js";
import { memoryOf } from "../domain/memory-record.js";
import type { Owner } from "../domain/owner.js";
import type { Logger } from "../platform/logger.js";
import type { MemoryRecall, RecallRequest, RecallResult } from "../ports/memories.js";
import type { FoundMemories, MemoryStore } from "../ports/memory-store.js";
import type { OwnerLogs } from "./owner-logs.js";
import type { OwnerMemories } from "./owner-memories.js";
import type { DecidedRecall, RecallDecider } from "./recall-decider.js";
import { toConfirm } from "./waiting.js";

export interface RecallParts {
  readonly logs: OwnerLogs;
  readonly store: Pick<MemoryStore, "recall" | "countRecalled">;
  /** What decides which memories a message is given; and in its place, where it fails. */
  readonly decision: RecallDecider;
  readonly otherwise: RecallDecider;
  readonly logger: Logger;
}

/** A memory counts as recalled at most once in this time, so that a chat doesn't write at every turn. */
const RECALL_COUNTS_EVERY_MS = 86_400_000;
const ASKED_AT_ONCE = 5;
/** Of more memories than these it is decided among the latest and those that are like the message: to look at each takes too long. */
const MOST_DECIDED = 2_000;
/** After the store was not made level for an owner, their recalls don't try it; after as many owners in a row, nobody's do. */
const NOT_LEVEL_FOR_MS = 5_000;
const OWNERS_IN_A_ROW = 3;
const MAX_OWNERS = 1_000;

/**
 * How the store stands to an owner's log: level, not made so in time (which a write that is under way does too), or failed to be made
 * so. Only what failed makes a recall degraded.
 */
type Level = "level" | "late" | "failed";

/** What a turn reads: the store, made level first where it is not, within the turn's own deadline. */
export class RecallOfMemories implements MemoryRecall {
  readonly #parts: RecallParts;
  readonly #background = new Set<Promise<unknown>>();
  /** Until when an owner's store is not tried again, and why. */
  readonly #notLevel = new LRUCache<Owner, { readonly until: number; readonly as: Level }>({ max: MAX_OWNERS });
  readonly #failedInARow = new Set<Owner>();
  #nobodyUntil = 0;

  constructor(parts: RecallParts) {
    this.#parts = parts;
  }

  async recall(owner: Owner, request: RecallRequest): Promise<RecallResult> {
    const until = performance.now() + request.deadlineMs;
    const level = await this.#level(owner, request);
    const known = await this.#atHand(owner, request);
    const isLevel = level === "level";
    // Of most who come for the first time nothing is remembered yet: that is known without asking the store.
    if (isLevel && known?.records.size === 0) return { status: "empty", memories: [] };
    const left = Math.max(1, Math.floor(until - performance.now()));
    const atHand = known === null ? {} : { known: known.records };
    const alike = this.#parts.decision.alikeFor(request.text);
    const limit = alike === null ? {} : { limit: alike === 0 ? 0 : Math.max(request.limit ?? 0, alike) };
    const chosen = await this.#parts.store.recall(owner, { ...request, ...atHand, ...limit, deadlineMs: left });
    const { found } = chosen;
    const records = known === null || known.records.size > MOST_DECIDED ? found.records : [...known.records.values()];
    const { told, alike: recalled } = await this.#decided(owner, { ...found, records }, request);
    const result: RecallResult = { ...told, status: chosen.status === "ok" && told.memories.length === 0 ? "empty" : chosen.status };
    this.#countRecalled(owner, recalled, request.now);
    const waiting = (talk: boolean) => (known === null || !isLevel ? [] : toConfirm(known.records.values(), request.now, { talk }));
    const asking = waiting(true).slice(0, ASKED_AT_ONCE);
    const settling = request.asked?.length
      ? waiting(false).filter((each) => request.asked?.includes(each.id) && !asking.includes(each))
      : [];
    const status = level === "failed" && (result.status === "ok" || result.status === "empty") ? "degraded" : result.status;
    return {
      ...result,
      status,
      ...(asking.length > 0 && { to_confirm: asking.map(memoryOf) }),
      ...(settling.length > 0 && { to_settle: settling.map(memoryOf) }),
    };
  }

  async #decided(owner: Owner, found: FoundMemories, request: RecallRequest): Promise<DecidedRecall> {
    const { decision, otherwise, logger } = this.#parts;
    try {
      return await decision.decide(owner, found, request);
    } catch (error) {
      logger.warn({ err: error }, "It could not be decided which memories a turn is given");
      return otherwise.decide(owner, found, request);
    }
  }

  /** Waits for what runs in the background. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#background);
  }

  /** Makes the store level where it isn't, within half of the deadline. */
  async #level(owner: Owner, request: RecallRequest): Promise<Level> {
    let tried = false;
    const attempt = async (): Promise<Level> => {
      const { logs, logger } = this.#parts;
      try {
        if (await logs.isLevel(owner, request.memorySeq)) return "level";
        const now = performance.now();
        const left = this.#notLevel.get(owner);
        if (left !== undefined && now < left.until) return left.as;
        if (now < this.#nobodyUntil) return "failed";
        tried = true;
        await logs.level(owner);
        return "level";
      } catch (error) {
        logger.debug({ err: error }, "The store of memories is not level with the log");
        return "failed";
      }
    };
    const level = await beforeAbort(attempt(), "late", request.signal, request.deadlineMs / 2);
    if (tried && !request.signal?.aborted) this.#note(owner, level);
    return level;
  }

  /** What fails for one owner alone is never felt by another. */
  #note(owner: Owner, level: Level): void {
    if (level === "level") {
      this.#notLevel.delete(owner);
      this.#failedInARow.clear();
      this.#nobodyUntil = 0;
      return;
    }
    const until = performance.now() + NOT_LEVEL_FOR_MS;
    this.#notLevel.set(owner, { until, as: level });
    if (level === "late") return;
    this.#failedInARow.add(owner);
    if (this.#failedInARow.size < OWNERS_IN_A_ROW) return;
    this.#nobodyUntil = until;
    this.#failedInARow.clear();
  }

  async #atHand(owner: Owner, { memorySeq }: RecallRequest): Promise<OwnerMemories | null> {
    return this.#parts.logs.atHand(owner, memorySeq).catch(() => null);
  }

  /** Decay counts from the last recall too: noted off the reply path, at most once a day, and no matter if it fails. */
  #countRecalled(owner: Owner, recalled: readonly MemoryRecord[], now: Date): void {
    const isDue = ({ last_recalled_at: at }: MemoryRecord) => at === null || now.getTime() - Date.parse(at) >= RECALL_COUNTS_EVERY_MS;
    const ids = new Set(recalled.filter(isDue).map(({ id }) => id));
    if (ids.size === 0) return;
    const { logs, logger, store } = this.#parts;
    const at = now.toISOString();
    const work = logs
      .change(
        owner,
        ({ records }) => {
          const due = [...records.values()].filter((record) => ids.has(record.id) && isDue(record));
          const puts = due.map((record) => ({ ...record, last_recalled_at: at }));
          const result = puts.map(({ id }) => id);
          return { entry: puts.length === 0 ? null : { kind: "recalled", turn: null, puts, removed: [] }, result };
        },
        { now, store: "later" },
      )
      .then(({ result: counted }) => (counted.length === 0 ? undefined : store.countRecalled(owner, counted, at)))
      .catch((error: unknown) => logger.debug({ err: error }, "A recall was not counted"))
      .finally(() => this.#background.delete(work));
    this.#background.add(work);
  }
}

/** What the work gives, or `otherwise` once the time is up or the signal aborts. */
function beforeAbort<T>(work: Promise<T>, otherwise: T, signal: AbortSignal | undefined, ms: number): Promise<T> {
  return new Promise((resolve) => {
    const done = (value: T) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", aborted);
      resolve(value);
    };
    const aborted = () => done(otherwise);
    const timer = setTimeout(aborted, ms);
    signal?.addEventListener("abort", aborted, { once: true });
    if (signal?.aborted) aborted();
    void work.then(done);
  });
}
