import { turnsOffRecord } from "../domain/off-record.js";
import { mergedId, type Owner } from "../domain/owner.js";
import type { JournalRecord, Session } from "../domain/session.js";
import { addWholeSession } from "../history/history.js";
import type { Clock } from "../platform/clock.js";
import { insteadOf, isAppError } from "../platform/errors.js";
import { newId } from "../platform/ids.js";
import type { Logger } from "../platform/logger.js";
import type { ConversationHistory } from "../ports/history.js";
import type { MergedSessions, MergedUsers, SurveyedSessions } from "../ports/identities.js";
import { type Lease, type SessionStore, underSessionLock } from "../ports/session-store.js";
import type { SessionsBehind, SessionWriter } from "../ports/session-writer.js";
import { sessionsSince } from "../ports/sessions-since.js";
import { copiedRecords } from "./copied-records.js";
import { copyImages, imageIdsOf } from "./images.js";
import { recordsOf, rewriteSession } from "./rewrite-session.js";
import { mergeOf, repeatsMerge, withoutMerged, withoutRepeated } from "./without-merged.js";

export interface SessionCopiesParts {
  readonly store: SessionStore;
  readonly writer: SessionWriter;
  readonly history: ConversationHistory;
  readonly lagging: Pick<SessionsBehind, "level" | "requireLevel">;
  readonly ledger: { epoch(owner: Owner): Promise<number> };
  readonly lockWaitMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The sessions of one user as copies of another's. */
export class SessionCopies implements MergedSessions {
  readonly #parts: SessionCopiesParts;

  constructor(parts: SessionCopiesParts) {
    this.#parts = parts;
  }

  async copy(users: MergedUsers, signal: AbortSignal): Promise<{ readonly sessions: number }> {
    const { lagging, ledger } = this.#parts;
    await lagging.level(users.from);
    const epoch = await ledger.epoch(users.to);
    let sessions = 0;
    for (const session of await this.#sessionsOf(users.from)) {
      await this.#alone(users.to, copyOf(users, session.id), signal, () => this.#copy(users, session, epoch, signal));
      sessions += 1;
    }
    return { sessions };
  }

