// Over 300 lines: one turn, from its request to its answer.

import type { Owner } from "../domain/owner.js";
import { type CompletedTurn, isCompleted, recordedTurn } from "../domain/recorded-turn.js";
import type { JournalRecord, Step } from "../domain/session.js";
import { boundedSignal } from "../platform/bounded-signal.js";
import { AppError, isAppError } from "../platform/errors.js";
import { isId, newId } from "../platform/ids.js";
import type { AgentEvent, ToolContext } from "../ports/agent.js";
import type { Chat, ChatEvent, ChatRequest, ResumeRequest } from "../ports/application.js";
import type { ChatAnswer } from "../ports/resources.js";
import { sessionIdFor } from "../ports/session-names.js";
import { type Lease, type StartTurnOptions, sessionLockKey } from "../ports/session-store.js";
import { activeSession } from "./active-session.js";
import { answerFrom, answerStep, referencesTo } from "./answer.js";
import { accountOf } from "./asked.js";
import { buildContext, recapBeside } from "./context.js";
import { withoutForgotten } from "./forgotten-rounds.js";
import { LongMessages } from "./giving-way.js";
import { RequestsInFlight } from "./idempotency.js";
import { type TurnRequest, withImages } from "./images.js";
import { type LockedTurn, messageIdsOf, type OpenTurn, TurnOpening } from "./open-turn.js";
import { type OrchestratorOptions, type OrchestratorParts, turnTimeoutMs } from "./orchestrator-parts.js";
import { PrefixWatch } from "./prefix-watch.js";
import { systemPrompt } from "./prompt.js";
import { StreamedAnswer } from "./streamed-answer.js";
import { goingOn, imagesOf, turnToResume } from "./suspended-turn.js";
import { TurnOutcome } from "./turn-outcome.js";
import { TurnTrace } from "./turn-trace.js";
import { notForgotten } from "./unanswered.js";
import { currentSummary, roundsToRead } from "./window.js";

export type { OrchestratorOptions, OrchestratorParts } from "./orchestrator-parts.js";

export interface ChatOptions {
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: ChatEvent) => void | Promise<void>;
}

/** Rounds before a message that its reading sees. */
const CONTEXT_ROUNDS = 3;
/** From a journal's end: more than the calls of one turn come to. */
const LAST_RECORDS = 1_000;

/**
 * One turn from the user's message to the answer. Holds the session's lock for the whole turn.
 * The user's message is durable before the model is called; steps and answer are one append; write-back comes after the answer.
 */
export class ConversationOrchestrator implements Chat {
  readonly #parts: OrchestratorParts;
  readonly #options: OrchestratorOptions;
  readonly #opening: TurnOpening;
  readonly #outcome: TurnOutcome;
  readonly #long: LongMessages;
  readonly #inFlight = new RequestsInFlight();
  readonly #prefixes = new PrefixWatch();

  constructor(parts: OrchestratorParts, options: OrchestratorOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#long = new LongMessages(parts.registry);
    this.#opening = new TurnOpening(parts, options);
    this.#outcome = new TurnOutcome(parts);
  }

