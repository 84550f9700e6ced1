import { isAppError } from "../../platform/errors.js";
import { type Logger, silentLogger } from "../../platform/logger.js";
import type { ChatModel, ModelCallOptions, ModelEvent, ModelRequest } from "../../ports/chat-model.js";
import { boundedStream, ModelTimeout } from "../bounded-stream.js";
import { type Ask, answered, type Endpoint, takesImages } from "./attempts.js";
import { capabilityFacts } from "./capabilities.js";
import { WindowTooSmall } from "./fitted-request.js";
import { KnownCapabilities } from "./known-capabilities.js";
import { requestBoundMs } from "./speed.js";
import type { Watch } from "./traffic.js";

/** What every model over an endpoint can be told, whichever SDK it is asked with. */
export interface EndpointOptions {
  /** Milliseconds for one call, retries included; for one that nobody waits for at least. Default 60,000. */
  readonly timeoutMs?: number;
  /** Before the first token only, on what may pass. Default 2. */
  readonly maxRetries?: number;
  /** Tokens of the model's window, where it is known. */
  readonly contextTokens?: number;
  /** Whether it takes images. `auto`: until it refuses them. `on`: asked every time. `off`: never sent any. Default `auto`. */
  readonly vision?: Endpoint["vision"];
  /** What is learnt of endpoints; shared, so that each thing is learnt once. Default: its own. */
  readonly known?: KnownCapabilities;
  /** Default: none. */
  readonly logger?: Logger;
  /** Variables that a person would look at when a request is refused. Default: the SDK's. */
  readonly settings?: string;
}

export function endpointOf(
  options: EndpointOptions,
  own: Pick<Endpoint, "address" | "model" | "settings"> & { readonly secrets?: readonly string[] },
): Endpoint {
  const { timeoutMs = 60_000, maxRetries = 2, vision = "auto", known = new KnownCapabilities(), logger = silentLogger } = options;
  const settings = options.settings ?? own.settings;
  return { secrets: [], ...own, settings, timeoutMs, maxRetries, contextTokens: options.contextTokens, vision, known, logger };
}

/** What a model tells of the endpoint behind it. `over`: how it is asked, for a person. */
export function aboutEndpoint(
  endpoint: Endpoint,
  over: string,
): Required<Pick<ChatModel, "measured" | "problem" | "readsMessages" | "takesImages" | "facts">> {
  const { known, address, model, contextTokens } = endpoint;
  return {
    measured: () => known.measureOf(address, model, contextTokens),
    problem: () => known.problems.of(address, model),
    readsMessages: (reads) => known.learn(address, model, { reads }),
    takesImages: () => takesImages(endpoint),
    facts: () => [over, ...capabilityFacts(known.of(address, model))],
  };
}

/** One call with all its tries, within the endpoint's bound; one that nobody waits for behind those of guests, and in its own time. */
export function callEndpoint(endpoint: Endpoint, request: ModelRequest, options: ModelCallOptions, ask: Ask): AsyncIterable<ModelEvent> {
  const { known, address } = endpoint;
  const isAnswer = (request.task ?? "chat") === "chat";
  const open = (watch: Watch, outer: AbortSignal) => {
    const timeoutMs = isAnswer
      ? endpoint.timeoutMs
      : requestBoundMs(endpoint.timeoutMs, known.measureOf(address, endpoint.model, endpoint.contextTokens), request);
    return boundedStream((signal) => answered(endpoint, request, { ...options, signal, timeoutMs }, ask, watch), {
      signal: outer,
      timeoutMs,
    });
  };
  const traffic = known.trafficAt(address);
  const events = isAnswer ? traffic.answer((watch) => open(watch, options.signal)) : traffic.behind(open, options.signal);
  return noted(endpoint, events, { isAnswer, signal: options.signal });
}

/** Keeps in mind how a call ended. */
async function* noted(
  { known: { problems }, address, model }: Endpoint,
  events: AsyncIterable<ModelEvent>,
  { isAnswer, signal }: { readonly isAnswer: boolean; readonly signal: AbortSignal },
): AsyncGenerator<ModelEvent, void, undefined> {
  try {
    for await (const event of events) {
      if (event.type === "end") problems.answered(address, model);
      yield event;
    }
  } catch (error) {
    // Whoever asked may have waited long enough before this did. A turn that is over says nothing of the model: tools take time, too.
    const why = signal.reason instanceof ModelTimeout ? signal.reason : error;
    if (isAppError(why)) problems.failed(address, model, why, isAnswer && why instanceof WindowTooSmall);
    throw error;
  }
}
