import { hash } from "node:crypto";
import type { Element, ProviderState, Step } from "../domain/session.js";
import { shortCallId } from "../domain/short-call-id.js";
import type { Clock } from "../platform/clock.js";
import { AppError, isAppError } from "../platform/errors.js";
import { newId } from "../platform/ids.js";
import type { Logger } from "../platform/logger.js";
import type {
  Agent,
  AgentInput,
  AgentResult,
  AgentRun,
  AnyTool,
  BeforeTool,
  ChatModel,
  Domain,
  ModelRequest,
  ModelToolCall,
} from "../ports/agent.js";
import type { FinishReason } from "../ports/chat-model.js";
import { AnswerText, emptyAnswer, neverAnswered } from "./answer-text.js";
import { boundedStream } from "./bounded-stream.js";
import { halfContext } from "./half-context.js";
import { addUsage, PartEvents, type Progress, progressOf, toolsUsed, workSince } from "./progress.js";
import { type Outcome, ToolBox } from "./tool-box.js";

export interface ReactAgentOptions {
  readonly model: ChatModel;
  readonly tools: readonly AnyTool[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Model calls of a turn that may ask for tools; at the limit follows one last call without. Default 8. */
  readonly maxIterations?: number;
  /** Milliseconds for one model call. Default 60,000. */
  readonly modelTimeoutMs?: number;
  /** A longer tool output, as JSON, is cut. Default 16,000. */
  readonly maxOutputChars?: number;
  /** See {@link AnswerText}. 0 streams everything at once. Default 160. */
  readonly holdBackChars?: number;
  /** The same in milliseconds: a slow model is read along. Default 600. */
  readonly holdBackMs?: number;
  /** {@link Domain.arrange}. Default: elements stay as the tools gave them. */
  readonly arrange?: NonNullable<Domain["arrange"]>;
  /** Default: every call of a tool runs. */
  readonly beforeTool?: BeforeTool;
}

/** Calls of one iteration that run; more are answered with an observation. */
const MAX_PARALLEL_CALLS = 16;

/** What one model call gave. */
interface Thinking {
  readonly calls: readonly ModelToolCall[];
  readonly reason: FinishReason;
  readonly provider?: ProviderState;
}

/**
 * Think, act, observe, until an answer or the step limit (Yao et al., "ReAct", 2022), by tool calling.
 * Calls of one iteration run in parallel; steps come in the order of the calls.
 */
export class ReactAgent implements Agent {
  readonly modelName: string;
  readonly standIn: boolean;
  readonly #options: Required<Omit<ReactAgentOptions, "beforeTool">>;
  readonly #tools: ToolBox;

  constructor(options: ReactAgentOptions) {
    this.#options = {
      maxIterations: 8,
      modelTimeoutMs: 60_000,
      maxOutputChars: 16_000,
      holdBackChars: 160,
      holdBackMs: 600,
      arrange: (_answer, elements) => elements,
      ...options,
    };
    this.#tools = new ToolBox({ ...this.#options, beforeTool: options.beforeTool });
    this.modelName = options.model.name;
    this.standIn = options.model.standIn;
  }

  takesImages(): boolean {
    return this.#options.model.takesImages?.() ?? false;
  }

