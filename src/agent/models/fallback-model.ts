import { AppError, type ErrorCode, isAppError } from "../../platform/errors.js";
import type { Logger } from "../../platform/logger.js";
import type { ChatModel, ModelCallOptions, ModelEvent, ModelMeasure, ModelRequest } from "../../ports/chat-model.js";
import { ModelTimeout } from "../bounded-stream.js";
import { hasImages } from "./refusals.js";

/** After what another model may still answer. A context that is too large, or filtered, is no reason: it would be so for that one too. */
const TAKEN_OVER: ReadonlySet<ErrorCode> = new Set([
  "MODEL_UNAVAILABLE",
  "MODEL_TIMEOUT",
  "MODEL_QUOTA",
  "MODEL_REFUSED_REQUEST",
  "IMAGES_NOT_SUPPORTED",
]);
/** How long the first model is left alone after it asked for time, at most, in milliseconds. */
const LONGEST_REST_MS = 60_000;

export interface FallbackModelOptions {
  readonly first: ChatModel;
  readonly second: ChatModel;
  /** How long the first one may take to its first token, in milliseconds. */
  readonly firstTokenMs: number;
  readonly logger: Logger;
}

/** Two models as one: the second takes over where the first fails before its first token. What was begun is never begun anew. */
export class FallbackModel implements ChatModel {
  readonly name: string;
  readonly standIn = false;
  readonly contextTokens?: number;
  readonly #options: FallbackModelOptions;
  #restUntil = 0;

  constructor(options: FallbackModelOptions) {
    const { first, second } = options;
    this.#options = options;
    this.name = first.name;
    // What is sent must fit both.
    const known = [first.contextTokens, second.contextTokens].filter((tokens) => tokens !== undefined);
    if (known.length > 0) this.contextTokens = Math.min(...known);
  }

  async *stream(request: ModelRequest, options: ModelCallOptions): AsyncGenerator<ModelEvent, void, undefined> {
    const { first, second, logger } = this.#options;
    const mayTakeOver = !hasImages(request) || second.takesImages?.() === true;
    if (performance.now() >= this.#restUntil || !mayTakeOver) {
      let begun = false;
      try {
        for await (const event of this.#first(request, options)) {
          begun = true;
          yield named(event, first);
        }
        return;
      } catch (error) {
        if (begun || !mayTakeOver || options.signal.aborted || !isAppError(error) || !TAKEN_OVER.has(error.code)) throw error;
        this.#restUntil = performance.now() + Math.min((error.retryAfterSeconds ?? 0) * 1000, LONGEST_REST_MS);
        logger.warn(
          { model: first.name, code: error.code, fallback: second.name },
          "the model failed before its first token: the fallback takes over",
        );
      }
    }
    for await (const event of second.stream(request, options)) yield named(event, second);
  }

  takesImages(): boolean {
    return [this.#options.first, this.#options.second].some((model) => model.takesImages?.() === true);
  }

  /** What is sent must fit both; how fast it goes is the first one's. */
  measured(): ModelMeasure {
    const [first, second] = [this.#options.first, this.#options.second].map((model) => model.measured?.());
    const windows = [first, second].flatMap((each) => each?.contextTokens ?? []);
    const contextTokens = windows.length === 0 ? null : Math.min(...windows);
    const { inputPerSecond = null, outputPerSecond = null, reads = null, measuredAt = null } = first ?? {};
    return { contextTokens, inputPerSecond, outputPerSecond, reads, measuredAt };
  }

  problem(): string | null {
    const { first, second } = this.#options;
    const [one = null, other = null] = [first.problem?.(), second.problem?.()];
    // While the first answers, the second isn't asked: what kept it from answering may have passed long ago.
    if (one === null) return null;
    return other === null ? `${one}; ${second.name} answers in its place` : `${one}; ${second.name}: ${other}`;
  }

  readsMessages(reads: boolean): void {
    this.#options.first.readsMessages?.(reads);
  }

  facts(): readonly string[] {
    const { first, second } = this.#options;
    return [
      ...(first.facts?.() ?? []),
      `falls back to ${second.name}`,
      ...(second.facts?.() ?? []).map((fact) => `${second.name}: ${fact}`),
    ];
  }

  askContextTokens(signal: AbortSignal): Promise<number | null> {
    return this.#options.first.askContextTokens?.(signal) ?? Promise.resolve(null);
  }

  /** @throws MODEL_TIMEOUT where its first token takes too long, and what it throws itself */
  async *#first(request: ModelRequest, options: ModelCallOptions): AsyncGenerator<ModelEvent, void, undefined> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new ModelTimeout()), this.#options.firstTokenMs);
    try {
      const signal = AbortSignal.any([options.signal, late.signal]);
      for await (const event of this.#options.first.stream(request, { ...options, signal })) {
        clearTimeout(timer);
        yield event;
      }
    } catch (error) {
      if (late.signal.aborted && !options.signal.aborted) throw new AppError("MODEL_TIMEOUT", { cause: error });
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}

function named(event: ModelEvent, { name }: ChatModel): ModelEvent {
  return event.type === "end" ? { model: name, ...event } : event;
}
