import type { Element, JournalRecord, MessageMetadata, MessageRecord, NewRecord, PlacedElements, Step, Timing } from "../domain/session.js";
import { totalCost } from "../domain/tokens.js";
import { AppError, isAppError } from "../platform/errors.js";
import { newId } from "../platform/ids.js";
import type { AgentResult } from "../ports/agent.js";
import type { ChatAnswer } from "../ports/resources.js";
import { answerFrom } from "./answer.js";
import { forgetsIn, stillWaiting } from "./asked.js";
import type { OpenTurn } from "./open-turn.js";
import type { OrchestratorParts } from "./orchestrator-parts.js";
import type { StreamedAnswer } from "./streamed-answer.js";
import { waitingAnswer } from "./suspended-turn.js";
import { failureRecord } from "./turn-records.js";
import type { TurnTrace } from "./turn-trace.js";

/** An answer that was not written within this time, in milliseconds, is not tried again: its guest waits. */
const WRITE_AGAIN_WITHIN_MS = 5_000;

/** Journals what came of a turn. */
export class TurnOutcome {
  readonly #parts: OrchestratorParts;

  constructor(parts: OrchestratorParts) {
    this.#parts = parts;
  }

  /** Steps and answer, in one append. */
  async answered(
    open: OpenTurn,
    result: AgentResult,
    memory: ChatAnswer["memory"],
    references: readonly Element[],
    trace: TurnTrace,
  ): Promise<ChatAnswer> {
    const { turn, sessionId, request } = open;
    const waiting = stillWaiting(memory.to_confirm, result.steps);
    const asked = waiting.map(({ id }) => id);
    const timing = timingOf(open, result);
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
        placed: placedIn(result),
        memory: { ...keptMemory(memory, result), to_confirm: [...waiting] },
        ...(asked.length > 0 && { asked }),
        // Both messages of such a round tell what was to be forgotten.
        ...(forgetsIn(result.steps) && { in_history: false }),
        timing,
        metadata: this.#metadata(result, timing),
      },
    };
    const steps = result.steps.map((step): NewRecord => ({ type: "step", id: step.id, turn, at: step.started_at, body: step }));
    const written = await this.#writeAnswer(open, [...steps, assistant]);
    if (asked.length > 0) this.#parts.onAsked(request.owner, asked);
    this.#parts.afterTurn(request.owner, sessionId, !open.incognito);
    const { modelMs } = result;
    const { firstTokenMs } = trace;
    const measured = { totalMs: timing.total_ms, firstTokenMs, recallMs: open.timing.recallMs, modelMs };
    this.#parts.metrics?.turnEnded({ outcome: "completed", memory: memory.status, timing: measured });
    this.#record(open, trace, memory, { outcome: "completed", errorCode: null, ...modelOf(result) });
    const answer = answerFrom(sessionId, { assistant: lastMessage(written), steps: stepsOf(written) });
    this.#parts.onAnswered?.(request.owner, { message: request.message, answer });
    return answer;
  }

  /**
   * The guest has seen the answer: where the store can't say whether it is written, it is written once more, if it is not. @throws as
   * `append`
   */
  async #writeAnswer(open: OpenTurn, records: readonly NewRecord[]): Promise<readonly JournalRecord[]> {
    const { request, sessionId, turn, lease } = open;
    const { writer, store } = this.#parts;
    const options = { fence: lease.fence, lastOf: lease };
    const from = performance.now();
    try {
      return await writer.append(request.owner, sessionId, records, options);
    } catch (error) {
      // Records and index are one write where a turn is started by the store.
      const isKnown = !isAppError(error, "STORAGE_UNAVAILABLE") || store.startTurn === undefined;
      if (isKnown || performance.now() - from > WRITE_AGAIN_WITHIN_MS) throw error;
      try {
        return await writer.append(request.owner, sessionId, records, { ...options, unanswered: turn });
      } catch (again) {
        const written = isAppError(again, "TURN_ANSWERED") ? await this.#newest(open, records) : null;
        if (written === null) throw error;
        return written;
      }
    }
  }

  /** These records as they are in the journal; null where they are not its newest of the turn. */
  async #newest({ request, sessionId, turn, signal }: OpenTurn, records: readonly NewRecord[]): Promise<readonly JournalRecord[] | null> {
    const found: JournalRecord[] = [];
    for await (const record of this.#parts.store.journal.newestFirst(request.owner, sessionId, { signal })) {
      if (record.turn !== turn) continue;
      found.unshift(record);
      if (found.length < records.length) continue;
      return found.every(({ id }, place) => id === records[place]?.id) ? found : null;
    }
    return null;
  }

  /** The turn waits for what its caller's tools give: it counts as interrupted until it goes on and is answered. */
  async suspended(
    open: OpenTurn,
    result: AgentResult,
    memory: ChatAnswer["memory"],
    calls: readonly string[],
    trace: TurnTrace,
  ): Promise<ChatAnswer> {
    const { turn, sessionId, request } = open;
    const timing = timingOf(open, result);
    const suspended = {
      steps: [...result.steps],
      calls: [...calls],
      elements: [...result.elements],
      sources: [...result.sources],
      used: [...(result.used ?? [])],
    };
    const record: NewRecord = {
      type: "message",
      id: newId(),
      turn,
      at: this.#parts.clock.now().toISOString(),
      body: {
        role: "assistant",
        content: result.content,
        channel: request.channel ?? "api",
        outcome: "interrupted",
        memory: keptMemory(memory, result),
        suspended,
        timing,
        metadata: this.#metadata(result, timing),
      },
    };
    const written = await this.#parts.writer.append(request.owner, sessionId, [record], { fence: open.lease.fence, lastOf: open.lease });
    this.#unanswered(open);
    this.#parts.metrics?.turnEnded({ outcome: "suspended", memory: memory.status });
    this.#record(open, trace, memory, { outcome: "suspended", errorCode: null, ...modelOf(result) });
    return waitingAnswer(sessionId, lastMessage(written));
  }

  /** What was said in it is read as in any other turn. */
  #unanswered({ request, sessionId, incognito }: OpenTurn): void {
    if (!incognito) this.#parts.afterTurn(request.owner, sessionId, true);
  }

  #record({ request }: OpenTurn, trace: TurnTrace, ...[memory, how]: RecordedHow): void {
    this.#parts.recorder?.turnEnded(request.owner, trace.ended(how, memory, this.#parts.counter));
  }

  #metadata(result: AgentResult, timing: Timing): MessageMetadata {
    return {
      model: result.model,
      tokens: this.#spent(result),
      sources: [...result.sources],
      tools_used: [...(result.toolsUsed ?? new Set(result.steps.map((step) => step.name)))],
      duration_ms: timing.total_ms,
      ...(result.finish !== undefined && { finish: result.finish }),
    };
  }

  /** What the turn cost by task, beside the usage of the answer's calls; where the provider tells none of it, as it was counted here. */
  #spent({ usage }: AgentResult): NonNullable<MessageMetadata["tokens"]> {
    const taken = this.#parts.tokens?.take() ?? {};
    const { chat, extraction, embeddings } = taken;
    // An agent of one's own may call models that nobody counts here.
    const isCounted = chat !== undefined || usage.input_tokens + usage.output_tokens === 0 || this.#parts.agent.standIn === true;
    return {
      ...usage,
      ...(chat?.estimated && { input_tokens: chat.input, output_tokens: chat.output, estimated: true as const }),
      ...(chat && { calls: chat.calls, chat }),
      ...(extraction && { extraction }),
      ...(embeddings && { embeddings }),
      cost: isCounted ? totalCost(taken) : null,
    };
  }

  /** Keeps the user's message answerable: what was streamed of an interrupted turn, and why a failed one failed. */
  async failed(open: OpenTurn, error: unknown, streamed: StreamedAnswer, trace: TurnTrace): Promise<void> {
    const late = isAppError(open.signal.reason, "MODEL_TIMEOUT");
    const interrupted = open.signal.aborted && !late;
    const code = late ? "MODEL_TIMEOUT" : isAppError(error) ? error.code : "INTERNAL";
    const { request, sessionId, turn, lease } = open;
    const spent = this.#parts.tokens?.take() ?? {};
    const outcome = { interrupted, code, streamed, suspended: open.resumed?.suspended, tokens: spent };
    const record = failureRecord(request, turn, this.#parts.clock.now(), outcome);
    this.#parts.metrics?.turnEnded({ outcome: interrupted ? "interrupted" : "failed", memory: open.recalled.status, code });
    try {
      await this.#parts.writer.append(request.owner, sessionId, [record], { fence: lease.fence, unanswered: turn });
      this.#unanswered(open);
      const { status, memories: recalled, held_back } = open.recalled;
      const model = this.#parts.agent.modelName;
      const ended = { outcome: interrupted ? "interrupted" : "failed", errorCode: code, model, cachedTokens: null } as const;
      this.#record(open, trace, { status, recalled, held_back }, ended);
    } catch (cause) {
      // The answer is in the journal, though the store could not say so: a repeat is given it.
      if (isAppError(cause, "TURN_ANSWERED")) return;
      this.#parts.logger.warn({ session_id: sessionId, turn, err: cause }, "a turn that failed could not be recorded as such");
    }
    this.#parts.logger.warn({ session_id: sessionId, turn, code, err: error }, interrupted ? "turn interrupted" : "turn failed");
  }
}

type RecordedHow = [memory: Parameters<TurnTrace["ended"]>[1], how: Parameters<TurnTrace["ended"]>[0]];

function modelOf({ model, usage }: AgentResult) {
  return { model, cachedTokens: usage.cached_tokens ?? null };
}

function keptMemory(memory: ChatAnswer["memory"], { used = [] }: AgentResult) {
  return { ...memory, to_confirm: [...memory.to_confirm], recalled: [...memory.recalled], used: [...used] };
}

function placedIn({ placed = [] }: AgentResult): PlacedElements[] {
  return placed.map(({ after, elements }) => ({ after, elements: [...elements] }));
}

function timingOf({ timing }: OpenTurn, { modelMs }: AgentResult): Timing {
  return {
    window_ms: rounded(timing.windowMs),
    recall_ms: rounded(timing.recallMs),
    model_ms: rounded(modelMs),
    total_ms: rounded(performance.now() - timing.started),
  };
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