  async run(input: AgentInput, run: AgentRun): Promise<AgentResult> {
    const text = new AnswerText({
      emit: async (delta) => run.onEvent?.({ type: "token", delta }),
      onRetracted: async (content) => run.onEvent?.({ type: "retract", content }),
      holdBackChars: this.#options.holdBackChars,
      holdBackMs: this.#options.holdBackMs,
    });
    const progress = progressOf(input, run, { specs: this.#tools.specs, model: this.modelName });
    const told = new PartEvents(async (part) => run.onEvent?.({ type: "part", ...part }));
    const first = 1 + progress.steps.reduce((last, { iteration }) => Math.max(last, iteration), -1);
    let finish: FinishReason = "stop";
    let askedAgain = false;
    let stillCalls = false;
    for (let made = 0; progress.waiting.length === 0; made += 1) {
      const mayAct = made < this.#options.maxIterations && progress.offered.length > 0;
      const thinking = await this.#think(progress, text, mayAct, run);
      finish = thinking.reason;
      if (thinking.calls.length === 0 && finish === "stop" && text.blank && !askedAgain) {
        // Some models end a turn without a word now and then: once more, as one of the turn's calls.
        askedAgain = true;
        await text.retract();
        continue;
      }
      stillCalls = thinking.calls.length > 0;
      if (!mayAct || !stillCalls) break;
      const thought = text.endThought();
      // What was streamed before a wait is no part of the answer that follows it: the model is told it as what it thought.
      const waits = thinking.calls.some((call) => isCallers(call, run));
      const said = waits ? [text.answer, thought ?? ""].filter((part) => part !== "").join("\n\n") : thought;
      await this.#act(thinking, said === "" ? undefined : said, first + made, progress, run, async (shown) => {
        progress.placed.push({ after: text.answer.length, elements: shown.map(({ id }) => id) });
        await told.tell({ content: text.answer, ...progress });
      });
    }
    await text.endAnswer();
    for (const id of progress.citations.cited) progress.shapedBy.add(id);
    if (text.answer.trim() === "" && progress.waiting.length === 0)
      throw stillCalls ? neverAnswered(progress.steps.length) : emptyAnswer(finish);
    return {
      content: text.answer,
      steps: progress.steps,
      toolsUsed: toolsUsed(progress),
      elements: this.#options.arrange(text.answer, progress.elements),
      placed: progress.placed,
      used: [...progress.shapedBy],
      sources: [...progress.sources.values()],
      usage: progress.usage,
      model: progress.model,
      ...((finish === "length" || finish === "content_filter") && { finish }),
      modelMs: progress.modelMs,
      ...(progress.waiting.length > 0 && { waiting: progress.waiting }),
    };
  }

