import { present } from "../../platform/present.js";
import type { ChatModel, ModelRequest } from "../../ports/chat-model.js";
import { aiSdkFailure, generatedEvents, streamedEvents } from "./ai-sdk-answer.js";
import { aiSdkCall } from "./ai-sdk-request.js";
import type { ProviderEvent } from "./answer-sorter.js";
import type { Capabilities } from "./capabilities.js";
import { aboutEndpoint, callEndpoint, type EndpointOptions, endpointOf } from "./endpoint.js";

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
  const { contextTokens, providerOptions } = options;
  const address = `ai-sdk ${model.provider}`;
  const endpoint = endpointOf(options, { address, model: model.modelId, settings: "the AI SDK provider's settings" });
  async function* ask(request: ModelRequest, known: Capabilities, signal: AbortSignal): AsyncGenerator<ProviderEvent, void, undefined> {
    const call = aiSdkCall(request, known, { by: `${address} ${model.modelId}`, signal, ...present({ providerOptions }) });
    try {
      if (known.streaming) yield* streamedEvents((await model.doStream(call as never)).stream);
      else yield* generatedEvents(await model.doGenerate(call as never));
    } catch (error) {
      throw aiSdkFailure(error);
    }
  }
  return {
    name: model.modelId,
    standIn: false,
    ...present({ contextTokens }),
    ...aboutEndpoint(endpoint, `over the AI SDK (${model.provider})`),
    stream: (request, call) => callEndpoint(endpoint, request, call, ask),
  };
}
