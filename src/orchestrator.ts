import type { Agent, AgentEvent, AgentResult } from "./agent.js";
import type { Chat, ChatAnswer, ChatEvent, ChatRequest } from "./application.js";
import type { Keeping } from "./commands.js";
import { AppError, isAppError } from "./errors.js";
import type { LaggingSessions } from "./lagging-sessions.js";
import { answerFrom, answerStep, isCompleted, recordedTurn } from "./orchestrator/answer.js";
import { buildContext } from "./orchestrator/context.js";
import { withoutForgotten } from "./orchestrator/forgotten-rounds.js";
import { RequestsInFlight } from "./orchestrator/idempotency.js";
import { PrefixWatch } from "./orchestrator/prefix-watch.js";
import { type Recalled, type RecallPorts, recallFor } from "./orchestrator/recall.js";
import { dayOf } from "./orchestrator/rendering.js";
import { isCurrent } from "./orchestrator/summary.js";
import type { TokenCounter } from "./orchestrator/tokens.js";
import { derivedTitle, failureRecord, rewindFor, sessionRecord, userRecord } from "./orchestrator/turn-records.js";
import type { TurnRegistry } from "./orchestrator/turn-registry.js";
import type { Owner } from "./owner.js";
import type { OwnerLedger, Tombstone } from "./owner-ledger.js";
import type { Clock } from "./platform/clock.js";
import { isId, newId } from "./platform/ids.js";
import type { Logger } from "./platform/logger.js";
import { isTimeZone } from "./platform/time-zone.js";
import type { Element, JournalRecord, JsonObject, MessageRecord, NewRecord, Step, Timing } from "./session.js";
import { type Lease, type SessionStore, sessionLockKey, type WindowRead } from "./session-store.js";
import type { SessionWriter } from "./session-writer.js";

export interface OrchestratorParts {
  readonly store: SessionStore;
  readonly writer: SessionWriter;
  readonly lagging: Pick<LaggingSessions, "level" | "requireLevel" | "findIdempotent">;
  readonly agent: Agent;
  /** The domain's name (`agent_type` of its sessions) and system prompt. */
  readonly domain: { readonly name: string; readonly prompt: string };
  readonly recall: RecallPorts;
  readonly ledger: Pick<OwnerLedger, "user" | "tombstones">;
  readonly registry: TurnRegistry;
  /** What may be kept of a message: nothing of "don't remember this", of "forget that …" what else it says. */
  readonly keepingOf: (message: string) => Keeping;
  /** Called after each answered turn; `remember`: it is to be written back to memory or history. Must not throw. */
  readonly afterTurn: (owner: Owner, sessionId: string, remember: boolean) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly counter: TokenCounter;
}

export interface OrchestratorOptions {
  /** Completed rounds in the window. */
  readonly rounds: number;
  readonly maxTokens: number;
  readonly lockWaitMs: number;
}

export interface ChatOptions {
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: ChatEvent) => void | Promise<void>;
}

const NOTHING_KEPT: Keeping = { remember: false, searchable: false };
const NEW_JOURNAL: WindowRead = { rounds: [], summary: null, lastUserMessage: null, lastSeq: 0, lastTurn: 0, bytesRead: 0 };

/** A turn that has its lock and its place in the journal. */
interface OpenTurn {
  readonly request: ChatRequest;
  readonly sessionId: string;
  readonly created: boolean;
  readonly turn: number;
  readonly user: { readonly id: string; readonly content: string };
  readonly remember: boolean;
  /** What tools may do with long-term memory in this turn. */
  readonly memory: "full" | "read_only" | "off";
  readonly window: WindowRead;
  readonly recalled: Recalled;
  readonly timeZone: string;
  readonly now: Date;
  readonly fence: number;
  readonly signal: AbortSignal;
  readonly timing: { readonly started: number; readonly windowMs: number; readonly recallMs: number };
}

/**
 * One turn from the user's message to the answer; see ARCHITECTURE.md. Holds the session's lock for the whole turn.
 * The user's message is durable before the model is called; steps and answer are one append; write-back comes after the answer.
 */
export class ConversationOrchestrator implements Chat {
  readonly #parts: OrchestratorParts;
  readonly #options: OrchestratorOptions;
  readonly #inFlight = new RequestsInFlight();
  readonly #prefixes = new PrefixWatch();

