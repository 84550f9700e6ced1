import { beginsAfter, byStated, holdsAt, lastConfirmedAt, type MemoryRecord } from "../../domain/memory-record.js";
import type { Owner } from "../../domain/owner.js";
import { boundedSignal, orAbort } from "../../platform/bounded-signal.js";
import { FailureStreak } from "../../platform/failure-streak.js";
import type { Logger } from "../../platform/logger.js";
import type { SimilarMemory, StoreRecall, StoreRecallResult } from "../../ports/memory-store.js";
import type { Condition } from "../../ports/vectors.js";
import { compareIds, type Foreign, is, isAny, type MemoryPoints, type SimilarMemories } from "./memory-points.js";
import { RecallBreaker, type RecallBreakerOptions, RecallFailed } from "./recall-breaker.js";
import type { StoreCalls } from "./store-calls.js";

/** What recall reads from. Each call is given up when its signal aborts, as far as the store can. */
export interface RecallReads {
  readonly calls: Pick<StoreCalls, "read">;
  readonly points: MemoryPoints;
  embed(text: string, signal: AbortSignal): Promise<readonly number[]>;
  similar(owner: Owner, request: StoreRecall, vector: readonly number[], limit: number): Promise<SimilarMemories>;
}

export interface RecallOptions {
  /** By similarity, at most. Default MEM0_SEARCH_LIMIT (5). */
  readonly searchLimit: number;
  /** Recalls in a row that the store or the embedder fails before it is left alone (default 3), and for how long (default 5,000 ms). */
  readonly breaker: RecallBreakerOptions;
}

/**
 * Soft memories that the standing ones are chosen from: of those at hand the ones said last, of the store's the first by id, which is by
 * chance. The store has no other order, and to read all of very many takes longer than a turn has.
 */
const STANDING_POOL = 256;
const STANDING_TYPES: readonly MemoryRecord["type"][] = ["preference", "procedural", "fact", "constraint"];

interface Gathered {
  /** At hand or read from the store, so far. */
  readonly known: MemoryRecord[];
  hasHard: boolean;
  hasSoft: boolean;
  similar?: readonly SimilarMemory[];
  vector?: readonly number[];
  readonly foreign: Foreign;
  failed: boolean;
  /** The store, as against the embedder. */
  storeFailed: boolean;
  /** The search waits for its vector. */
  embedding: boolean;
}

/**
 * What a turn may be given: all hard constraints that hold, soft ones to choose from, and what is most like the message; the store is
 * asked under one deadline, behind circuit breakers, so that a dead store or embedder costs a few turns their deadline and not every one.
 * Never throws.
 */
export class MemoryRecall {
  readonly #reads: RecallReads;
  readonly #options: RecallOptions;
  readonly #logger: Logger;
  readonly #store: RecallBreaker;
  readonly #embedder: RecallBreaker;
  readonly #streak = new FailureStreak();

  constructor(reads: RecallReads, options: RecallOptions, logger: Logger) {
    this.#reads = reads;
    this.#options = options;
    this.#logger = logger;
    this.#store = new RecallBreaker(options.breaker);
    this.#embedder = new RecallBreaker(options.breaker);
  }

  /** True while the store or the embedder is left alone. */
  get isOpen(): boolean {
    return this.#store.isOpen || this.#embedder.isOpen;
  }