  async ids({ from }: MergedUsers): Promise<readonly string[]> {
    return (await this.#sessionsOf(from)).map(({ id }) => id);
  }

  async survey(users: MergedUsers): Promise<SurveyedSessions> {
    const [purged, said] = [new Set<string>(), new Set<string>()];
    const deleted: string[] = [];
    for (const { id, status } of await this.#sessionsOf(users.from)) {
      const copy = await this.#parts.store.index.get(users.to, copyOf(users, id));
      if (copy === null) purged.add(id);
      else if (copy.status === "deleted" && status !== "deleted") deleted.push(id);
      for (const record of (await this.#recordsOrNone(users.from, id)) ?? []) if (record.type === "message") said.add(record.id);
    }
    return { purged, deleted, said };
  }

  async loseWhatIsGone(users: MergedUsers): Promise<void> {
    const { from, to } = users;
    for (const { id } of await this.#sessionsOf(from)) {
      const copy = await this.#recordsOrNone(to, copyOf(users, id));
      if (copy === null) {
        await this.#remove(from, id);
        continue;
      }
      const left = new Set(copy.map((record) => record.id));
      const offRecord = turnsOffRecord(copy);
      const records = await recordsOf(this.#parts.store.journal, from, id);
      const isHidden = (record: JournalRecord) => record.type === "message" && record.body.remember && offRecord.has(record.turn);
      const gone = records.filter((record) => (!left.has(record.id) && record.type !== "session") || isHidden(record));
      if (gone.length === 0) continue;
      await rewriteSession(this.#parts.store, from, id, (record) => {
        if (!left.has(record.id) && record.type !== "session") return null;
        return record.type === "message" && isHidden(record) ? { ...record, body: { ...record.body, remember: false } } : record;
      });
      await this.#parts.history.removeMessages(
        from,
        gone.map((record) => record.id),
      );
    }
  }

  async takeOut(users: MergedUsers, memories: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const { to, id: mergeId } = users;
    await this.#parts.lagging.level(to);
    const copies = new Set((await this.#sessionsOf(users.from)).map(({ id }) => copyOf(users, id)));
    const given = new Set([...memories, ...copies]);
    const [marked, others]: [string[], string[]] = [[], []];
    for (const id of new Set([...copies, ...(await this.#activeSince(users))])) {
      const merged = ((await this.#recordsOrNone(to, id)) ?? []).filter((record) => mergeOf(record) === mergeId);
      (merged.length > 0 || copies.has(id) ? marked : others).push(id);
      for (const sessionOrMessage of merged.length > 0 ? [id, ...merged.map((record) => record.id)] : []) given.add(sessionOrMessage);
    }
    // Those last that tell what was given: whoever is killed finds it again.
    for (const id of [...others, ...marked])
      await this.#alone(to, id, signal, async (lease) => {
        const records = await this.#recordsOrNone(to, id);
        // Also where only the journal is gone: the rest of it was broken off.
        if (records === null) return this.#remove(to, id);
        const { changes, hasWords } = withoutMerged(records, mergeId, given);
        if (hasWords || !(copies.has(id) || records.some((record) => mergeOf(record) === mergeId)))
          return this.#change(to, id, records, changes, lease);
        return this.#remove(to, id);
      });
  }

  async forget(users: MergedUsers): Promise<number> {
    const { to, id: mergeId } = users;
    let repeating = 0;
    for (const id of await this.#activeSince(users)) {
      if (!(await this.#recordsOrNone(to, id))?.some((record) => repeatsMerge(record, mergeId))) continue;
      const forget = async (lease?: Lease) => {
        const records = (await this.#recordsOrNone(to, id)) ?? [];
        repeating += records.filter((record) => repeatsMerge(record, mergeId)).length;
        await this.#change(to, id, records, withoutRepeated(records, mergeId), lease);
      };
      await this.#alone(to, id, undefined, forget).catch((error: unknown) => {
        // Behind a fence nobody else writes.
        if (isAppError(error, "OWNER_ERASED")) return forget();
        throw error;
      });
    }
    return repeating;
  }

  async left(users: MergedUsers): Promise<number> {
    let left = 0;
    for (const id of await this.#activeSince(users))
      for (const record of (await this.#recordsOrNone(users.to, id)) ?? [])
        if (mergeOf(record) === users.id || repeatsMerge(record, users.id)) left += 1;
    return left;
  }

  async delete({ from }: MergedUsers, sessionIds: readonly string[], now: Date): Promise<void> {
    const { store, writer, lagging } = this.#parts;
    for (const id of sessionIds) {
      if ((await store.index.get(from, id))?.status === "deleted") continue;
      const body = { status: "deleted", by: "user" } as const;
      await writer.append(from, id, [{ type: "session_patch", id: newId(), turn: 0, at: now.toISOString(), body }]);
      await lagging.requireLevel(from, id);
    }
  }

  async #copy(users: MergedUsers, { id, status }: Session, epoch: number, signal: AbortSignal): Promise<void> {
    const { store, writer, history, lagging, logger } = this.#parts;
    const { from, to } = users;
    const copy = copyOf(users, id);
    if ((await this.#recordsOrNone(to, copy)) === null) {
      const records = await recordsOf(this.#parts.store.journal, from, id);
      const taken = await this.#takenBy(to, records);
      const copied = copiedRecords({ users, records, isTaken: (what) => taken.has(JSON.stringify(what)) });
      await copyImages(store.images, from, id, copy, copied, to);
      signal.throwIfAborted();
      await writer.create(to, copy, copied, { epoch });
    }
    await lagging.requireLevel(to, copy);
    if (status === "archived") await store.journal.compress(to, copy);
    try {
      await addWholeSession({ store, history }, to, copy, signal);
    } catch (error) {
      signal.throwIfAborted();
      // What the index of history lacks it is given when it catches up.
      logger.warn({ session_id: copy, err: error }, "the history of a merged session follows later");
    }
  }

  /** Names and keys that the other owner has already. */
  async #takenBy(owner: Owner, records: readonly JournalRecord[]): Promise<ReadonlySet<string>> {
    const { index } = this.#parts.store;
    const taken = new Set<string>();
    for (const { type, body, at } of records) {
      if (type === "session" && body.external_id !== null && (await index.findByExternalId(owner, body.external_id)) !== null)
        taken.add(JSON.stringify({ externalId: body.external_id }));
      const key = type === "message" || type === "session_patch" ? body.idempotency?.key : undefined;
      if (key !== undefined && (await index.findIdempotent(owner, key, new Date(at))) !== null) taken.add(JSON.stringify({ key }));
    }
    return taken;
  }

  async #alone<T>(owner: Owner, sessionId: string, signal: AbortSignal | undefined, work: (lease: Lease) => Promise<T>): Promise<T> {
    const { store, lockWaitMs } = this.#parts;
    return underSessionLock(store.locks, owner, sessionId, { waitMs: lockWaitMs, ...(signal && { signal }) }, work);
  }

  /** What is made from the journal first, then the journal, the index last. */
  async #remove(owner: Owner, sessionId: string): Promise<void> {
    const { store, history } = this.#parts;
    await history.removeSession(owner, sessionId).catch(unlessOff);
    await store.images.removeSession(owner, sessionId);
    await store.journal.remove(owner, sessionId);
    await store.index.remove(owner, sessionId);
  }

  /** Out of history first, images too: whoever is killed finds in the journal what is to be taken out of it. */
  async #change(
    owner: Owner,
    sessionId: string,
    records: readonly JournalRecord[],
    changes: ReadonlyMap<string, JournalRecord | null>,
    lease?: Lease,
  ): Promise<void> {
    if (changes.size === 0) return;
    const left = imageIdsOf(records.filter(({ id }) => changes.get(id) !== null));
    const { store, history, clock } = this.#parts;
    const { status } = (await store.index.get(owner, sessionId)) ?? {};
    const ids = [...changes].flatMap(([id, now]) =>
      now === null || (now.type === "message" && now.body.in_history === false) ? [id] : [],
    );
    await history.removeMessages(owner, ids).catch(unlessOff);
    for (const image of imageIdsOf(records)) if (!left.has(image)) await store.images.remove(owner, sessionId, image);
    const change = (record: JournalRecord) => (changes.has(record.id) ? (changes.get(record.id) ?? null) : record);
    await rewriteSession(store, owner, sessionId, change, lease && { fence: lease.fence, now: clock.now() });
    await history.removeMessages(owner, ids).catch(unlessOff);
    if (status === "archived") await store.journal.compress(owner, sessionId);
  }

  async #recordsOrNone(owner: Owner, sessionId: string): Promise<readonly JournalRecord[] | null> {
    return recordsOf(this.#parts.store.journal, owner, sessionId).catch(insteadOf("SESSION_NOT_FOUND", null));
  }

  #sessionsOf(owner: Owner): Promise<readonly Session[]> {
    return sessionsSince(this.#parts.store.index, owner);
  }

  /** Ids of all sessions of `to` into which anything of a merge can have come. */
  async #activeSince({ to, at }: MergedUsers): Promise<readonly string[]> {
    return (await sessionsSince(this.#parts.store.index, to, Date.parse(at))).map(({ id }) => id);
  }
}

function copyOf({ id, to }: MergedUsers, sessionId: string): string {
  return mergedId("session", to, id, sessionId);
}

const unlessOff = insteadOf("HISTORY_DISABLED", 0);
