import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { DEFAULT_TENANT, type Owner, ownerOf, plainUser } from "../domain/owner.js";
import type { Clock } from "../platform/clock.js";
import { AppError, isAppError } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import type { Chat, ChatEvent } from "../ports/application.js";
import { type Identities, type Merge, type MergeEnds, type MergeRequest, mergeLockKey } from "../ports/identities.js";
import type { OwnerLedger } from "../ports/owner-ledger.js";
import { byAnyId, type FormerSessionIds } from "../ports/session-names.js";
import type { Lease, TurnLock } from "../ports/session-store.js";
import {
  MERGE_JOB,
  type MergeRecord,
  type MergeRecords,
  mergeOf,
  newMergeId,
  ownerOfMerge,
  TAKEN_FOR_ANOTHER,
  UNFINISHED,
  undoUntilMs,
} from "./merge-record.js";
import { MergeSteps, type MergeStepsParts } from "./merge-steps.js";

/** `keep`: jobs whose progress stays in the ledger. */
type EraseDormant = (owner: Owner, keep: readonly string[]) => Promise<unknown>;

interface IdentityParts extends MergeStepsParts {
  readonly records: MergeRecords;
  readonly ledger: OwnerLedger;
  readonly locks: Pick<TurnLock, "acquire">;
  /** Lets an erasure of `to` end the work and wait for it. @throws OWNER_ERASED, SHUTTING_DOWN */
  readonly begin: (owner: Owner) => { readonly signal: AbortSignal; end(): void };
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The key of the lock by which a user is in one merge at a time, as either of the two. */
const userLockKey = (owner: Owner): string => JSON.stringify(["merged", owner]);

/** How long a merge waits for another one of either user, in milliseconds. */
const WAIT_MS = 30_000;

/**
 * Identities that become known. A merge is a durable record first, then a fence around `from` as an erasure's, then copies: what is
 * `from`'s lies as it was for 30 days, out of reach, and `from` is taken for `to`. What a crash interrupts is done again from the record.
 */
export class IdentityService implements Identities {
  readonly #parts: IdentityParts;
  readonly #steps: MergeSteps;
  /** What this process does to a merge now, by `from`. */
  readonly #running = new Map<Owner, Promise<unknown>>();

  constructor(parts: IdentityParts) {
    this.#parts = parts;
    this.#steps = new MergeSteps(parts);
  }

