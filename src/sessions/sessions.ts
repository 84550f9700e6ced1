// Over 300 lines: one port, whose methods share what they need of one session.
import { purgedEvent } from "../domain/event.js";
import { isExpired, type LifecycleEvent, nextState, type RetentionOf } from "../domain/lifecycle.js";
import type { Owner } from "../domain/owner.js";
import type { Message, NewRecord, Session, SessionStatus } from "../domain/session.js";
import type { Clock } from "../platform/clock.js";
import { AppError } from "../platform/errors.js";
import { newId } from "../platform/ids.js";
import type { Logger } from "../platform/logger.js";
import type { NewSession, SessionPatch, Sessions, Thread } from "../ports/application.js";
import type { EventLog } from "../ports/events.js";
import type { ConversationHistory } from "../ports/history.js";
import type { MemoryAdministration } from "../ports/memories.js";
import type { OwnerGate } from "../ports/owner-gate.js";
import type { OwnerLedger } from "../ports/owner-ledger.js";
import type { RequestKey } from "../ports/request-key.js";
import type { WriteBackState } from "../ports/resources.js";
import { type FormerSessionIds, sessionIdFor } from "../ports/session-names.js";
import type { Page, SessionQuery, SessionStore } from "../ports/session-store.js";
import type { SessionsBehind, SessionWriter } from "../ports/session-writer.js";
import { writeFork } from "./fork.js";
import { readImage } from "./images.js";
import { MadeOnce } from "./made-once.js";
import { findMessage, type MessageQuery, readMessages, threadOf } from "./messages.js";
import { detachSession, type ReceiptStore, rewriteSession } from "./rewrite-session.js";
import { type HeldSession, SessionAccess, shownSession, type WriteBackControl } from "./session-access.js";
import { keepOwnWords, newSessionRecords, type PatchBody, patchBody, patchRecord } from "./session-records.js";

export interface SessionServiceParts {
  readonly store: SessionStore;
  readonly writer: SessionWriter;
  readonly history: ConversationHistory;
  readonly longTerm: Pick<MemoryAdministration, "detachSession">;
  /** Of bookings. Default: none are kept. */
  readonly receipts?: ReceiptStore;
  readonly ledger: OwnerLedger;
  readonly gate: OwnerGate;
  readonly lagging: Pick<SessionsBehind, "requireLevel" | "findIdempotent">;
  readonly writeBack: WriteBackControl;
  /** Default: no session had another id. */
  readonly formerSessionIds?: FormerSessionIds;
  /** Writes the final summary of a session that is being archived, without waiting for a model. Must not throw. */
  readonly finalSummary: (owner: Owner, sessionId: string) => Promise<void>;
  /** `agent_type` of new sessions: the domain's name. */
  readonly agentType: string;
  /** Told of what is purged. Default: nobody is. */
  readonly events?: Pick<EventLog, "add">;
  /** What is kept of sessions for whoever runs the server. `purged` must not throw. Default: nothing is. */
  readonly recorded?: { emptied(owner: Owner, sessionId: string): Promise<void>; purged(owner: Owner, sessionId: string): void };
  /** Leaves no byte of what a user took out in files of this process's own. Default: there are none. */
  readonly scrub?: () => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface SessionServiceOptions {
  /** How long a change waits for a turn that runs. */
  readonly lockWaitMs: number;
  /** What a session's `expires_at` follows from, beside its own. */
  readonly retention: RetentionOf;
}

/** Sessions as a product needs them. Every change is journalled under the session's lock, in line with its turns. */
export class SessionService implements Sessions {
  readonly #parts: SessionServiceParts;
  readonly #access: SessionAccess;
  readonly #once: MadeOnce;
  readonly #retention: RetentionOf;

