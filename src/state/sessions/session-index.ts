import type { Owner } from "../../domain/owner.js";
import type { JournalRecord, Session, SessionStatus } from "../../domain/session.js";
import { AppError } from "../../platform/errors.js";
import { isId } from "../../platform/ids.js";
import { KeyedMutex } from "../../platform/keyed-mutex.js";
import type { OwnerActivity, OwnersQuery } from "../../ports/owner-activity.js";
import type { IdempotencyEntry, ListedSession, Page, SessionIndex, SessionQuery } from "../../ports/session-store.js";
import { prefixRange, type StateEngine } from "../engine.js";
import { inBatches } from "../journal/selected-records.js";
import { ownersHolding } from "../owners-holding.js";
import { OWNER_KEY, ownerPartition } from "../partition.js";
import { jsonOf, rowAt, rowsIn } from "../stored-rows.js";
import { standingRequest } from "./index-write.js";
import { ACTIVITIES, activityOf, externalKey, requestKey } from "./keys.js";
import { ExpiringSessions, listSessions, readSessions } from "./list.js";
import { headsOf, ownersOf } from "./owners.js";
import { eraseIndex, indexResidue, removeSession } from "./remove.js";
import { findHead, NO_JOURNAL, newHead, type SessionHeads, type StoredHead } from "./session-row.js";
import type { EngineSessionWriter } from "./session-writer.js";

/** Reads a journal from a seq on, also what was taken back. */
export type ReadJournal = (owner: Owner, sessionId: string, fromSeq: number) => AsyncIterable<JournalRecord>;

interface EngineSessionIndexParts {
  readonly engine: StateEngine;
  readonly writer: EngineSessionWriter;
  readonly heads: SessionHeads;
  /** Whether the journals lie beside the index, in the same rows: then nothing is indexed that has none. */
  readonly hasJournals: boolean;
  /** Where the records come from that were missed. Undefined: those that are given are folded in as they come. */
  readonly readJournal: ReadJournal | undefined;
}

/** Another process may write a session between a look and a write: so often it is looked at anew. */
const MAX_TRIES = 8;

/** What sessions look like: rows in their owners' partitions, which every write of a journal here brings up to date with it. */
export class EngineSessionIndex implements SessionIndex {
  readonly #parts: EngineSessionIndexParts;
  readonly #engine: StateEngine;
  readonly #expiring: ExpiringSessions;
  readonly #mutex = new KeyedMutex();

  constructor(parts: EngineSessionIndexParts) {
    this.#parts = parts;
    this.#engine = parts.engine;
    this.#expiring = new ExpiringSessions(parts.engine);
  }