  async merge(request: MergeRequest): Promise<Merge> {
    const { tenant = DEFAULT_TENANT } = request;
    const [from, named] = [ownerOf(tenant, plainUser(request.from)), ownerOf(tenant, plainUser(request.to))];
    if (from === named) throw new AppError("SAME_IDENTITY");
    for (;;) {
      const to = await this.resolve(named);
      // Their own target, by another name.
      if (to === from) throw new AppError("IDENTITY_MERGED");
      try {
        return mergeOf(await this.#alone(from, to, (signal) => this.#merge(from, to, request, signal)));
      } catch (error) {
        // Who was merged with somebody while this waited is somebody else now.
        if (!isAppError(error, "OWNER_ERASED") || (await this.resolve(named)) === to) throw error;
      }
    }
  }

  async undo(mergeId: string): Promise<Merge> {
    const found = await this.#found(mergeId);
    return mergeOf(
      await this.#alone(found.from, found.to, async (signal) => {
        const record = await this.#found(mergeId);
        if (record.state === "undone") return record;
        if (record.state === "merging") await this.#steps.finish(record, signal);
        const isOver = ["final", "expiring", "erasing"].includes(record.state);
        if (isOver || undoUntilMs(record) <= this.#parts.clock.now().getTime()) throw new AppError("MERGE_FINAL");
        const merged = (await this.#parts.records.of(record.from)) ?? record;
        return this.#steps.finish(merged.state === "merged" ? await this.#put({ ...merged, state: "undoing" }) : merged, signal);
      }),
    );
  }

  async get(mergeId: string): Promise<Merge> {
    return mergeOf(await this.#found(mergeId));
  }

  async resolve(owner: Owner): Promise<Owner> {
    for (let tries = 1; ; tries++) {
      const record = await this.#parts.records.of(owner);
      if (record === null || record.state === "undone") {
        // Undone by another process.
        this.#steps.letIn(owner);
        return owner;
      }
      if (TAKEN_FOR_ANOTHER.has(record.state)) return record.to;
      if (record.state === "erasing" || tries > 2) throw new AppError("OWNER_ERASED", { retryAfterSeconds: 5 });
      await (this.#running.get(owner) ?? this.#resume(record));
    }
  }

  /** At a start: as {@link resume}, and whose things lie dormant is kept out of this process. */
  async open(): Promise<void> {
    await this.resume();
    for await (const { from } of this.#parts.records.dormant()) await this.#steps.keepOut(from);
  }

  /**
   * Finishes what a crash interrupted, here or in another process; what one that lives is at is left to it. One that can't be finished is
   * logged and stays.
   */
  async resume(): Promise<void> {
    for await (const merge of this.#parts.records.unfinished()) if (!this.#running.has(merge.from)) await this.#tryAgain(merge);
  }

  /** In upkeep: erases what has lain dormant for 30 days. From then on a merge can't be undone. Returns how many. */
  async expire(erase: EraseDormant, signal?: AbortSignal): Promise<number> {
    const { records } = this.#parts;
    let expired = 0;
    for (const merges of [records.unfinished(), records.dormant()])
      for await (const merge of merges) {
        signal?.throwIfAborted();
        if (await this.#expire(merge, erase)) expired += 1;
      }
    return expired;
  }

  async #expire(merge: MergeEnds, erase: EraseDormant): Promise<boolean> {
    const { records, clock, logger } = this.#parts;
    const record = await records.of(merge.from);
    if (record?.state === "merged" && undoUntilMs(record) > clock.now().getTime()) return false;
    if (record?.state !== "merged" && record?.state !== "expiring") {
      // Broken off, or in a copy that was made while it went on, where the record may be older than what is told of it.
      if (!this.#running.has(merge.from)) await this.#tryAgain(merge);
      return false;
    }
    try {
      await this.#alone(record.from, record.to, async () => {
        const expiring = await this.#put({ ...record, state: "expiring" });
        await erase(record.from, [MERGE_JOB]);
        return this.#put({ ...expiring, state: "final" });
      });
      return true;
    } catch (error) {
      logger.warn({ err: error }, "what a merge left dormant could not be erased yet");
      return false;
    }
  }

  async #tryAgain(merge: MergeEnds): Promise<void> {
    await this.#resume(merge, 0).catch((error: unknown) => {
      if (!isAppError(error, "SESSION_BUSY")) this.#parts.logger.error({ err: error }, "a merge could not be finished; it stays open");
    });
  }

  /** For one who holds both locks. */
  async #merge(from: Owner, to: Owner, { idempotencyKey }: MergeRequest, signal: AbortSignal): Promise<MergeRecord> {
    const { records, clock } = this.#parts;
    const key = idempotencyKey === undefined ? undefined : hash("sha256", idempotencyKey);
    const before = await records.of(from);
    if (before !== null && key !== undefined && before.key === key) {
      if (before.to !== to) throw new AppError("IDEMPOTENCY_KEY_REUSED");
      if (before.state === "undone") return before;
    }
    if (before !== null && before.state !== "undone") {
      if (before.to !== to || before.state === "erasing") throw new AppError("IDENTITY_MERGED");
      const finished = await this.#steps.finish(before, signal);
      if (finished.state !== "undone") return finished;
    }
    if ((await records.into(from)).some(({ state }) => state !== "final")) throw new AppError("IDENTITY_MERGED");
    const undone = before === null ? [] : [...(before.undone ?? []), { id: before.id, to: before.to, at: before.at }];
    const begun = { v: 1, id: newMergeId(from), from, to, at: clock.now().toISOString(), state: "merging" } as const;
    const record: MergeRecord = { ...begun, records: [], deleted: [], undone, ...(key !== undefined && { key }) };
    return this.#steps.finish(await this.#put(record), signal);
  }

  /** @throws MERGE_NOT_FOUND */
  async #found(mergeId: string): Promise<MergeRecord> {
    const from = ownerOfMerge(mergeId);
    const record = from === null ? null : await this.#parts.records.of(from);
    if (record === null || record.id !== mergeId) throw new AppError("MERGE_NOT_FOUND");
    return record;
  }