  async chat(given: ChatRequest, options: ChatOptions = {}): Promise<ChatAnswer> {
    if (given.sessionId !== undefined && !isId(given.sessionId)) throw new AppError("INVALID_SESSION_ID");
    if (given.sessionId !== undefined && given.externalId !== undefined)
      throw new AppError("INVALID_REQUEST", { detail: "A session is named by sessionId or by externalId, not by both." });
    if (typeof given.message !== "string" || given.message.trim() === "")
      throw new AppError("INVALID_REQUEST", { errors: [{ pointer: "/message", detail: "text that is not blank" }] });
    this.#leaveRoom(given);
    const request = await withImages(given);
    return this.#running(request.owner, options, async (signal) => {
      const { idempotency } = request;
      if (!idempotency) return this.#newTurn(request, options, signal);
      const wait = { waitMs: this.#options.lockWaitMs, signal };
      return this.#inFlight.run(request.owner, idempotency, wait, () => this.#keyedTurn(request, idempotency, options, signal));
    });
  }

  async resume({ results, ...given }: ResumeRequest, options: ChatOptions = {}): Promise<ChatAnswer> {
    const { owner, externalId } = given;
    const { index, journal, images } = this.#parts.store;
    const sessionId = given.sessionId ?? (externalId === undefined ? "" : await sessionIdFor(index, owner, externalId));
    if (!isId(sessionId)) throw new AppError("INVALID_SESSION_ID");
    this.#leaveRoom(given);
    const request: TurnRequest = { ...given, message: "", images: [] };
    return this.#running(owner, options, (signal) =>
      this.#locked(request, sessionId, signal, async ({ lease }, locked) => {
        await activeSession(this.#parts, owner, sessionId);
        const { lastSeq } = await journal.window(owner, sessionId, { rounds: 0, signal: locked });
        const fromSeq = Math.max(1, lastSeq - LAST_RECORDS);
        const last = await turnToResume(journal.read(owner, sessionId, { fromSeq, signal: locked }), results);
        if ("answered" in last) return this.#again(sessionId, last.answered, options);
        await this.#parts.mayAnswer?.(owner);
        const shown = { ...request, images: await imagesOf(images, owner, sessionId, last.user) };
        return this.#answer(await this.#opening.reopen(shown, sessionId, last.user, lease, locked, last.resumed), options);
      }),
    );
  }

  /** For the conversation, which a caller's prompt may not crowd out. @throws CONTEXT_TOO_LARGE */
  #leaveRoom({ prompt }: Pick<ChatRequest, "prompt">): void {
    const tokens = prompt === undefined ? 0 : this.#parts.counter.count(prompt);
    const most = Math.floor(this.#options.maxTokens / 2);
    if (tokens > most)
      throw new AppError("CONTEXT_TOO_LARGE", {
        detail: `The prompt has ${tokens} tokens and may have ${most}, half of what a turn's messages may take together.`,
        hint: "Send a shorter prompt, or raise CONTEXT_MAX_TOKENS.",
      });
  }

  async #running<T>(owner: Owner, options: ChatOptions, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    await this.#parts.lagging.level(owner);
    return this.#parts.registry.during(owner, options.signal, work);
  }

  /** Answers from the journal when the key's turn was answered, runs it again on its stored message when it was not. */
  async #keyedTurn(
    request: TurnRequest,
    { key, requestHash, onReplay }: NonNullable<TurnRequest["idempotency"]>,
    options: ChatOptions,
    signal: AbortSignal,
  ): Promise<ChatAnswer> {
    const { index, journal } = this.#parts.store;
    const find = async () =>
      (await index.findIdempotent(request.owner, key, this.#parts.clock.now())) ??
      (await this.#parts.lagging.findIdempotent(request.owner, key));
    // A turn that begins with one look looks the key up with it.
    let entry = this.#parts.store.startTurn === undefined ? await find() : null;
    if (!entry) {
      try {
        return await this.#newTurn(request, options, signal);
      } catch (error) {
        // It came before, or another process took the key meanwhile: the answer is this one's.
        entry = isAppError(error, "IDEMPOTENCY_IN_PROGRESS") ? await find() : null;
        if (!entry) throw error;
      }
    }
    if (entry.requestHash !== requestHash) throw new AppError("IDEMPOTENCY_KEY_REUSED");
    const { sessionId, turn } = entry;
    return this.#locked(request, sessionId, signal, async ({ lease }, locked) => {
      const records: JournalRecord[] = [];
      for await (const record of journal.read(request.owner, sessionId, { includeRewound: true, signal: locked })) {
        if (record.turn === turn) records.push(record);
      }
      const recorded = recordedTurn(records, turn);
      if (!recorded) throw new AppError("SESSION_NOT_FOUND");
      if (!isCompleted(recorded)) {
        await this.#parts.mayAnswer?.(request.owner);
        return this.#answer(await this.#opening.reopen(request, sessionId, recorded.user, lease, locked), options);
      }
      onReplay?.();
      return this.#again(sessionId, recorded, options);
    });
  }

  /** The answer of a turn that was answered before. */
  async #again(sessionId: string, turn: CompletedTurn, options: ChatOptions): Promise<ChatAnswer> {
    const answer = answerFrom(sessionId, turn);
    await options.onEvent?.({ type: "session", session_id: sessionId, turn: answer.turn, user_message_id: turn.user.id, created: false });
    await options.onEvent?.({ type: "memory", memory: answer.memory });
    return answer;
  }

  async #newTurn(request: TurnRequest, options: ChatOptions, signal: AbortSignal): Promise<ChatAnswer> {
    const { externalId } = request;
    const { index } = this.#parts.store;
    const named = externalId === undefined ? newId() : await sessionIdFor(index, request.owner, externalId);
    const sessionId = request.sessionId ?? named;
    const inLine = <T>(work: () => Promise<T>) => this.#long.inLine(request.owner, request.message, work);
    const work = async (held: LockedTurn, locked: AbortSignal) => {
      // It came before: what it got then is its answer, whatever may be answered now.
      if (held.start !== null && held.start.request !== null) throw new AppError("IDEMPOTENCY_IN_PROGRESS", { retryAfterSeconds: 1 });
      await this.#parts.mayAnswer?.(request.owner);
      if (request.images.length > 0 && this.#parts.agent.takesImages?.() !== true) throw new AppError("IMAGES_NOT_SUPPORTED");
      const open = () => this.#opening.open(request, sessionId, held, locked);
      // A model reads elsewhere; what stands in for one reads here.
      if (this.#parts.agent.standIn === true) return inLine(async () => this.#answer(await open(), options));
      return this.#answer(await inLine(open), options);
    };
    if (this.#parts.store.startTurn !== undefined) return this.#begun(request, sessionId, signal, work);
    // Only a new session is in need of it, and turns of one session take their places in the order in which they come.
    const epoch = request.sessionId === undefined ? await this.#parts.ledger.epoch(request.owner) : 0;
    if (request.sessionId !== undefined) await activeSession(this.#parts, request.owner, sessionId);
    return this.#locked(request, sessionId, signal, (held, locked) => work({ ...held, epoch }, locked));
  }

  /** A turn whose lock begins with its first write. Who was overtaken before that begins again, as long as it may wait. */
  async #begun<T>(request: TurnRequest, sessionId: string, signal: AbortSignal, work: LockedWork<T>): Promise<T> {
    const until = performance.now() + this.#options.lockWaitMs;
    const key = request.idempotency?.key;
    for (;;) {
      let lease: Lease | null = null;
      try {
        const waitMs = Math.max(0, until - performance.now());
        return await this.#locked(
          request,
          sessionId,
          signal,
          (held, locked) => {
            lease = held.lease;
            return work(held, locked);
          },
          { waitMs, begins: "with the first write", ...(key !== undefined && { request: { key, now: this.#parts.clock.now() } }) },
        );
      } catch (error) {
        if (!isOvertaken(error, lease) || performance.now() >= until) throw error;
      }
    }
  }

  async #locked<T>(
    request: TurnRequest,
    sessionId: string,
    signal: AbortSignal,
    work: LockedWork<T>,
    { waitMs = this.#options.lockWaitMs, ...begins }: { readonly waitMs?: number } & Pick<StartTurnOptions, "begins" | "request"> = {},
  ): Promise<T> {
    const { store } = this.#parts;
    const { owner } = request;
    const wait = { waitMs, signal };
    const rounds = roundsToRead(this.#options.rounds);
    const start = (await store.startTurn?.(owner, sessionId, { ...wait, ...begins, rounds })) ?? null;
    const lease = start?.lease ?? (await store.locks.acquire(sessionLockKey(owner, sessionId), { ...wait, owner }));
    const late = lateAfter(turnTimeoutMs(this.#options));
    const any = boundedSignal([signal, lease.signal, late.signal]);
    try {
      const bounded = () => work({ lease, start, epoch: start?.epoch ?? 0 }, any.signal);
      return await (this.#parts.tokens?.during({ owner: request.owner, sessionId }, bounded) ?? bounded());
    } catch (error) {
      if (late.signal.aborted && !signal.aborted) throw late.signal.reason;
      throw error;
    } finally {
      late.clear();
      any.end();
      await lease.release();
    }
  }

  /** Runs the agent and journals what came of it. */
  async #answer(open: OpenTurn, options: ChatOptions): Promise<ChatAnswer> {
    const { agent, domain, recap, counter } = this.#parts;
    const { request, recalled, turn, sessionId, user, now, timeZone, signal } = open;
    const inWindow = messageIdsOf(open.window, open.unanswered);
    // An edit's window reaches further back than the one that recall ran beside.
    const history = recalled.history.filter((hit) => !inWindow.has(hit.id));
    const shown = new Set([...inWindow, user.id, ...history.map((hit) => hit.id)]);
    const memory = {
      status: recalled.status,
      write_back: !open.incognito && this.#parts.recall.enabled ? "pending" : "disabled",
      to_confirm: recalled.toConfirm,
      recalled: [...recalled.memories],
      used: [],
      ...(recalled.held_back && { held_back: recalled.held_back }),
    } as const;
    const streamed = new StreamedAnswer();
    const trace = new TurnTrace(open);
    try {
      await options.onEvent?.({ type: "session", session_id: sessionId, turn, user_message_id: user.id, created: open.created });
      await options.onEvent?.({ type: "memory", memory });
      const tombstones = open.tombstones ?? (await this.#parts.ledger.tombstones(request.owner));
      const rounds = this.#options.rounds === 0 ? [] : withoutForgotten(open.window.rounds, tombstones);
      const unanswered = notForgotten(open.unanswered, tombstones).map(({ body }) => body.content);
      const context = buildContext(
        {
          prompt: request.prompt === undefined ? domain.prompt : systemPrompt(request.prompt),
          summary: currentSummary(open.window, tombstones),
          rounds,
          conversationRounds: this.#options.rounds,
          ...(recap !== undefined && { recap: recapBeside(recap, request.tools) }),
          recalled: recalled.memories,
          memoryStatus: recalled.status,
          toConfirm: recalled.toConfirm,
          toSettle: recalled.toSettle,
          before: accountOf(recalled.before),
          unread: notForgotten(recalled.unread, tombstones).map(({ body }) => body.content),
          unanswered,
          history,
          pageContext: request.pageContext ?? null,
          question: user.content,
          images: request.images.map(({ shown }) => shown),
          now,
          timeZone,
        },
        { maxTokens: this.#options.maxTokens, counter },
      );
      trace.context = context;
      const changed = this.#prefixes.changed(sessionId, context.stable);
      const { tokens, droppedRounds } = context;
      this.#parts.logger.debug({ session_id: sessionId, turn, tokens, dropped_rounds: droppedRounds, prefix_changed: changed }, "context");
      const onStep = async (step: Step) => {
        await options.onEvent?.({ type: "step", step: answerStep(step) });
        if (agent.standIn === true) await this.#long.afterStep(request.owner, request.message, signal);
      };
      const onEvent = (event: AgentEvent) => {
        streamed.take(event);
        if (event.type === "token") trace.tokenSent();
        return event.type === "step" ? onStep(event.step) : options.onEvent?.(event);
      };
      const run = {
        owner: request.owner,
        sessionId,
        turn,
        userMessage: user,
        earlierMessages: [...rounds.map((round) => round.user.body.content), ...unanswered],
        recalled: recalled.memories,
        now,
        timeZone,
        signal,
        ...(request.consent === undefined ? {} : { consent: request.consent }),
        ...memoryAccess(open),
        hiddenMessageIds: shown,
        onTimed: trace.onTimed,
        references: history.length,
      };
      const { input, ...more } = goingOn(request, domain.tools, open.resumed, context.input);
      const result = await agent.run(input, { context: run, deadline: open.deadline, onEvent, ...more });
      signal.throwIfAborted();
      if (result.waiting !== undefined) return await this.#outcome.suspended(open, result, memory, result.waiting, trace);
      return await this.#outcome.answered(open, result, memory, referencesTo(history, now, timeZone), trace);
    } catch (error) {
      await this.#outcome.failed(open, error, streamed, trace);
      throw error instanceof AppError ? error : new AppError("INTERNAL", { cause: error });
    }
  }
}

type LockedWork<T> = (held: LockedTurn, signal: AbortSignal) => Promise<T>;

/** Whether somebody else wrote the session, or took its lock, before the turn had begun. */
function isOvertaken(error: unknown, lease: Lease | null): boolean {
  return lease?.hasBegun === false && (isAppError(error, "FENCED") || isAppError(error, "SESSION_CHANGED"));
}

/** Aborts with the error that the turn then ends with. */
function lateAfter(ms: number): { readonly signal: AbortSignal; clear(): void } {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new AppError("MODEL_TIMEOUT", { detail: "The turn took longer than it may." })), ms);
  return { signal: late.signal, clear: () => clearTimeout(timer) };
}

/** What tools may do with long-term memory, and what they need for it. */
function memoryAccess({ incognito, asked, window, request }: OpenTurn): Pick<ToolContext, "memory" | "asked" | "remembering"> {
  if (incognito) return { memory: "off" };
  const context = window.rounds.slice(-CONTEXT_ROUNDS).flatMap(({ user, assistant }) => [
    { role: "user" as const, content: user.body.content },
    { role: "assistant" as const, content: assistant.body.content },
  ]);
  const replaces = request.editOf === undefined ? {} : { replaces: [request.editOf] };
  return { memory: "full", asked, remembering: { channel: request.channel ?? "api", context, ...replaces } };
}
