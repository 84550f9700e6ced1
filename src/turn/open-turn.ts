import type { Owner } from "../domain/owner.js";
import type { MessageRecord, NewRecord } from "../domain/session.js";
import { isAppError } from "../platform/errors.js";
import { newId } from "../platform/ids.js";
import type { Tombstone } from "../ports/owner-ledger.js";
import type { AppendOptions, CreateOptions, Lease, ListedSession, TurnStart, WindowRead } from "../ports/session-store.js";
import { activeSession, activeSessionIfAny } from "./active-session.js";
import { askedBefore } from "./asked.js";
import { keepImages, type TurnRequest } from "./images.js";
import type { OrchestratorOptions, OrchestratorParts } from "./orchestrator-parts.js";
import { turnTimeoutMs } from "./orchestrator-parts.js";
import { type Recalled, recallFor } from "./recall.js";
import type { ResumedTurn } from "./suspended-turn.js";
import { timeZoneOf } from "./time-zone-of.js";
import { derivedTitle, rewindFor, sessionRecord, userRecord } from "./turn-records.js";
import { lastIsAnswered, unansweredBefore } from "./unanswered.js";
import { roundsToRead, shownWindow } from "./window.js";

const NEW_JOURNAL: WindowRead = { rounds: [], summary: null, lastUserMessage: null, lastSeq: 0, lastTurn: 0, bytesRead: 0 };

/** A turn that has its lock and its place in the journal. */
export interface OpenTurn {
  readonly request: TurnRequest;
  readonly sessionId: string;
  readonly created: boolean;
  readonly turn: number;
  readonly user: { readonly id: string; readonly content: string };
  /** Nothing of the turn goes to memory or history, and none of them is used. */
  readonly incognito: boolean;
  /** What the answer before asked and this message may settle. */
  readonly asked: readonly string[];
  /** Null where the turn begins. */
  readonly resumed: ResumedTurn | null;
  readonly window: WindowRead;
  /** What was said since the last answer of the window, before this message. */
  readonly unanswered: readonly MessageRecord[];
  readonly recalled: Recalled;
  readonly timeZone: string;
  readonly now: Date;
  readonly lease: Lease;
  /** What was forgotten, where it was read with all else; null: it is asked for. */
  readonly tombstones: readonly Tombstone[] | null;
  readonly signal: AbortSignal;
  /** {@link AgentRun.deadline}. */
  readonly deadline: number;
  readonly timing: { readonly started: number; readonly windowMs: number; readonly recallMs: number };
}

/** A turn that has its session's lock. */
export interface LockedTurn {
  readonly lease: Lease;
  /** What the store read together with the lock; null where it is asked for one thing after the other. */
  readonly start: TurnStart | null;
  /** The owner's, for a session that is begun now. */
  readonly epoch: number;
}

/** Gives a turn its place in the journal, and reads what it is to know. For whoever holds the session's lock. */
export class TurnOpening {
  readonly #parts: OrchestratorParts;
  readonly #options: OrchestratorOptions;