  constructor(parts: OrchestratorParts, options: OrchestratorOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  async chat(request: ChatRequest, options: ChatOptions = {}): Promise<ChatAnswer> {
    if (request.sessionId !== undefined && !isId(request.sessionId)) throw new AppError("INVALID_SESSION_ID");
    await this.#parts.lagging.level(request.owner);
    const running = this.#parts.registry.begin(request.owner);
    const signal = options.signal ? AbortSignal.any([options.signal, running.signal]) : running.signal;
    try {
      const { idempotency } = request;
      if (!idempotency) return await this.#newTurn(request, options, signal);
      const wait = { waitMs: this.#options.lockWaitMs, signal };
      return await this.#inFlight.run(request.owner, idempotency, wait, () => this.#keyedTurn(request, idempotency, options, signal));
    } catch (error) {
      if (running.signal.aborted) throw new AppError("OWNER_ERASED", { cause: error });
      if (options.signal?.aborted) throw new AppError("CLIENT_CLOSED_REQUEST", { cause: error });
      throw error;
    } finally {
      running.end();
    }
  }

  /** Answers from the journal when the key's turn was answered, runs it again on its stored message when it was not. */
  async #keyedTurn(
    request: ChatRequest,
    { key, requestHash }: NonNullable<ChatRequest["idempotency"]>,
    options: ChatOptions,
    signal: AbortSignal,
  ): Promise<ChatAnswer> {
    const { index, journal } = this.#parts.store;
    const entry =
      (await index.findIdempotent(request.owner, key, this.#parts.clock.now())) ??
      (await this.#parts.lagging.findIdempotent(request.owner, key));
    if (!entry) return this.#newTurn(request, options, signal);
    if (entry.requestHash !== requestHash) throw new AppError("IDEMPOTENCY_KEY_REUSED");
    const { sessionId, turn } = entry;
    return this.#locked(request, sessionId, signal, async (lease, locked) => {
      const records: JournalRecord[] = [];
      for await (const record of journal.read(request.owner, sessionId, { includeRewound: true, signal: locked })) {
        if (record.turn === turn) records.push(record);
      }
      const recorded = recordedTurn(records, turn);
      if (!recorded) throw new AppError("SESSION_NOT_FOUND");
      if (!isCompleted(recorded)) return this.#answer(await this.#reopen(request, sessionId, recorded.user, lease, locked), options);
      const answer = answerFrom(sessionId, recorded);
      await options.onEvent?.({ type: "session", session_id: sessionId, turn, user_message_id: recorded.user.id, created: false });
      await options.onEvent?.({ type: "memory", memory: answer.memory });
      return answer;
    });
  }

  async #newTurn(request: ChatRequest, options: ChatOptions, signal: AbortSignal): Promise<ChatAnswer> {
    const sessionId = request.sessionId ?? newId();
    if (request.sessionId !== undefined) await this.#activeSession(request.owner, sessionId);
    return this.#locked(request, sessionId, signal, async (lease, locked) =>
      this.#answer(await this.#open(request, sessionId, lease, locked), options),
    );
  }

