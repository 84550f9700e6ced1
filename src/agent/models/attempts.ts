import { setTimeout as wait } from "node:timers/promises";
import type { Usage } from "../../domain/session.js";
import { AppError } from "../../platform/errors.js";
import type { Logger } from "../../platform/logger.js";
import type { ModelCallOptions, ModelEvent, ModelRequest } from "../../ports/chat-model.js";
import type { ProviderEvent } from "./answer-sorter.js";
import type { Capabilities } from "./capabilities.js";
import { clientError, EndpointFailure } from "./endpoint-failure.js";
import { bytesPerToken, fittedRequest, isShorter } from "./fitted-request.js";
import type { KnownCapabilities } from "./known-capabilities.js";
import { modelAnswer } from "./model-answer.js";
import { hasImages, lessonOf, mayTryAgain, refusedImage, toldContextTokens } from "./refusals.js";
import { timed } from "./speed.js";
import type { Watch } from "./traffic.js";

/** The first wait before something that may pass is tried again, in milliseconds; each further one is twice as long. */
const FIRST_WAIT_MS = 500;
/** A provider that asks for more than this is not waited for: the client is told, and a fallback takes over. */
const LONGEST_WAIT_MS = 20_000;
/** Of the time of an answer, when one that is still being written is cut, and said to be cut: a guest has then waited long enough. */
const WRITTEN_BY = 0.9;
/** Things that one call may learn: each is a refused request. */
const MAX_LESSONS = 8;

export interface Endpoint {
  /** Where it is and what is asked there: `openai-chat https://…`. Names what is known of it, and what goes back to it. */
  readonly address: string;
  readonly model: string;
  readonly known: KnownCapabilities;
  readonly logger: Logger;
  /** Tries after the first, on what may pass: no connection, 408, 409, 425, 429, 5xx. Before the first token only. */
  readonly maxRetries: number;
  /** Bound of one call with all its tries, in milliseconds; one that nobody waits for may take longer at a slow model. */
  readonly timeoutMs: number;
  /** As it is configured, in tokens; undefined: as the endpoint tells. */
  readonly contextTokens: number | undefined;
  /** Whether it takes images: until it refuses them, asked every time, or never sent any. */
  readonly vision: "auto" | "on" | "off";
  /** The variables that a person would look at when it refuses: "OPENAI_API_KEY, OPENAI_BASE_URL". */
  readonly settings: string;
  /** What must not get into the log, beside what the request holds. */
  readonly secrets: readonly string[];
}

/** One request to the endpoint, made for what is known of it. @throws EndpointFailure */
export type Ask = (request: ModelRequest, known: Capabilities, signal: AbortSignal) => AsyncIterable<ProviderEvent>;

/**
 * Asks until there is an answer, or nothing that could change: what an endpoint refuses by name is left out from then on; what may pass is
 * tried again, after as long as the provider says where that is within the turn. Nothing is tried again once a token was given.
 * @throws what {@link ModelRequest} callers are promised; an abort ends a wait at once
 */