  constructor(parts: OrchestratorParts, options: OrchestratorOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  /** The session of a request; null where the turn begins one. */
  async #sessionOf(
    { owner, sessionId, externalId }: TurnRequest,
    id: string,
    start: TurnStart | null,
  ): Promise<ListedSession["session"] | null> {
    if (sessionId !== undefined) return activeSession(this.#parts, owner, id, start);
    return externalId === undefined ? null : activeSessionIfAny(this.#parts, owner, id, start);
  }

  /** Journals the user's message (with the session, where it is new) while recall runs beside it. */
  async open(request: TurnRequest, sessionId: string, { lease, start, epoch }: LockedTurn, signal: AbortSignal): Promise<OpenTurn> {
    const { clock } = this.#parts;
    const { owner } = request;
    const started = performance.now();
    const now = clock.now();
    const session = await this.#sessionOf(request, sessionId, start);
    const wanted = request.incognito === true ? { ...request.metadata, incognito: true } : (request.metadata ?? {});
    const metadata = session?.metadata ?? wanted;
    const incognito = metadata.incognito === true || request.incognito === true;
    const users = start === null ? this.#parts.ledger : { user: async () => start.user };
    const timeZone = await timeZoneOf(users, request, metadata);

    const begins = session === null || session.message_count === 0;
    if (begins) this.#parts.onNewSession?.(owner);

    let window = session ? await this.#window(owner, sessionId, signal, start) : NEW_JOURNAL;
    const windowMs = performance.now() - started;
    const turn = window.lastTurn + 1;
    const user = { id: newId(), content: request.message };
    const records = [
      ...rewindFor(request, window.lastUserMessage, turn, now),
      userRecord(request, { ...user, turn, now, incognito, timeZone }),
    ];
    if (!session?.title) records.push(derivedTitle(request.message, now));

    const write = session
      ? this.#append(request, sessionId, records, {
          fence: lease.fence,
          ...(lease.hasBegun === false && { firstOf: lease, expectedSeq: window.lastSeq }),
        })
      : this.#create(request, sessionId, [sessionRecord(request, this.#parts.domain.name, metadata, now), ...records], {
          epoch,
          ...(lease.hasBegun === false && { firstOf: lease }),
        });
    const before = window.rounds.at(-1)?.user.id ?? null;
    const inWindow = messageIdsOf(window);
    const asked = incognito ? [] : askedBefore(window, user.id);
    const seen = start === null ? {} : { memorySeq: start.memorySeq, tombstones: start.tombstones };
    const sought = { owner, sessionId, text: request.message, now, incognito, inWindow, before, begins, asked, signal, ...seen };
    const recall = recallFor(this.#parts.recall, sought);
    const [, recalled] = await Promise.all([write, recall]);
    const recallMs = performance.now() - started - windowMs;
    const answered = request.editOf === undefined && lastIsAnswered(window);
    if (request.editOf !== undefined) window = await this.#window(owner, sessionId, signal);
    const unanswered = answered ? [] : await this.#unanswered({ owner, sessionId, turn }, signal);
    const timing = { started, windowMs, recallMs };
    return {
      request,
      sessionId,
      created: session === null,
      turn,
      user,
      incognito,
      asked,
      resumed: null,
      window,
      unanswered,
      recalled,
      timeZone,
      now,
      lease,
      tombstones: start?.tombstones ?? null,
      signal,
      deadline: started + turnTimeoutMs(this.#options),
      timing,
    };
  }

  async #append(request: TurnRequest, sessionId: string, records: readonly NewRecord[], options: AppendOptions): Promise<void> {
    const { store, writer } = this.#parts;
    await keepImages(store.images, request.owner, sessionId, request.images);
    await writer.append(request.owner, sessionId, records, options);
  }

  async #create(request: TurnRequest, sessionId: string, records: readonly NewRecord[], options: CreateOptions): Promise<void> {
    const { store, writer } = this.#parts;
    try {
      await keepImages(store.images, request.owner, sessionId, request.images);
      await writer.create(request.owner, sessionId, records, options);
    } catch (error) {
      // Of one that somebody else has made meanwhile they are no garbage. What can't be deleted now goes with the session.
      const isOwn = request.images.length > 0 && !isAppError(error, "SESSION_CHANGED");
      if (isOwn) await store.images.removeSession(request.owner, sessionId).catch(() => undefined);
      throw error;
    }
  }

  /** A turn that was interrupted or failed, to be run again on the message that is in the journal; or one that waited, to go on. */
  async reopen(
    request: TurnRequest,
    sessionId: string,
    user: MessageRecord,
    lease: Lease,
    signal: AbortSignal,
    resumed: ResumedTurn | null = null,
  ): Promise<OpenTurn> {
    const { owner } = request;
    const started = performance.now();
    const now = this.#parts.clock.now();
    const session = await activeSession(this.#parts, owner, sessionId);
    const window = await this.#window(owner, sessionId, signal);
    const windowMs = performance.now() - started;
    const { content } = user.body;
    const incognito = session.metadata.incognito === true || user.body.incognito === true;
    const before = window.rounds.at(-1)?.user.id ?? null;
    const inWindow = messageIdsOf(window);
    const asked = incognito ? [] : askedBefore(window, user.id);
    const sought = { owner, sessionId, text: content, now, incognito, inWindow, before, begins: user.turn === 1, asked, signal };
    const recalled = await recallFor(this.#parts.recall, sought);
    const recallMs = performance.now() - started - windowMs;
    const unanswered = await this.#unanswered({ owner, sessionId, turn: user.turn }, signal);
    return {
      request,
      sessionId,
      created: false,
      turn: user.turn,
      user: { id: user.id, content },
      incognito,
      asked,
      resumed,
      window,
      unanswered,
      recalled,
      timeZone: user.body.time_zone ?? (await timeZoneOf(this.#parts.ledger, request, session.metadata)),
      now,
      lease,
      tombstones: null,
      signal,
      deadline: started + turnTimeoutMs(this.#options),
      timing: { started, windowMs, recallMs },
    };
  }

  async #unanswered(of: Parameters<typeof unansweredBefore>[1], signal: AbortSignal): Promise<readonly MessageRecord[]> {
    return this.#options.rounds === 0 ? [] : unansweredBefore(this.#parts.store.journal, of, signal);
  }

  async #window(owner: Owner, sessionId: string, signal: AbortSignal, start: TurnStart | null = null): Promise<WindowRead> {
    const { rounds } = this.#options;
    const read = () => this.#parts.store.journal.window(owner, sessionId, { rounds: roundsToRead(rounds), signal });
    return shownWindow(start?.window ?? (await read()), rounds);
  }
}

/** Ids of the messages that a window shows, and of those `beside` it. */
export function messageIdsOf({ rounds, summary }: WindowRead, beside: readonly MessageRecord[] = []): ReadonlySet<string> {
  const inRounds = rounds.flatMap(({ user, interim = [], assistant }) => [user, ...interim, assistant].map(({ id }) => id));
  const messages = [...inRounds, ...beside.map(({ id }) => id)];
  // The session's own summary stands before its rounds.
  return new Set(summary === null ? messages : [summary.id, ...messages]);
}