  /** What is left alone for an owner at the moment. */
  leavesAlone(owner: Owner): { readonly store: boolean; readonly embedder: boolean } {
    return { store: this.#store.leavesAlone(owner), embedder: this.#embedder.leavesAlone(owner) };
  }

  /** Recalls in a row that were late, or lacked something that the store has; null for less than three. */
  get failing(): number | null {
    return this.#streak.told;
  }

  async recall(owner: Owner, request: StoreRecall): Promise<StoreRecallResult> {
    const bound = boundedSignal([request.signal], request.deadlineMs);
    const { signal } = bound;
    const isKnown = request.known !== undefined;
    const gathered: Gathered = {
      // Also where the store is out of reach: what must hold is known all the same.
      known: [...(request.known?.values() ?? [])],
      hasHard: isKnown,
      hasSoft: isKnown,
      foreign: { count: 0 },
      failed: false,
      storeFailed: false,
      embedding: false,
    };
    try {
      await this.#store.run(owner, () => this.#gather(owner, request, signal, gathered));
    } catch {
      gathered.failed = true;
    } finally {
      bound.end();
    }
    const result = this.#compose(gathered, request, signal.aborted);
    if (result.status === "ok") this.#streak.wentWell();
    else if (!request.signal?.aborted) this.#streak.failed();
    return result;
  }

  /** Fills `gathered` as answers come. @throws RecallFailed when the store failed or didn't answer in time */
  async #gather(owner: Owner, request: StoreRecall, signal: AbortSignal, gathered: Gathered): Promise<void> {
    const { now, text } = request;
    const { calls, points } = this.#reads;
    const read = async (work: () => Promise<void>, byEmbedder = () => false) => {
      try {
        await work();
      } catch (error) {
        gathered.failed = true;
        if (!byEmbedder()) gathered.storeFailed = true;
        if (!signal.aborted) this.#logger.warn({ err: error }, "A read of long-term memory failed");
      }
    };
    const holding = [is("status", "active"), { key: "valid_until_ts", range: { gte: Math.floor(now.getTime() / 1000) } }];
    const take = (which: readonly Condition[], most = Number.POSITIVE_INFINITY) =>
      calls.read(signal, async () => {
        let taken = 0;
        for await (const record of points.scan(owner, { must: [...holding, ...which] }, gathered.foreign)) {
          gathered.known.push(record);
          taken += 1;
          if (taken >= most) return;
        }
      });
    const limit = request.limit ?? this.#options.searchLimit;
    const reads = Promise.all([
      read(async () => {
        if (gathered.hasHard) return;
        await take([is("strength", "hard")]);
        gathered.hasHard = true;
      }),
      read(async () => {
        if (gathered.hasSoft) return;
        await take([is("strength", "soft"), isAny("type", STANDING_TYPES)], STANDING_POOL);
        gathered.hasSoft = true;
      }),
      read(
        async () => {
          if (limit === 0 || text.trim() === "") {
            gathered.similar = [];
            return;
          }
          gathered.embedding = true;
          const vector = await this.#embed(owner, request, signal);
          gathered.embedding = false;
          gathered.vector = vector;
          const { hits, foreign } = await calls.read(signal, () => this.#reads.similar(owner, request, vector, limit));
          gathered.foreign.count += foreign;
          gathered.similar = hits;
        },
        () => gathered.embedding,
      ),
    ]);
    // What comes later changes nothing.
    await orAbort(reads, signal).catch(() => undefined);
    if (request.signal?.aborted) return;
    const storeIsLate = !gathered.hasHard || !gathered.hasSoft || (gathered.similar === undefined && !gathered.embedding);
    if (gathered.storeFailed || (signal.aborted && storeIsLate)) throw new RecallFailed();
  }

  /** @throws when the embedder fails, is late, or is left alone */
  async #embed(owner: Owner, request: StoreRecall, signal: AbortSignal): Promise<readonly number[]> {
    let vector: readonly number[] = [];
    await this.#embedder.run(owner, async () => {
      try {
        vector = await orAbort(this.#reads.embed(request.text, signal), signal);
      } catch (cause) {
        throw request.signal?.aborted ? cause : new RecallFailed("The embedder gave no vector.", { cause });
      }
    });
    return vector;
  }

  #compose(gathered: Gathered, { now }: StoreRecall, aborted: boolean): StoreRecallResult {
    const holds = (record: MemoryRecord) => holdsAt(record, now);
    const { hard, soft } = standingOf(gathered.known, now);
    const similar = (gathered.similar ?? []).filter(({ record, score }) => score > 0 && holds(record) && record.type !== "narrative");
    const complete = gathered.hasHard && gathered.hasSoft && gathered.similar !== undefined;
    const status = !complete && aborted ? "timeout" : gathered.failed || gathered.foreign.count > 0 ? "degraded" : "ok";
    if (gathered.foreign.count > 0)
      this.#logger.error(
        { count: gathered.foreign.count },
        "The store of memories answered with points that are not the owner's; they were dropped",
      );
    return {
      status,
      found: {
        records: eachOnce([...hard, ...soft, ...similar.map(({ record }) => record)]),
        scores: new Map(similar.map(({ record, score }) => [record.id, score])),
        vector: gathered.vector ?? null,
      },
    };
  }
}

/** Of these what holds or will: the hard ones, and of the soft ones the latest; of soft ones without an end only what holds. */
function standingOf(known: readonly MemoryRecord[], now: Date): { readonly hard: MemoryRecord[]; readonly soft: MemoryRecord[] } {
  const hard: MemoryRecord[] = [];
  const soft: { readonly record: MemoryRecord; readonly at: number }[] = [];
  for (const record of known) {
    const ahead = beginsAfter(record, now);
    const holds = holdsAt(record, now);
    if (record.strength === "hard" && (holds || ahead)) hard.push(record);
    else if ((holds || (ahead && record.valid_until !== null)) && record.strength === "soft" && STANDING_TYPES.includes(record.type))
      soft.push({ record, at: Math.floor(lastConfirmedAt(record) / 1000) });
  }
  const latest = soft.sort((a, b) => b.at - a.at || compareIds(a.record, b.record)).slice(0, STANDING_POOL);
  return { hard: hard.sort(byStated), soft: latest.map(({ record }) => record) };
}

function eachOnce(records: readonly MemoryRecord[]): readonly MemoryRecord[] {
  return [...new Map(records.map((record) => [record.id, record])).values()];
}
