import type { Owner } from "../domain/owner.js";
import { addTokens, type ModelPrice, priceFor, type TaskTokens, type TokensByTask, type TokenTask } from "../domain/tokens.js";
import { AsyncValue } from "../platform/async-value.js";
import { withMembers } from "../platform/present.js";
import { cutText } from "../platform/rendering.js";
import { estimatedTokens } from "../platform/tokens.js";
import type { ChatModel, ModelCallOptions, ModelEvent, ModelRequest } from "../ports/chat-model.js";

export interface MeteredWork {
  readonly owner: Owner;
  /** Null where the work is for no one session. */
  readonly sessionId: string | null;
}

export interface MeteredCall {
  readonly task: TokenTask;
  readonly model: string;
  /** With its cost, where the model's price is known. */
  readonly tokens: TaskTokens;
  /** Null where it was made for nobody. */
  readonly owner: Owner | null;
}

interface Running extends MeteredWork {
  tokens: TokensByTask;
  over: boolean;
}

/**
 * Counts what calls of models and embedders cost, for the work in which they were made: a turn, its write-back, a session's upkeep. Whoever
 * journals what came of the work takes the count along. What nobody took is kept for the session until somebody does; a crash loses it.
 */
export class TokenMeter {
  readonly #running = new AsyncValue<Running>();
  readonly #left = new Map<string, TokensByTask>();
  readonly #onSpent: (owner: Owner, spent: TaskTokens) => void;
  readonly #onCall: (call: MeteredCall) => void;
  readonly #priceOf: (model: string) => ModelPrice | null;

  /**
   * `onSpent` is told of every call that is made for somebody, `onCall` of every one. Neither may throw. Default: nobody is told.
   * `priceOf`: null where a model's price is unknown. Default: none is known.
   */
  constructor({
    onSpent = () => {},
    onCall = () => {},
    priceOf = () => null,
  }: {
    readonly onSpent?: (owner: Owner, spent: TaskTokens) => void;
    readonly onCall?: (call: MeteredCall) => void;
    readonly priceOf?: (model: string) => ModelPrice | null;
  } = {}) {
    this.#onSpent = onSpent;
    this.#onCall = onCall;
    this.#priceOf = priceOf;
  }

  /** Runs `work`, and counts the calls in it for its own. */
  async during<T>({ owner, sessionId }: MeteredWork, work: () => Promise<T>): Promise<T> {
    const running: Running = { owner, sessionId, tokens: {}, over: false };
    try {
      return await this.#running.run(running, work);
    } finally {
      running.over = true;
      this.#leave(running, running.tokens);
    }
  }

  /** A call of a model that has ended. One that was made for nobody (a check at the start) is counted for nobody. */
  add(task: TokenTask, model: string, counted: TaskTokens): void {
    const price = this.#priceOf(model);
    const tokens = price === null ? counted : { ...counted, cost: priceFor(counted, price) };
    const running = this.#running.get();
    this.#onCall({ task, model, tokens, owner: running?.owner ?? null });
    if (running === undefined) return;
    this.#onSpent(running.owner, tokens);
    if (running.over) this.#leave(running, { [task]: tokens });
    else running.tokens = addTokens(running.tokens, { [task]: tokens });
  }

  /** What the work that runs has cost since it was last asked. */
  take(): TokensByTask {
    const running = this.#running.get();
    if (running === undefined) return {};
    const { tokens } = running;
    running.tokens = {};
    return tokens;
  }

  /** What work for a session has cost that nobody took: of earlier work, and of that which runs. */
  takeAll(work: MeteredWork): TokensByTask {
    const running = this.#running.get();
    const key = keyOf(work);
    if (key === null) return {};
    const left = this.#left.get(key) ?? {};
    this.#left.delete(key);
    return running !== undefined && keyOf(running) === key ? addTokens(left, this.take()) : left;
  }

  /** Whom the work that runs is for; null where it is for nobody. */
  get owner(): Owner | null {
    return this.#running.get()?.owner ?? null;
  }

  #leave(work: MeteredWork, tokens: TokensByTask): void {
    const key = keyOf(work);
    if (key === null || Object.keys(tokens).length === 0) return;
    this.#left.set(key, addTokens(this.#left.get(key) ?? {}, tokens));
  }
}

function keyOf({ owner, sessionId }: MeteredWork): string | null {
  return sessionId === null ? null : JSON.stringify([owner, sessionId]);
}

/** More than anybody reads of one answer, in characters; its record in a journal holds it in any script. */
export const MAX_ANSWER_CHARS = 100_000;

/** A model's answer as it comes; one that goes on without end is cut, and ends as one that came to the model's own limit. */
async function* boundedAnswer(events: AsyncIterable<ModelEvent>, maxChars = MAX_ANSWER_CHARS): AsyncGenerator<ModelEvent, void, undefined> {
  let left = maxChars;
  for await (const event of events) {
    if (event.type === "text" && event.delta.length > left) {
      yield { type: "text", delta: cutText(event.delta, left) };
      yield { type: "end", reason: "length", usage: { input_tokens: 0, output_tokens: 0 } };
      return;
    }
    if (event.type === "text") left -= event.delta.length;
    else if (event.type === "retract") left = maxChars;
    yield event;
  }
}

/**
 * A model whose calls are counted, by what they are for. Where the provider tells no usage, request and answer are estimated. A call that
 * fails is not counted: nothing is told of it. `mayCall` is asked before each call that is made for somebody, and throws where it may not
 * be made. Default: it may. An answer without end is cut ({@link boundedAnswer}), and counted as it was written.
 */
export function meteredModel(
  model: ChatModel,
  meter: Pick<TokenMeter, "add" | "owner">,
  mayCall: (owner: Owner) => Promise<void> = async () => {},
): ChatModel {
  if (model.standIn) return model;
  return withMembers(model, {
    async *stream(request, options) {
      if (meter.owner !== null) await mayCall(meter.owner);
      yield* counted(model, meter, request, options);
    },
  });
}

async function* counted(
  model: ChatModel,
  meter: Pick<TokenMeter, "add">,
  request: ModelRequest,
  options: ModelCallOptions,
): AsyncGenerator<ModelEvent, void, undefined> {
  let written = "";
  for await (const event of boundedAnswer(model.stream(request, options))) {
    if (event.type === "text") written += event.delta;
    else if (event.type === "tool_call") written += event.call.arguments;
    else if (event.type === "end") {
      const { input_tokens: input, cached_tokens: cached = 0, output_tokens: output } = event.usage;
      const tokens: TaskTokens = input > 0 ? { calls: 1, input, cached, output } : estimateOf(request, written);
      // Where one model takes over from another, each has its price.
      meter.add(request.task ?? "chat", event.model ?? model.name, tokens);
    }
    yield event;
  }
}

function estimateOf({ messages, tools = [] }: ModelRequest, written: string): TaskTokens {
  const sent = JSON.stringify([messages, tools]);
  return { calls: 1, input: estimatedTokens.count(sent), cached: 0, output: estimatedTokens.count(written), estimated: true };
}