  #resume(merge: MergeEnds, waitMs = WAIT_MS): Promise<void> {
    const { records } = this.#parts;
    const finish = async (signal: AbortSignal) => {
      const record = await records.of(merge.from);
      if (record === null || !UNFINISHED.has(record.state)) return records.settle(record ?? merge, record);
      // What is erased after 30 days is retention's.
      if (record.state !== "expiring") await this.#steps.finish(record, signal);
    };
    return this.#alone(merge.from, merge.to, finish, waitMs);
  }

  #put(record: MergeRecord): Promise<MergeRecord> {
    return this.#parts.records.put(record);
  }

  /** While nobody else merges either of them, in any process, and known of those who come as `from` meanwhile. */
  async #alone<T>(from: Owner, to: Owner, work: (signal: AbortSignal) => Promise<T>, waitMs = WAIT_MS): Promise<T> {
    const before = this.#running.get(from);
    const running = (async () => {
      await before?.catch(() => undefined);
      return this.#locked(from, to, work, waitMs);
    })();
    this.#running.set(from, running);
    try {
      return await running;
    } finally {
      if (this.#running.get(from) === running) this.#running.delete(from);
    }
  }

  async #locked<T>(from: Owner, to: Owner, work: (signal: AbortSignal) => Promise<T>, waitMs: number): Promise<T> {
    const { locks, begin } = this.#parts;
    const leases: Lease[] = [];
    let running: ReturnType<typeof begin> | undefined;
    try {
      // Nobody's, since whom one merges away another may merge into; in one order for all, lest two wait for each other.
      for (const owner of [from, to].sort()) leases.push(await locks.acquire(userLockKey(owner), { waitMs }));
      running = begin(to);
      leases.push(await locks.acquire(mergeLockKey(to), { waitMs, signal: running.signal, owner: to }));
      return await work(AbortSignal.any([running.signal, ...leases.map(({ signal }) => signal)]));
    } catch (error) {
      // Whatever it broke off: an erasure came in between.
      if (running?.signal.aborted) throw new AppError("OWNER_ERASED", { cause: error, retryAfterSeconds: 5 });
      throw error;
    } finally {
      for (const lease of leases) await lease.release();
      running?.end();
    }
  }
}

/**
 * How long "is nobody else" is believed where a turn begins, in milliseconds: far below the 30 days for which a merge's fence refuses
 * whatever the merged user would write.
 */
const BELIEVED_MS = 24 * 60 * 60 * 1000;
const MAX_BELIEVED = 10_000;

interface TurnRequest {
  readonly owner: Owner;
  readonly sessionId?: string;
}
type TurnOptions = NonNullable<Parameters<Chat["chat"]>[1]>;

/**
 * The door of turns, for owners by any name that they have been known by. A turn costs no look at who its user is: it begins with a write,
 * which is refused where the user has been merged since, and only then is that read.
 */
export function resolvedTurns(chat: Chat, identities: Pick<Identities, "resolve">, former: FormerSessionIds): Chat {
  const unmerged = new LRUCache<Owner, true>({ max: MAX_BELIEVED, ttl: BELIEVED_MS });
  const run = async <R extends TurnRequest, T>(
    request: R,
    options: TurnOptions | undefined,
    turn: (request: R, options?: TurnOptions) => Promise<T>,
  ): Promise<T> => {
    const { owner } = request;
    if (unmerged.has(owner)) {
      let begun = false;
      const onEvent = (event: ChatEvent) => {
        begun = true;
        return options?.onEvent?.(event);
      };
      try {
        return await turn(request, { ...options, onEvent });
      } catch (error) {
        if (begun || !(isAppError(error, "OWNER_ERASED") || isAppError(error, "SESSION_NOT_FOUND"))) throw error;
        unmerged.delete(owner);
      }
    }
    const now = await identities.resolve(owner);
    if (now === owner) unmerged.set(owner, true);
    return byAnyId(former, now, request.sessionId, (sessionId) =>
      turn({ ...request, owner: now, ...(sessionId !== undefined && { sessionId }) }, options),
    );
  };
  return {
    chat: (request, options) => run(request, options, (as, given) => chat.chat(as, given)),
    resume: (request, options) => run(request, options, (as, given) => chat.resume(as, given)),
  };
}