  /** One model call; once more with half of the context where that is too large for the model. */
  async #think(progress: Progress, text: AnswerText, mayAct: boolean, run: AgentRun): Promise<Thinking> {
    try {
      return await this.#ask(progress, text, mayAct, run);
    } catch (error) {
      const half = isAppError(error, "CONTEXT_TOO_LARGE") && !progress.halved ? halfContext(progress.messages) : null;
      if (half === null) throw error;
      this.#options.logger.warn(
        { messages: progress.messages.length, kept: half.length },
        "the context is too large for the model: halved",
      );
      progress.messages = half;
      progress.halved = true;
      return this.#ask(progress, text, mayAct, run);
    }
  }

  async #ask(progress: Progress, text: AnswerText, mayAct: boolean, run: AgentRun): Promise<Thinking> {
    const { model, modelTimeoutMs } = this.#options;
    const request: ModelRequest = {
      messages: progress.messages,
      ...(progress.offered.length > 0 && { tools: progress.offered }),
      ...(progress.offered.length > 0 && !mayAct && { toolChoice: "none" as const }),
      cacheKey: cacheKeyOf(run.context.sessionId),
      task: "chat",
    };
    const calls: ModelToolCall[] = [];
    const { deadline, context } = run;
    const startedMs = performance.now();
    const timed = (error?: unknown) => context.onTimed?.({ name: "model", ...workSince(startedMs, error) });
    const stream = boundedStream((signal) => model.stream(request, { signal, ...(deadline !== undefined && { deadline }) }), {
      signal: context.signal,
      timeoutMs: modelTimeoutMs,
      onWait: (ms) => {
        progress.modelMs += ms;
      },
    });
    try {
      for await (const event of stream) {
        if (event.type === "text") await text.push(progress.citations.take(event.delta), mayAct);
        else if (event.type === "retract") {
          progress.citations.retract();
          await text.retract();
        } else if (event.type === "tool_call") calls.push(withId(event.call, calls, progress.steps));
        else {
          await text.push(progress.citations.end(), mayAct);
          timed();
          progress.usage = addUsage(progress.usage, event.usage);
          progress.model = event.model ?? this.modelName;
          return { calls, reason: event.reason, ...(event.provider !== undefined && { provider: event.provider }) };
        }
      }
    } catch (error) {
      timed(error);
      throw error;
    }
    // Not reached: a bounded stream ends with its `end`.
    throw new AppError("MODEL_UNAVAILABLE");
  }

  async #act(
    { calls, provider }: Thinking,
    thought: string | undefined,
    iteration: number,
    progress: Progress,
    run: AgentRun,
    onShown: (elements: readonly Element[]) => Promise<void>,
  ): Promise<void> {
    const pending = calls.map((call, index) => {
      const mayRun = index < MAX_PARALLEL_CALLS;
      return mayRun && isCallers(call, run) ? this.#wait(call, progress) : this.#call(call, mayRun, progress, run);
    });
    // Every call is settled before any failure is thrown: an abort must not leave one running unwatched.
    await Promise.allSettled(pending);
    // What a provider keeps with its calls may name them.
    const before = progress.steps.length;
    const shown = calls.map((call, index) =>
      provider === undefined ? { ...call, id: shortCallId(run.context.turn, before + index) } : call,
    );
    progress.messages.push({ role: "assistant", content: thought ?? "", tool_calls: shown, ...(provider !== undefined && { provider }) });
    for (const [index, call] of calls.entries()) {
      const done = await pending[index];
      if (done === undefined) continue;
      const step: Step = {
        id: newId(),
        type: "tool_call",
        name: call.name,
        call_id: call.id,
        iteration,
        ...(index === 0 && thought !== undefined && { thought }),
        ...(index === 0 && provider !== undefined && { provider }),
        input: done.outcome.input,
        output: done.outcome.output,
        error: done.outcome.error,
        started_at: done.startedAt,
        duration_ms: done.durationMs,
      };
      progress.steps.push(step);
      if (progress.waiting.includes(call.id)) continue;
      progress.messages.push({ role: "tool", tool_call_id: shown[index]?.id ?? call.id, content: done.outcome.content });
      const { elements = [], sources = [], used = [] } = done.outcome.result ?? {};
      progress.elements.push(...elements);
      for (const id of used) progress.shapedBy.add(id);
      for (const source of sources) progress.sources.set(`${source.type}:${source.id}`, source);
      await run.onEvent?.({ type: "step", step });
      if (elements.length > 0) await onShown(elements);
    }
  }

  /** A call that the caller sees to. */
  async #wait(call: ModelToolCall, progress: Progress): Promise<{ outcome: Outcome; startedAt: string; durationMs: number }> {
    progress.waiting.push(call.id);
    return { outcome: this.#tools.handedOver(call), startedAt: this.#options.clock.now().toISOString(), durationMs: 0 };
  }

  async #call(
    call: ModelToolCall,
    mayRun: boolean,
    progress: Progress,
    run: AgentRun,
  ): Promise<{ outcome: Outcome; startedAt: string; durationMs: number }> {
    // Counted before the first await, so that parallel calls of one tool see each other.
    const used = progress.used.get(call.name) ?? 0;
    progress.used.set(call.name, used + 1);
    const startedAt = this.#options.clock.now().toISOString();
    const started = performance.now();
    const context = { ...run.context, callId: call.id };
    const outcome = mayRun
      ? await this.#tools.run(call, used, context, run.without)
      : this.#tools.refuse(call, "Too many calls at once; this one did not run.");
    const endedMs = performance.now();
    const failed = outcome.error === null ? {} : { error: "TOOL_FAILED" };
    if (mayRun) context.onTimed?.({ name: call.name, startedMs: started, endedMs, ...failed });
    return { outcome, startedAt, durationMs: endedMs - started };
  }
}

function isCallers(call: ModelToolCall, { tools = [] }: AgentRun): boolean {
  return tools.some(({ name }) => name === call.name);
}

/** One conversation's requests begin alike. A hash: an id is nobody else's business. */
function cacheKeyOf(sessionId: string): string {
  return hash("sha256", sessionId).slice(0, 32);
}

/** A call's id must be its own within the turn, or results could be mixed up and writes swallowed. */
function withId(call: ModelToolCall, calls: readonly ModelToolCall[], steps: readonly Step[]): ModelToolCall {
  const taken = call.id === "" || calls.some(({ id }) => id === call.id) || steps.some(({ call_id }) => call_id === call.id);
  // 38 characters: OpenAI takes 40.
  return taken ? { ...call, id: `call_${steps.length + calls.length}_${newId().replaceAll("-", "")}`.slice(0, 40) } : call;
}
