import type { ChatModel, ModelCallOptions, ModelEvent, ModelMeasure, ModelRequest } from "../../ports/chat-model.js";
import { aiSdkFailure, generatedEvents, streamedEvents } from "./ai-sdk-answer.js";
import { aiSdkCall } from "./ai-sdk-request.js";
import type { ProviderEvent } from "./answer-sorter.js";
import { type Endpoint, takesImages } from "./attempts.js";
import { type Capabilities, capabilityFacts } from "./capabilities.js";
import { callEndpoint, type EndpointOptions, endpointOf, measureOf, problemOf } from "./endpoint.js";

/** What is used of an AI SDK language model (specification v2 or v3): what every provider package of `ai` 5 and 6 makes. */
export interface AiSdkLanguageModel {
  readonly specificationVersion: string;
  /** "anthropic.messages". */
  readonly provider: string;
  readonly modelId: string;
  doStream(options: never): PromiseLike<{ readonly stream: ReadableStream<unknown> }>;
  doGenerate(options: never): PromiseLike<unknown>;
}

export interface AiSdkModelOptions extends EndpointOptions {
  /** Options for the provider, by its name: `{ anthropic: { thinking: … } }`. Default: none. */
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/**
 * Any model of the AI SDK's providers (`@ai-sdk/anthropic`, `@ai-sdk/google`, …) as a {@link ChatModel}. Providers translate for their
 * endpoints; tries, waits, thought and errors are handled here as for every other model.
 *
 * @example
 * const maitred = await createOrchestrator({}, { model: aiSdkModel(createAnthropic({ apiKey })("claude-sonnet-4-5")) });
 */
export function aiSdkModel(model: AiSdkLanguageModel, options: AiSdkModelOptions = {}): ChatModel {
  return new AiSdkModel(model, options);
}

class AiSdkModel implements ChatModel {
  readonly name: string;
  readonly standIn = false;
  readonly contextTokens?: number;
  readonly #model: AiSdkLanguageModel;
  readonly #endpoint: Endpoint;
  readonly #providerOptions: AiSdkModelOptions["providerOptions"];

  constructor(model: AiSdkLanguageModel, options: AiSdkModelOptions) {
    this.name = model.modelId;
    if (options.contextTokens !== undefined) this.contextTokens = options.contextTokens;
    this.#model = model;
    this.#providerOptions = options.providerOptions;
    this.#endpoint = endpointOf(options, {
      address: `ai-sdk ${model.provider}`,
      model: model.modelId,
      settings: "the AI SDK provider's settings",
    });
  }

  stream(request: ModelRequest, options: ModelCallOptions): AsyncIterable<ModelEvent> {
    return callEndpoint(this.#endpoint, request, options, (...args) => this.#ask(...args));
  }

  measured(): ModelMeasure {
    return measureOf(this.#endpoint);
  }

  problem(): string | null {
    return problemOf(this.#endpoint);
  }

  readsMessages(reads: boolean): void {
    const { known, address, model } = this.#endpoint;
    known.learn(address, model, { reads });
  }

  takesImages(): boolean {
    return takesImages(this.#endpoint);
  }

  facts(): readonly string[] {
    const { known, address, model } = this.#endpoint;
    return [`over the AI SDK (${this.#model.provider})`, ...capabilityFacts(known.of(address, model))];
  }

  async *#ask(request: ModelRequest, known: Capabilities, signal: AbortSignal): AsyncGenerator<ProviderEvent, void, undefined> {
    const { address, model } = this.#endpoint;
    const call = aiSdkCall(request, known, {
      by: `${address} ${model}`,
      signal,
      ...(this.#providerOptions !== undefined && { providerOptions: this.#providerOptions }),
    });
    try {
      if (known.streaming) yield* streamedEvents((await this.#model.doStream(call as never)).stream);
      else yield* generatedEvents(await this.#model.doGenerate(call as never));
    } catch (error) {
      throw aiSdkFailure(error);
    }
  }
}
