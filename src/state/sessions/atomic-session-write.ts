import type { Owner } from "../../domain/owner.js";
import type { JournalRecord, NewRecord } from "../../domain/session.js";
import { AppError } from "../../platform/errors.js";
import { KeyedMutex } from "../../platform/keyed-mutex.js";
import type { AppendOptions, CreateOptions } from "../../ports/session-store.js";
import type { JournalEnd } from "../../ports/transfer.js";
import { checkFirst, checkRewinds, checkSessionId, numberedAll } from "../journal/new-records.js";
import type { RewindMark } from "../journal/selected-records.js";
import { changesOf, type SessionChanges } from "../journal/session-changes.js";
import type { SessionState, Standing } from "../journal/session-fold.js";
import type { SessionHead, SessionHeads } from "./session-heads.js";

/** Another process may write the session between a look and a write: so often it is looked at anew. */
const MAX_TRIES = 5;
/** The conversation before its first record. */
export const NOTHING: Standing = { messageCount: 0, openedBy: null, summary: null };

/** An engine's writes, each in one step: records and what the index makes of them, or neither. */
export interface SessionEngine<Head extends SessionHead> {
  /** The head after the write. @throws SESSION_CHANGED where there is such a session, OWNER_ERASED, IDEMPOTENCY_IN_PROGRESS */
  create(
    owner: Owner,
    sessionId: string,
    records: readonly JournalRecord[],
    changes: SessionChanges | null,
    options?: SessionCreate,
  ): Promise<Head>;
  /** The head after the write; null when the session is not as `head` has it. @throws FENCED, IDEMPOTENCY_IN_PROGRESS */
  append(head: Head, sessionId: string, append: SessionAppend): Promise<Head | null>;
  /** Brings the index from `indexedSeq` on. False when the session or its index is not as `head` has it. */
  fold(head: Head, sessionId: string, changes: SessionChanges): Promise<boolean>;
  /** As the port's `restore`, of a session that is not there. @throws SESSION_CHANGED where there is such a session */
  restore(owner: Owner, sessionId: string, records: () => AsyncIterable<JournalRecord>, end: JournalEnd): Promise<void>;
  /** The conversation as it was after a record: what a rewind goes back to. */
  standingAt(owner: Owner, sessionId: string, seq: number): Promise<Standing>;
}

export interface SessionCreate {
  /** That the owner must be in. Default: any. */
  readonly epoch?: number | undefined;
  /** The fence of the session's lock, which begins with the write. Default: none does. */
  readonly beginsLock?: number | undefined;
}

export interface SessionAppend {
  readonly records: readonly JournalRecord[];
  /** Null where the index is not level, and is left as it is. */
  readonly changes: SessionChanges | null;
  readonly fence: number | null;
  /** The session's lock, which has that fence, begins with the write. */
  readonly beginsLock: boolean;
  /** The same, ends with it. */
  readonly endsLock: boolean;
}

/** Writes sessions on an engine that several processes share. */
export class AtomicSessionWrite<Head extends SessionHead> {
  readonly #engine: SessionEngine<Head>;
  readonly #heads: SessionHeads<Head>;
  readonly #mutex = new KeyedMutex();

  constructor(engine: SessionEngine<Head>, heads: SessionHeads<Head>) {
    this.#engine = engine;
    this.#heads = heads;
  }

  /** As the port's `create`. */
  async create(
    owner: Owner,
    sessionId: string,
    records: readonly NewRecord[],
    { epoch, firstOf }: CreateOptions = {},
  ): Promise<readonly JournalRecord[]> {
    checkSessionId(sessionId);
    const kept = numberedAll(owner, records, 0);
    checkFirst(owner, kept);
    const changes = changesOf(null, sessionId, kept, () => NOTHING);
    const head = await this.#engine.create(owner, sessionId, kept, changes, { epoch, beginsLock: firstOf?.fence });
    firstOf?.begun?.();
    this.#keep(sessionId, head, changes?.state);
    return kept;
  }