  constructor(parts: SessionServiceParts, options: SessionServiceOptions) {
    this.#parts = parts;
    this.#retention = options.retention;
    this.#access = new SessionAccess(parts.store, parts.gate, {
      waitMs: options.lockWaitMs,
      ...(parts.formerSessionIds && { former: parts.formerSessionIds }),
    });
    this.#once = new MadeOnce({ index: parts.store.index, lagging: parts.lagging, access: this.#access, clock: parts.clock });
  }

  async create(owner: Owner, session: NewSession, request?: RequestKey): Promise<Session> {
    const make = (kept: readonly NewRecord[]) => this.#create(owner, newId(), null, session, kept);
    return this.#once.run(owner, request, make, (id) => this.#shown(owner, id));
  }

  async findOrCreate(owner: Owner, externalId: string, session: NewSession, request?: RequestKey): ReturnType<Sessions["findOrCreate"]> {
    const make = (kept: readonly NewRecord[]) => this.#findOrCreate(owner, externalId, session, kept);
    return this.#once.run(owner, request, make, async (id) => ({ session: await this.#shown(owner, id), created: true }));
  }

  async #findOrCreate(
    owner: Owner,
    externalId: string,
    session: NewSession,
    kept: readonly NewRecord[],
  ): ReturnType<Sessions["findOrCreate"]> {
    const { store, lagging } = this.#parts;
    const id = await sessionIdFor(store.index, owner, externalId);
    const found = async () => {
      await lagging.requireLevel(owner, id);
      return (await store.index.get(owner, id)) === null ? null : { session: await this.#shown(owner, id), created: false };
    };
    return (
      (await found()) ??
      this.#access.alone(
        owner,
        id,
        async () => (await found()) ?? { session: await this.#create(owner, id, externalId, session, kept), created: true },
      )
    );
  }

  async #create(owner: Owner, id: string, externalId: string | null, session: NewSession, kept: readonly NewRecord[]): Promise<Session> {
    const { agentType, clock, writer } = this.#parts;
    await writer.create(owner, id, [...newSessionRecords(owner, session, { externalId, agentType, now: clock.now() }), ...kept]);
    await this.#parts.lagging.requireLevel(owner, id);
    return this.#shown(owner, id);
  }

  idOf(owner: Owner, externalId: string): Promise<string> {
    return sessionIdFor(this.#parts.store.index, owner, externalId);
  }

  get(owner: Owner, id: string): Promise<Session> {
    return this.#shown(owner, id);
  }

  async list(owner: Owner, query: SessionQuery): Promise<Page<Session>> {
    const { data, nextCursor } = await this.#parts.store.index.list(owner, query);
    const tombstones = await this.#parts.ledger.tombstones(owner);
    return { data: data.map((session) => shownSession(session, tombstones, this.#retention(owner))), nextCursor };
  }

  /** Metadata is merged as RFC 7396 has it: null takes a key out. @throws SESSION_NOT_ACTIVE for a deleted session */
  async patch(owner: Owner, id: string, patch: SessionPatch): Promise<Session> {
    const { id: now, status } = await this.#access.find(owner, id);
    if (patch.status === "archived" && status === "active") await this.#parts.finalSummary(owner, now);
    return this.#access.hold(owner, now, async (held) => {
      if (held.session.status === "deleted") throw new AppError("SESSION_NOT_ACTIVE");
      const body = patchBody(held.session, patch, this.#parts.clock.now());
      if (body !== null) await this.#write(owner, held, body);
      if (body?.status === "archived") await this.#parts.store.journal.compress(owner, now);
      return this.#shown(owner, now);
    });
  }

  async delete(owner: Owner, id: string): Promise<void> {
    await this.#access.hold(owner, id, (held) => this.#move(owner, held, "delete"));
  }

  /** Gives back the status that the session had; an expiry that has passed meanwhile is lifted. @throws INVALID_TRANSITION */
  async restore(owner: Owner, id: string): Promise<Session> {
    return this.#access.hold(owner, id, async (held) => {
      const before = await this.#parts.store.index.statusBeforeDelete(owner, held.session.id);
      await this.#move(owner, held, "restore", before === "archived" ? "archived" : "active");
      return this.#shown(owner, held.session.id);
    });
  }

  async purge(owner: Owner, id: string, options: { readonly keepMemories: boolean; readonly by: "user" | "retention" }): Promise<void> {
    await this.#purge(owner, id, options, () => true);
    await this.#scrub();
  }

  /**
   * Takes out all that was said, with its images and what was made of it: summaries, derived title, topic and tags, idempotency keys, the
   * history entries. Memories stay, without their quotes; what the user set stays.
   */
  async empty(owner: Owner, given: string): Promise<void> {
    await this.#withoutWriteBack(owner, given, async (held) => {
      const { id } = held.session;
      if (held.session.status === "deleted") throw new AppError("SESSION_NOT_ACTIVE");
      const { store, clock } = this.#parts;
      await detachSession(this.#parts, owner, id, "drop-quotes");
      await store.images.removeSession(owner, id);
      await rewriteSession(store, owner, id, keepOwnWords, { fence: held.fence, now: clock.now() });
      // As behind a purge.
      await detachSession(this.#parts, owner, id, "drop-quotes");
      await this.#parts.recorded?.emptied(owner, id);
    });
    await this.#scrub();
  }

  async messages(owner: Owner, id: string, query: MessageQuery): Promise<Page<Message>> {
    const session = await this.#access.find(owner, id);
    return readMessages(this.#parts.store.journal, owner, session.id, query);
  }

  async message(owner: Owner, id: string, messageId: string): Promise<Message | null> {
    const session = await this.#access.find(owner, id);
    return findMessage(this.#parts.store.journal, owner, session.id, messageId);
  }

  async thread(owner: Owner, id: string): Promise<Thread> {
    const session = await this.#shown(owner, id);
    const tombstones = await this.#parts.ledger.tombstones(owner);
    return threadOf(session, this.#parts.store.journal.read(owner, session.id), new Set(tombstones.map(({ memoryId }) => memoryId)));
  }

  async image(owner: Owner, id: string, imageId: string): ReturnType<Sessions["image"]> {
    const session = await this.#access.find(owner, id);
    return readImage(this.#parts.store.images, owner, session.id, imageId);
  }

  /** A new active session with the conversation up to the turn of a message; see {@link writeFork}. */
  async fork(owner: Owner, id: string, messageId: string, request?: RequestKey): Promise<Session> {
    const make = async (kept: readonly NewRecord[]) => {
      const source = await this.#access.find(owner, id);
      if (source.status === "deleted") throw new AppError("SESSION_NOT_ACTIVE");
      const from = { sourceId: source.id, messageId, kept };
      const made = await this.#access.during(owner, (signal) => writeFork(this.#parts, owner, { ...from, signal }));
      await this.#parts.lagging.requireLevel(owner, made);
      return this.#shown(owner, made);
    };
    return this.#once.run(owner, request, make, (fork) => this.#shown(owner, fork));
  }

  async flush(owner: Owner, id: string, timeoutMs: number): Promise<WriteBackState> {
    const session = await this.#access.find(owner, id);
    await this.#parts.writeBack.flush(owner, session.id, timeoutMs);
    return (await this.#access.find(owner, session.id)).write_back;
  }

  async retryWriteBack(owner: Owner, id: string): Promise<WriteBackState> {
    const session = await this.#access.find(owner, id);
    await this.#parts.store.turns.retryFailed(owner, session.id, this.#parts.clock.now().getTime());
    this.#parts.writeBack.kick();
    return (await this.#access.find(owner, session.id)).write_back;
  }

  /**
   * For retention: deletes or purges a session whose time has run out, if `due` still says so once the lock is held; false when it
   * does not. The memories of a purged one stay, without their quotes.
   * @throws SESSION_BUSY when a turn runs: then it is in use
   */
  async lapse(owner: Owner, id: string, how: "delete" | "purge", due: (session: Session) => boolean): Promise<boolean> {
    if (how === "purge") return this.#purge(owner, id, { keepMemories: true, by: "retention" }, due);
    const work = async (held: HeldSession) => {
      if (!due(held.session)) return false;
      await this.#move(owner, held, "lapse");
      return true;
    };
    return this.#access.hold(owner, id, work, 0);
  }

  /**
   * Marked as deleted first, then taken out of every store, the journal and the index last: what a crash interrupts can be
   * repeated, and nobody chats with half a session. False when `due` no longer says so once the lock is held.
   */
  async #purge(
    owner: Owner,
    given: string,
    options: { readonly keepMemories: boolean; readonly by: "user" | "retention" },
    due: (session: Session) => boolean,
  ): Promise<boolean> {
    return this.#withoutWriteBack(owner, given, async (held) => {
      const { id } = held.session;
      if (!due(held.session)) return false;
      const { store, ledger, events, clock } = this.#parts;
      nextState(held.session.status, "purge");
      if (held.session.status !== "deleted") await this.#write(owner, held, { status: "deleted", by: options.by });
      const detach = () => detachSession(this.#parts, owner, id, options.keepMemories ? "drop-quotes" : "delete");
      const detached = await detach();
      const images = await store.images.removeSession(owner, id);
      // Before it can't be found any more: whoever is killed here purges it again, and tells of it by the same id.
      await events?.add(owner, [purgedEvent(owner, id, clock.now())]);
      await store.journal.remove(owner, id);
      // What another process wrote back meanwhile; what it does from here on it takes back itself.
      await detach();
      await store.index.remove(owner, id);
      this.#parts.recorded?.purged(owner, id);
      await ledger.audit(owner, {
        at: clock.now().toISOString(),
        action: "purge_session",
        by: options.by,
        receiptId: null,
        counts: { sessions: 1, messages: held.session.message_count, ...(images > 0 && { images }), ...detached },
      });
      return true;
    });
  }

  /** It is gone for everybody by then: where the disk has no room for it, the next one takes these bytes along. */
  async #scrub(): Promise<void> {
    const { scrub, logger } = this.#parts;
    await scrub?.().catch((error: unknown) => logger.warn({ err: error }, "what was taken out may still be found in files by its bytes"));
  }

  async #shown(owner: Owner, id: string): Promise<Session> {
    return shownSession(await this.#access.find(owner, id), await this.#parts.ledger.tombstones(owner), this.#retention(owner));
  }

  async #withoutWriteBack<T>(owner: Owner, id: string, work: (held: HeldSession) => Promise<T>): Promise<T> {
    await this.#access.find(owner, id);
    const release = await this.#parts.writeBack.hold(owner);
    try {
      return await this.#access.hold(owner, id, work);
    } finally {
      release();
    }
  }

  async #move(owner: Owner, held: HeldSession, event: LifecycleEvent, before?: "active" | "archived"): Promise<void> {
    const { session } = held;
    const next = nextState(session.status, event, before);
    if (next === session.status) return;
    const lift = event === "restore" && isExpired(session, this.#parts.clock.now());
    await this.#write(owner, held, {
      status: next as SessionStatus,
      by: event === "lapse" ? "retention" : "user",
      ...(lift ? { expires_at: null } : {}),
    });
  }

  /** @throws STORAGE_UNAVAILABLE also where it is journalled, and the index, which everybody reads, can't follow: it is not done yet */
  async #write(owner: Owner, held: HeldSession, body: PatchBody): Promise<void> {
    const record = patchRecord(this.#parts.clock.now(), body);
    await this.#parts.writer.append(owner, held.session.id, [record], { fence: held.fence });
    await this.#parts.lagging.requireLevel(owner, held.session.id);
  }
}
