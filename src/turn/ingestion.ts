import { givenRecords, positionAfter } from "../domain/given-messages.js";
import { AppError, isAppError } from "../platform/errors.js";
import { derivedId, isId, newId } from "../platform/ids.js";
import type { MessagesToAdd } from "../ports/own-agent.js";
import type { AddedMessages } from "../ports/resources.js";
import { type IdempotencyEntry, underSessionLock } from "../ports/session-store.js";
import { activeSession } from "./active-session.js";
import { RequestsInFlight } from "./idempotency.js";
import type { OrchestratorParts } from "./orchestrator-parts.js";
import { timeZoneOf } from "./time-zone-of.js";

export type IngestionParts = Pick<
  OrchestratorParts,
  "store" | "writer" | "lagging" | "ledger" | "registry" | "onNewSession" | "afterTurn" | "clock"
> & {
  /** Whether long-term memory is on. */
  readonly remembers: boolean;
};

/** Takes in what is said in conversations that another agent leads. */
export class Ingestion {
  readonly #parts: IngestionParts;
  readonly #waitMs: number;
  readonly #inFlight = new RequestsInFlight();

  constructor(parts: IngestionParts, options: { readonly lockWaitMs: number }) {
    this.#parts = parts;
    this.#waitMs = options.lockWaitMs;
  }

  async add(request: MessagesToAdd, options: { readonly signal?: AbortSignal } = {}): Promise<AddedMessages> {
    const { owner, sessionId, idempotency } = request;
    if (!isId(sessionId)) throw new AppError("INVALID_SESSION_ID");
    await this.#parts.lagging.level(owner);
    return this.#parts.registry.during(owner, options.signal, async (signal) => {
      if (!idempotency) return this.#append(request, signal);
      return this.#inFlight.run(owner, idempotency, { waitMs: this.#waitMs, signal }, () => this.#once(request, signal));
    });
  }

  /** What a key's first request was answered with follows from the record that keeps the key: the ids of its messages come from that. */
  async #once(request: MessagesToAdd, signal: AbortSignal): Promise<AddedMessages> {
    const { owner, sessionId } = request;
    let entry = await this.#entry(request);
    if (entry === null) {
      try {
        return await this.#append(request, signal);
      } catch (error) {
        // Another process took the key meanwhile.
        entry = isAppError(error, "IDEMPOTENCY_IN_PROGRESS") ? await this.#entry(request) : null;
        if (entry === null) throw error;
      }
    }
    if (entry.requestHash !== request.idempotency?.requestHash) throw new AppError("IDEMPOTENCY_KEY_REUSED");
    const session = await activeSession(this.#parts, owner, sessionId);
    request.idempotency.onReplay?.();
    return this.#answer(request, entry.messageId, session.metadata.incognito !== true);
  }

  async #entry({ owner, idempotency }: MessagesToAdd): Promise<IdempotencyEntry | null> {
    const { store, lagging, clock } = this.#parts;
    const key = idempotency?.key ?? "";
    return (await store.index.findIdempotent(owner, key, clock.now())) ?? lagging.findIdempotent(owner, key);
  }

  async #append(request: MessagesToAdd, signal: AbortSignal): Promise<AddedMessages> {
    const { store, writer, ledger, clock, onNewSession, afterTurn } = this.#parts;
    const { owner, sessionId, messages, idempotency, channel = "api" } = request;
    await activeSession(this.#parts, owner, sessionId);
    return underSessionLock(store.locks, owner, sessionId, { waitMs: this.#waitMs, signal }, async (lease) => {
      const session = await activeSession(this.#parts, owner, sessionId);
      const keeps = session.metadata.incognito !== true;
      const timeZone = await timeZoneOf(ledger, request, session.metadata);
      const { lastTurn, lastUserMessage } = await store.journal.window(owner, sessionId, { rounds: 0, signal });
      const now = clock.now();
      const requestId = newId();
      const records = givenRecords(messages, {
        position: positionAfter(lastTurn, lastUserMessage),
        now,
        channel,
        remember: keeps && request.remember !== false,
        timeZone,
        idOf: (index) => messageId(request, requestId, index),
      });
      if (idempotency !== undefined) {
        const body = { by: "derived" as const, idempotency: { key: idempotency.key, request_hash: idempotency.requestHash } };
        records.push({ type: "session_patch", id: requestId, turn: 0, at: now.toISOString(), body });
      }
      if (session.message_count === 0) onNewSession?.(owner);
      await writer.append(owner, sessionId, records, { fence: lease.fence });
      afterTurn(owner, sessionId, keeps && request.remember !== false);
      return this.#answer(request, requestId, keeps);
    });
  }

  #answer(request: MessagesToAdd, requestId: string, keeps: boolean): AddedMessages {
    return {
      messages: request.messages.map((_, index) => messageId(request, requestId, index)),
      write_back: keeps && request.remember !== false && this.#parts.remembers ? "pending" : "disabled",
    };
  }
}

function messageId({ owner, sessionId }: MessagesToAdd, requestId: string, index: number): string {
  return derivedId("message", owner, sessionId, "given", requestId, index);
}