  /** As the port's `append`. */
  async append(
    owner: Owner,
    sessionId: string,
    records: readonly NewRecord[],
    { expectedSeq, fence, unanswered, firstOf, lastOf }: AppendOptions = {},
  ): Promise<readonly JournalRecord[]> {
    checkSessionId(sessionId);
    return this.#mutex.run(sessionId, async () => {
      for (let tries = 1; tries <= MAX_TRIES; tries++) {
        const known = tries === 1 ? this.#heads.known(owner, sessionId) : undefined;
        const head = known ?? (await this.#heads.read(owner, sessionId));
        if (head !== known) checkRewinds(records, head.lastSeq);
        if (head.state?.turns.some(({ turn, answeredSeq }) => turn === unanswered && answeredSeq !== null) === true)
          throw new AppError("TURN_ANSWERED");
        if (expectedSeq === undefined || expectedSeq === head.lastSeq) {
          const lock = { fence: fence ?? null, beginsLock: firstOf !== undefined, endsLock: lastOf !== undefined };
          const written = await this.#tryAppend(head, sessionId, records, lock);
          if (written !== null) {
            firstOf?.begun?.();
            if (records.length > 0) lastOf?.ended?.();
            return written;
          }
        } else if (head !== known) throw new AppError("SESSION_CHANGED");
        this.#heads.forget(sessionId);
      }
      throw new AppError("SESSION_CHANGED");
    });
  }

  /** Folds what the index lacks. Records that it has are passed over. @throws SESSION_NOT_FOUND for somebody else's session */
  async fold(owner: Owner, sessionId: string, records: readonly JournalRecord[]): Promise<void> {
    await this.#mutex.run(sessionId, async () => {
      for (let tries = 1; tries <= MAX_TRIES; tries++) {
        const head = await this.#heads.read(owner, sessionId);
        const changes = await this.#changes(head, sessionId, records);
        if (changes === null) return;
        if (await this.#engine.fold(head, sessionId, changes)) return this.#keep(sessionId, head, changes.state);
      }
      throw new AppError("SESSION_CHANGED");
    });
  }

  /** As the port's `restore`, of a session that is not there. */
  async restore(owner: Owner, sessionId: string, records: () => AsyncIterable<JournalRecord>, end: JournalEnd): Promise<void> {
    checkSessionId(sessionId);
    await this.#engine.restore(owner, sessionId, records, end);
  }

  /** Null when the session moved on meanwhile. */
  async #tryAppend(
    head: Head,
    sessionId: string,
    records: readonly NewRecord[],
    lock: Pick<SessionAppend, "fence" | "beginsLock" | "endsLock">,
  ): Promise<readonly JournalRecord[] | null> {
    const { owner, lastSeq, state } = head;
    const kept = numberedAll(owner, records, lastSeq);
    // What was kept in mind is of before what it goes back to.
    if (rewindsIn(kept).some(({ toSeq }) => toSeq > lastSeq)) return null;
    if (kept.length === 0) return kept;
    const isLevel = state !== null && state.indexedSeq === lastSeq;
    const changes = isLevel ? await this.#changes(head, sessionId, kept) : null;
    const after = await this.#engine.append(head, sessionId, { records: kept, changes, ...lock });
    if (after === null) return null;
    this.#keep(sessionId, after, changes?.state);
    return kept;
  }

  #keep(sessionId: string, head: Head, state: SessionState | undefined): void {
    this.#heads.keep(sessionId, state === undefined || head.isBehind === true ? head : { ...head, state });
  }

  async #changes(head: Head, sessionId: string, records: readonly JournalRecord[]): Promise<SessionChanges | null> {
    const standings = new Map<number, Standing>();
    for (const { toSeq } of rewindsIn(records)) standings.set(toSeq, await this.#engine.standingAt(head.owner, sessionId, toSeq));
    return changesOf(head.state, sessionId, records, (seq) => standings.get(seq) ?? NOTHING);
  }
}

export function rewindsIn(records: readonly JournalRecord[]): readonly RewindMark[] {
  return records.flatMap((record) => (record.type === "rewind" ? [{ seq: record.seq, toSeq: record.body.to_seq }] : []));
}