  async #locked<T>(
    request: ChatRequest,
    sessionId: string,
    signal: AbortSignal,
    work: (lease: Lease, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { locks } = this.#parts.store;
    const lease = await locks.acquire(sessionLockKey(request.owner, sessionId), { waitMs: this.#options.lockWaitMs, signal });
    try {
      return await work(lease, AbortSignal.any([signal, lease.signal]));
    } finally {
      await lease.release();
    }
  }

  async #activeSession(owner: Owner, sessionId: string) {
    const session = await this.#parts.store.index.get(owner, sessionId);
    if (!session) {
      await this.#parts.lagging.requireLevel(owner, sessionId);
      throw new AppError("SESSION_NOT_FOUND");
    }
    if (session.status !== "active") throw new AppError("SESSION_NOT_ACTIVE");
    return session;
  }

  /** Journals the user's message (with the session, where it is new) while recall runs beside it. */
  async #open(request: ChatRequest, sessionId: string, lease: Lease, signal: AbortSignal): Promise<OpenTurn> {
    const { clock, store, writer } = this.#parts;
    const { owner } = request;
    const started = performance.now();
    const now = clock.now();
    const session = request.sessionId === undefined ? null : await this.#activeSession(owner, sessionId);
    const metadata = session?.metadata ?? request.metadata ?? {};
    const incognito = metadata.incognito === true;
    const keeping = incognito ? NOTHING_KEPT : this.#parts.keepingOf(request.message);
    const { remember } = keeping;
    const timeZone = await this.#timeZone(request, metadata);

    let window = session ? await this.#window(owner, sessionId, signal) : NEW_JOURNAL;
    const windowMs = performance.now() - started;
    const turn = window.lastTurn + 1;
    const user = { id: newId(), content: request.message };
    const records = [
      ...rewindFor(request, window.lastUserMessage, turn, now),
      userRecord(request, { ...user, turn, now, keeping, timeZone }),
    ];
    if (!session?.title) records.push(derivedTitle(request.message, now));

    const write = session
      ? writer.append(owner, sessionId, records, { fence: lease.fence })
      : writer.create(owner, sessionId, [sessionRecord(owner, this.#parts.domain.name, metadata, now), ...records]);
    const recall = recallFor(this.#parts.recall, { owner, text: request.message, now, incognito, inWindow: messageIdsOf(window), signal });
    const [, recalled] = await Promise.all([write, recall]);
    const recallMs = performance.now() - started - windowMs;
    if (request.editOf !== undefined) window = await store.journal.window(owner, sessionId, { rounds: this.#options.rounds, signal });
    const timing = { started, windowMs, recallMs };
    return {
      request,
      sessionId,
      created: session === null,
      turn,
      user,
      remember,
      memory: memoryAccess(incognito, remember),
      window,
      recalled,
      timeZone,
      now,
      fence: lease.fence,
      signal,
      timing,
    };
  }

  /** A turn that was interrupted or failed, to be run again on the message that is in the journal. */
  async #reopen(request: ChatRequest, sessionId: string, user: MessageRecord, lease: Lease, signal: AbortSignal): Promise<OpenTurn> {
    const { owner } = request;
    const started = performance.now();
    const now = this.#parts.clock.now();
    const session = await this.#activeSession(owner, sessionId);
    const window = await this.#window(owner, sessionId, signal);
    const windowMs = performance.now() - started;
    const { content, remember } = user.body;
    const incognito = session.metadata.incognito === true;
    const recalled = await recallFor(this.#parts.recall, { owner, text: content, now, incognito, inWindow: messageIdsOf(window), signal });
    const recallMs = performance.now() - started - windowMs;
    return {
      request,
      sessionId,
      created: false,
      turn: user.turn,
      user: { id: user.id, content },
      remember,
      memory: memoryAccess(incognito, remember),
      window,
      recalled,
      timeZone: user.body.time_zone ?? (await this.#timeZone(request, session.metadata)),
      now,
      fence: lease.fence,
      signal,
      timing: { started, windowMs, recallMs },
    };
  }

  /** Runs the agent and journals what came of it. */
  async #answer(open: OpenTurn, options: ChatOptions): Promise<ChatAnswer> {
    const { agent, domain, counter } = this.#parts;
    const { request, recalled, turn, sessionId, user, now, timeZone, signal } = open;
    const inWindow = messageIdsOf(open.window);
    // An edit's window reaches further back than the one that recall ran beside.
    const history = recalled.history.filter((hit) => !inWindow.has(hit.id));
    const shown = new Set([...inWindow, user.id, ...history.map((hit) => hit.id)]);
    const memory = {
      status: recalled.status,
      write_back: open.remember && this.#parts.recall.enabled ? "pending" : "disabled",
      recalled: [...recalled.memories],
    } as const;
    let streamed = "";
    try {
      await options.onEvent?.({ type: "session", session_id: sessionId, turn, user_message_id: user.id, created: open.created });
      await options.onEvent?.({ type: "memory", memory });
      const tombstones = await this.#parts.ledger.tombstones(request.owner);
      const context = buildContext(
        {
          prompt: domain.prompt,
          profile: recalled.profile,
          summary: summaryOf(open.window, tombstones),
          rounds: withoutForgotten(open.window.rounds, tombstones),
          recalled: recalled.memories,
          history,
          pageContext: request.pageContext ?? null,
          instructions: request.instructions ?? null,
          question: user.content,
          now,
          timeZone,
        },
        { maxTokens: this.#options.maxTokens, counter },
      );
      const changed = this.#prefixes.changed(sessionId, context.stable);
      const { tokens, droppedRounds } = context;
      this.#parts.logger.debug({ session_id: sessionId, turn, tokens, dropped_rounds: droppedRounds, prefix_changed: changed }, "context");
      const onEvent = (event: AgentEvent) => {
        if (event.type === "token") streamed += event.delta;
        return options.onEvent?.(event.type === "token" ? event : { type: "step", step: answerStep(event.step) });
      };
      const run = {
        owner: request.owner,
        sessionId,
        turn,
        userMessage: user,
        now,
        timeZone,
        signal,
        memory: open.memory,
        hiddenMessageIds: shown,
        references: history.length,
      };
      const result = await agent.run(context.input, { context: run, onEvent });
      signal.throwIfAborted();
      return await this.#record(open, result, memory, referencesTo(history, now, timeZone));
    } catch (error) {
      await this.#recordFailure(open, error, streamed);
      throw error instanceof AppError ? error : new AppError("INTERNAL", { cause: error });
    }
  }

  /** Steps and answer, in one append. */
  async #record(open: OpenTurn, result: AgentResult, memory: ChatAnswer["memory"], references: readonly Element[]): Promise<ChatAnswer> {
    const { turn, sessionId, request } = open;
    const totalMs = performance.now() - open.timing.started;
    const timing: Timing = {
      window_ms: rounded(open.timing.windowMs),
      recall_ms: rounded(open.timing.recallMs),
      model_ms: rounded(result.modelMs),
      total_ms: rounded(totalMs),
    };
    const assistant: NewRecord = {
      type: "message",
      id: newId(),
      turn,
      at: this.#parts.clock.now().toISOString(),
      body: {
        role: "assistant",
        content: result.content,
        channel: request.channel ?? "api",
        outcome: "completed",
        elements: [...references, ...result.elements],
        memory: { ...memory, recalled: [...memory.recalled] },
        timing,
        metadata: {
          model: result.model,
          tokens: result.usage,
          sources: [...result.sources],
          tools_used: [...new Set(result.steps.map((step) => step.name))],
          duration_ms: rounded(totalMs),
        },
      },
    };
    const steps = result.steps.map((step): NewRecord => ({ type: "step", id: step.id, turn, at: step.started_at, body: step }));
    const written = await this.#parts.writer.append(request.owner, sessionId, [...steps, assistant], { fence: open.fence });
    this.#parts.afterTurn(request.owner, sessionId, open.remember);
    return answerFrom(sessionId, { assistant: lastMessage(written), steps: stepsOf(written) });
  }

  /** Keeps the user's message answerable: what was streamed of an interrupted turn, and why a failed one failed. */
  async #recordFailure(open: OpenTurn, error: unknown, streamed: string): Promise<void> {
    const interrupted = open.signal.aborted;
    const code = isAppError(error) ? error.code : "INTERNAL";
    const { request, sessionId, turn, fence } = open;
    const outcome = { interrupted, code, streamed };
    const record = failureRecord(request, turn, this.#parts.clock.now(), outcome);
    try {
      await this.#parts.writer.append(request.owner, sessionId, [record], { fence });
    } catch (cause) {
      this.#parts.logger.warn({ session_id: sessionId, turn, err: cause }, "a turn that failed could not be recorded as such");
    }
    this.#parts.logger.warn({ session_id: sessionId, turn, code, err: error }, interrupted ? "turn interrupted" : "turn failed");
  }

  #window(owner: Owner, sessionId: string, signal: AbortSignal): Promise<WindowRead> {
    return this.#parts.store.journal.window(owner, sessionId, { rounds: this.#options.rounds, signal });
  }

  async #timeZone(request: ChatRequest, metadata: JsonObject): Promise<string> {
    if (request.timeZone !== undefined && !isTimeZone(request.timeZone))
      throw new AppError("INVALID_REQUEST", { detail: "timeZone is not an IANA time zone." });
    const stated = [request.timeZone, metadata.time_zone, request.homeTimeZone];
    // Metadata is the client's own: what is no time zone there is passed over.
    const known = stated.find((zone): zone is string => typeof zone === "string" && isTimeZone(zone));
    return known ?? (await this.#parts.ledger.user(request.owner))?.timeZone ?? "UTC";
  }
}

function memoryAccess(incognito: boolean, remember: boolean): OpenTurn["memory"] {
  if (incognito) return "off";
  return remember ? "full" : "read_only";
}

/** Not one that may still tell what was forgotten since. */
function summaryOf({ summary }: WindowRead, tombstones: readonly Tombstone[]): string | null {
  return summary !== null && isCurrent(summary, tombstones) ? summary.body.text : null;
}

function messageIdsOf({ rounds }: WindowRead): ReadonlySet<string> {
  return new Set(rounds.flatMap((round) => [round.user.id, round.assistant.id]));
}

/** History turns that were recalled, as the elements that cite them. */
function referencesTo(history: Recalled["history"], now: Date, timeZone: string): Element[] {
  return history.map((hit, index) => ({
    id: `message:${hit.id}`,
    type: "text",
    name: `Ref #${index + 1} — ${dayOf(new Date(hit.created_at), now, timeZone)}`,
    content: hit.content,
    display: "side",
  }));
}

function stepsOf(records: readonly JournalRecord[]): Step[] {
  return records.flatMap((record) => (record.type === "step" ? [record.body] : []));
}

function lastMessage(records: readonly JournalRecord[]): MessageRecord {
  const message = records.findLast((record) => record.type === "message");
  if (message?.type !== "message") throw new AppError("INTERNAL", { detail: "The answer was not among the records that were written." });
  return message;
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}
