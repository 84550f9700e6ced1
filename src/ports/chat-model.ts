import type { ImageType } from "../domain/image.js";
import type { ProviderState, Usage } from "../domain/session.js";

/**
 * A language model, whoever runs it. What every adapter promises stands at the members here; the contract suite
 * runs on each.
 *
 * What a caller sends, an adapter makes fit for its endpoint: system text first and in one message, neighbours of one role merged, ids
 * within
 * the endpoint's limits (and back), tools sent whenever the history has calls, arguments that are no JSON object never sent again.
 */

/** What a call is for: sent as header `X-Maitred-Task`, so that a gateway can route and meter. */
export type ModelTask = "chat" | "extraction" | "summary" | "title";

export interface ModelToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON as the model wrote it: may be malformed. */
  readonly arguments: string;
}

/** An image as a model is given it: its bytes, or an https address that its provider fetches. */
export type ModelImage = { readonly data: Uint8Array; readonly mediaType: ImageType } | { readonly url: string };

export type ModelMessage =
  | { readonly role: "system"; readonly content: string }
  /** Images stand behind the text. */
  | { readonly role: "user"; readonly content: string; readonly images?: readonly ModelImage[] }
  | {
      readonly role: "assistant";
      readonly content: string;
      readonly tool_calls?: readonly ModelToolCall[];
      /** As it came with the calls' `end`. Ignored by every adapter but the one that made it. */
      readonly provider?: ProviderState;
    }
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string };

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  readonly messages: readonly ModelMessage[];
  readonly tools?: readonly ToolSpec[];
  /** `none`: the tools are named, as the history may need it, but none is to be called. Default `auto`. */
  readonly toolChoice?: "auto" | "none";
  /**
   * Asks for JSON of this schema instead of prose: the text then is one JSON value, taken out of fences, prose and thought where need be.
   * Where there is none to be found it is what the model wrote. The schema is not checked.
   */
  readonly json?: { readonly name: string; readonly schema: Readonly<Record<string, unknown>> };
  /** Of the answer. What a model thinks before it comes on top where that is known. */
  readonly maxOutputTokens?: number;
  /** The same for requests that begin alike, at most 64 characters: endpoints that take one (OpenAI) cache by it. Default: none. */
  readonly cacheKey?: string;
  /** Default `chat`. */
  readonly task?: ModelTask;
}

/** `length`: cut at the model's or the request's limit. `content_filter`: cut by the provider. */
export type FinishReason = "stop" | "tool_calls" | "length" | "content_filter";

export type ModelEvent =
  /** Of the answer alone: never thought, never a call written as text. */
  | { readonly type: "text"; readonly delta: string }
  /**
   * The text of this call so far was thought after all, and none of it counts: an end of thought came that had no begin. At most once,
   * only for the task `chat` (others are given their text whole), and as a rule only in the first answer of an endpoint's model.
   */
  | { readonly type: "retract" }
  /** Whole, after the text. With an id of its own of at most 40 characters, also where the endpoint gave none. */
  | { readonly type: "tool_call"; readonly call: ModelToolCall }
  /** Always last, and there exactly once. */
  | {
      readonly type: "end";
      readonly reason: FinishReason;
      readonly usage: Usage;
      /** To be kept with the calls and sent back with them: signed reasoning. */
      readonly provider?: ProviderState;
      /** Who answered, where that need not be {@link ChatModel.name}. */
      readonly model?: string;
    };

export interface ModelCallOptions {
  /** An abort ends the call at once, whatever it is waiting for. */
  readonly signal: AbortSignal;
  /** When the turn must be over, as `performance.now()` tells it: nothing is waited for beyond it. Default: not bounded by it. */
  readonly deadline?: number;
}

/** What is known of a model by now; null where nothing is. */
export interface ModelMeasure {
  /** Tokens of its window: as configured, else as its endpoint told. */
  readonly contextTokens: number | null;
  /** Tokens that it reads in a second, and writes, as its last answers went. */
  readonly inputPerSecond: number | null;
  readonly outputPerSecond: number | null;
  /** Whether it reads what guests say. Default: not known. */
  readonly reads?: boolean | null;
  /** Since when this is so, as ISO 8601. Default: null. */
  readonly measuredAt?: string | null;
}

export interface ChatModel {
  readonly name: string;
  /** True for OfflineModel: a rule-based stand-in. */
  readonly standIn: boolean;
  /** Context window in tokens, where it is known. */
  readonly contextTokens?: number;
  /**
   * Throws on the first `next` or later.
   * @throws MODEL_UNAVAILABLE, MODEL_TIMEOUT, MODEL_REFUSED_REQUEST (permanent), MODEL_QUOTA, MODEL_CONTENT_FILTER, CONTEXT_TOO_LARGE,
   * IMAGES_NOT_SUPPORTED, INVALID_IMAGE (the provider can't read or fetch one), ABORTED
   */
  stream(request: ModelRequest, options: ModelCallOptions): AsyncIterable<ModelEvent>;
  /** Changes with every answer. Default: nothing is known. */
  measured?(): ModelMeasure;
  /** What keeps it from answering, for a person, as its last call showed; null where nothing does. Default: nothing. */
  problem?(): string | null;
  /** Told whether it can read messages, once that is seen; what is told is kept with what is measured. */
  readsMessages?(reads: boolean): void;
  /** Whether messages may have images, as far as is known before one was sent. Default: they may not. */
  takesImages?(): boolean;
  /** What was learnt of the endpoint, in plain words. Default: nothing is known. */
  facts?(): readonly string[];
  /** Asks the endpoint how long its context is, in tokens; null where it doesn't tell. Default: not asked. */
  askContextTokens?(signal: AbortSignal): Promise<number | null>;
}

/** What was measured of a model at its endpoint, and since when that is so (ISO 8601). */
export interface MeasuredModel {
  readonly measured_at: string;
  /** As whoever measures has them; what can't be read is measured anew. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** What is measured of models, over restarts and for all processes of an installation. */
export interface MeasuredModels {
  /** By the hash that names endpoint and model. @throws STORAGE_UNAVAILABLE */
  all(): Promise<ReadonlyMap<string, MeasuredModel>>;
  /** Decides by what is there, atomically, and resolves to what is then. @throws STORAGE_UNAVAILABLE */
  change(hash: string, decide: (stored: MeasuredModel | null) => MeasuredModel): Promise<MeasuredModel>;
}