  /** Has nothing to do for records that a journal's write brought; folds what the index lacks. */
  async apply(owner: Owner, sessionId: string, records: readonly JournalRecord[]): Promise<void> {
    const last = records.at(-1);
    const { heads, readJournal } = this.#parts;
    if (last === undefined || (heads.known(owner, sessionId)?.state?.indexedSeq ?? 0) >= last.seq) return;
    await this.#mutex.run(sessionId, async () => {
      const head = heads.known(owner, sessionId) ?? (await this.#find(owner, sessionId));
      const seq = head.state?.indexedSeq ?? 0;
      const first = records.find((record) => record.seq > seq);
      if (first === undefined) return;
      // The index may be behind the records: an apply that failed, or two that overtook each other.
      const follows = first.seq === seq + 1 || readJournal === undefined || (seq === 0 && first.type === "session");
      for await (const batch of inBatches(follows ? records : readJournal(owner, sessionId, seq + 1)))
        await this.#fold(owner, sessionId, batch);
    });
  }

  async indexedSeq(owner: Owner, sessionId: string): Promise<number> {
    return (await this.#head(owner, sessionId))?.state?.indexedSeq ?? 0;
  }

  async get(owner: Owner, sessionId: string): Promise<Session | null> {
    const [found] = await readSessions(this.#engine, owner, [sessionId]);
    return found?.session ?? null;
  }

  async listed(owner: Owner, sessionId: string): Promise<ListedSession["session"] | null> {
    return (await this.#head(owner, sessionId))?.state?.session ?? null;
  }

  async findByExternalId(owner: Owner, externalId: string): Promise<Session | null> {
    const id = jsonOf<string>(await rowAt(this.#engine, ownerPartition(owner), externalKey(externalId)));
    return id === null ? null : this.get(owner, id);
  }

  list(owner: Owner, query: SessionQuery): Promise<Page<Session>> {
    return listSessions(this.#engine, owner, query);
  }

  async *pages(size: number): AsyncGenerator<readonly ListedSession[]> {
    let page: ListedSession[] = [];
    for await (const owner of ownersOf(this.#engine))
      for await (const heads of headsOf(this.#engine, owner))
        for (const { head } of heads) {
          if (head.state === null) continue;
          page.push({ owner, session: head.state.session });
          if (page.length < size) continue;
          yield page;
          page = [];
        }
    if (page.length > 0) yield page;
  }

  owners(query: OwnersQuery): Promise<Page<OwnerActivity>> {
    return ownersHolding(this.#engine, OWNER_KEY, query, async (owner, { partition }) => {
      const times = (await rowsIn(this.#engine, partition, prefixRange(ACTIVITIES))).map(({ key }) => activityOf(key).updatedAt);
      const lastActiveAt = times.toSorted().at(-1);
      return lastActiveAt === undefined ? null : { owner, sessions: times.length, lastActiveAt };
    });
  }

  async findIdempotent(owner: Owner, key: string, now: Date): Promise<IdempotencyEntry | null> {
    return standingRequest(await rowAt(this.#engine, ownerPartition(owner), requestKey(key)), now);
  }

  async expiring(query: Parameters<SessionIndex["expiring"]>[0]): ReturnType<SessionIndex["expiring"]> {
    const found = await this.#expiring.find(query);
    const sessions = await Promise.all(
      found.map(async ({ owner, id }) => {
        const [read] = await readSessions(this.#engine, owner, [id]);
        if (read === undefined) return [];
        const { statusSince, statusBeforeDelete } = read.state;
        return [{ owner, session: read.session, statusSince, statusBeforeDelete }];
      }),
    );
    return sessions.flat();
  }

  async statusBeforeDelete(owner: Owner, sessionId: string): Promise<SessionStatus | null> {
    return (await this.#head(owner, sessionId))?.state?.statusBeforeDelete ?? null;
  }

  async remove(owner: Owner, sessionId: string): Promise<void> {
    if (!isId(sessionId)) return;
    this.#parts.heads.forget(sessionId);
    await removeSession(this.#engine, owner, sessionId, this.#parts.hasJournals ? "index" : "index without journal");
    this.#parts.heads.forget(sessionId);
  }

  async clear(): Promise<void> {
    for await (const owner of ownersOf(this.#engine)) await eraseIndex(this.#engine, owner, this.#parts.hasJournals);
    this.#parts.heads.clear();
  }

  async erase(owner: Owner): Promise<{ readonly sessions: number; readonly idempotencyKeys: number; readonly pendingTurns: number }> {
    const erased = await eraseIndex(this.#engine, owner, this.#parts.hasJournals);
    this.#parts.heads.clear();
    return erased;
  }

  residue(owner: Owner): Promise<number> {
    return indexResidue(this.#engine, owner);
  }

  async #fold(owner: Owner, sessionId: string, batch: readonly JournalRecord[]): Promise<void> {
    const { heads, writer } = this.#parts;
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      const known = tries === 1 ? heads.known(owner, sessionId) : undefined;
      const head = known ?? (await this.#find(owner, sessionId));
      const after = await writer.foldRecords(head, sessionId, batch);
      // One that was folded in between is not in the head that was known.
      if (after !== null) return after.version === null ? undefined : heads.keep(sessionId, after);
      heads.forget(sessionId);
    }
    throw new AppError("SESSION_CHANGED");
  }

  /** What a fold goes out from. @throws SESSION_NOT_FOUND where it needs a journal, and there is none */
  async #find(owner: Owner, sessionId: string): Promise<StoredHead> {
    const head = await this.#head(owner, sessionId);
    if (!this.#parts.hasJournals) return head === null ? newHead(owner) : { ...head, ...NO_JOURNAL };
    if (head === null || head.incarnation === "") throw new AppError("SESSION_NOT_FOUND");
    return head;
  }

  async #head(owner: Owner, sessionId: string): Promise<StoredHead | null> {
    return isId(sessionId) ? findHead(this.#engine, owner, sessionId) : null;
  }
}