export async function* answered(
  endpoint: Endpoint,
  request: ModelRequest,
  { signal, deadline, timeoutMs }: ModelCallOptions & { readonly timeoutMs: number },
  ask: Ask,
  watch: Watch,
): AsyncGenerator<ModelEvent, void, undefined> {
  const { address, model, known } = endpoint;
  const began = performance.now();
  const until = Math.min(deadline ?? Number.POSITIVE_INFINITY, began + timeoutMs);
  const isRead = (request.task ?? "chat") === "chat" && request.json === undefined;
  const cutAt = isRead ? began + (until - began) * WRITTEN_BY : Number.POSITIVE_INFINITY;
  let retries = 0;
  let again = false;
  for (let lessons = 0; ; ) {
    if (hasImages(request) && !takesImages(endpoint)) throw new AppError("IMAGES_NOT_SUPPORTED");
    const capabilities = known.of(address, model);
    let begun = false;
    const learn = (seen: Partial<Capabilities>) => known.learn(address, model, seen);
    const measure = known.measureOf(address, model, endpoint.contextTokens);
    const fit = { ...capabilities, ...measure, timeoutMs: endpoint.timeoutMs };
    const sent = fittedRequest(request, fit);
    try {
      const context = {
        request: sent,
        known: capabilities.jsonAnswers === "prose" ? { ...capabilities, json: "words" as const } : capabilities,
        by: `${address} ${model}`,
        onSeen: learn,
      };
      for await (const event of modelAnswer(timed(watch(ask(sent, context.known, signal)), sent, capabilities, learn), context)) {
        begun = true;
        if (event.type === "end" && contradicts(event.usage, capabilities)) known.forget(address, model);
        else if (event.type === "end") learn({ bytesPerToken: bytesPerToken(sent, event.usage, fit) ?? capabilities.bytesPerToken });
        yield event;
        if (event.type !== "text" || performance.now() < cutAt) continue;
        yield { type: "end", reason: "length", usage: { input_tokens: 0, output_tokens: 0 } };
        return;
      }
      return;
    } catch (error) {
      if (!(error instanceof EndpointFailure) || signal.aborted) throw error;
      const lesson = begun || lessons >= MAX_LESSONS ? null : lessonOf(error, capabilities, sent);
      const contextTokens = toldContextTokens(error);
      tell(endpoint, error, request, lesson ?? (contextTokens === null ? null : { contextTokens }));
      if (lesson !== null) {
        if (lesson.images === false && endpoint.vision === "on") throw new AppError("IMAGES_NOT_SUPPORTED");
        lessons += 1;
        known.learn(address, model, lesson);
        continue;
      }
      if (!begun && !again && mayTryAgain(error)) {
        again = true;
        continue;
      }
      if (contextTokens !== null) {
        known.learnRefusedWindow(address, model, contextTokens);
        if (!begun && isShorter(fittedRequest(request, { ...fit, contextTokens }), sent)) continue;
      }
      const waitMs = error.retryAfterMs ?? FIRST_WAIT_MS * 2 ** retries;
      const inTime = waitMs <= LONGEST_WAIT_MS && performance.now() + waitMs < until;
      if (begun || !error.passing || retries >= endpoint.maxRetries || !inTime) throw toldError(error, endpoint, request);
      retries += 1;
      await wait(waitMs, undefined, { signal }).catch(() => {
        throw new AppError("ABORTED", { cause: signal.reason });
      });
    }
  }
}

/** More was read at once than the endpoint told that it can. */
function contradicts({ input_tokens: tokens }: Usage, { contextTokens }: Capabilities): boolean {
  return contextTokens !== null && tokens > contextTokens;
}

function toldError(failure: EndpointFailure, { settings }: Endpoint, request: ModelRequest): AppError {
  const told = clientError(failure, settings);
  const ofImage = told.code === "MODEL_REFUSED_REQUEST" && hasImages(request) ? refusedImage(failure) : null;
  return ofImage ?? told;
}

/** As far as is known; with `on` it is asked every time. */
export function takesImages({ vision, known, address, model }: Endpoint): boolean {
  return vision === "on" || (vision === "auto" && known.of(address, model).images);
}

function tell(
  { logger, model, secrets }: Endpoint,
  failure: EndpointFailure,
  request: ModelRequest,
  learnt: Partial<Capabilities> | null,
): void {
  const { kind, status } = failure;
  const fields = { model, task: request.task ?? "chat", kind, status, words: logWords(failure.words, request, secrets) };
  if (learnt === null) {
    logger.warn(fields, "the model's endpoint failed");
    return;
  }
  const change =
    "contextTokens" in learnt ? "told how much it reads at once: longer requests are shortened" : "refused something: it is left out";
  logger.info({ ...fields, learnt }, `the model's endpoint ${change} from now on`);
}

const MAX_CHARS = 300;
/** Shorter texts of a conversation stand in any sentence. */
const MIN_TEXT_CHARS = 6;
/** A conversation's text may be quoted in part: its beginning is looked for. */
const QUOTED_CHARS = 40;
const KEYS = /\b(?:sk|pk|gsk|xai|key)[-_][\w-]{8,80}|\bBearer\s{1,8}\S{4,200}|\bAIza[\w-]{20,60}/g;
const IMAGE_DATA = /data:image\/\S+/gi;

/** A provider's words as they may be logged: without keys, and without what they repeat of the conversation. */
export function logWords(words: string, request: ModelRequest, secrets: readonly string[]): string {
  let clean = words;
  for (const secret of secrets) if (secret.length > 3) clean = clean.replaceAll(secret, "[key]");
  clean = clean.replace(KEYS, "[key]");
  clean = clean.replace(IMAGE_DATA, "[image]");
  for (const message of request.messages) {
    for (const image of (message.role === "user" && message.images) || [])
      if ("url" in image) clean = clean.replaceAll(image.url, "[image]");
    const text = message.content.trim();
    if (text.length < MIN_TEXT_CHARS) continue;
    if (clean.includes(text)) clean = clean.replaceAll(text, "[text]");
    const begin = clean.indexOf(text.slice(0, QUOTED_CHARS));
    // How far the quotation reaches is not known: all that follows goes.
    if (begin !== -1) clean = `${clean.slice(0, begin)}[text]`;
  }
  return clean.slice(0, MAX_CHARS);
}
