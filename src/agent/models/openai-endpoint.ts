import OpenAI from "openai";
import { Stream } from "openai/streaming";
import { parsedJson } from "../../platform/json.js";
import { OPENAI_URL, type OpenAIAccess, openAIClient } from "../../platform/openai-client.js";
import { EndpointFailure, statusIn } from "./endpoint-failure.js";
import { encodedBody } from "./inline-images.js";

export interface OpenAIEndpointOptions extends OpenAIAccess {
  /** Bound of one request, in milliseconds. */
  readonly timeoutMs: number;
}

/** An answer as it came: chunks, or one whole body, whichever the endpoint sends. */
export type Body =
  | { readonly streamed: true; readonly chunks: AsyncIterable<unknown> /** Whether `[DONE]` was read. */; readonly done: () => boolean }
  | { readonly streamed: false; readonly whole: unknown };

/** The `openai` SDK with what it lacks: error bodies as they came, whatever their shape; JSON where a stream was asked for. */
export class OpenAIEndpoint {
  readonly url: string;
  readonly #client: OpenAI;

  constructor(options: OpenAIEndpointOptions) {
    this.url = options.baseUrl ?? OPENAI_URL;
    this.#client = openAIClient(options, options.timeoutMs);
  }

  /** @throws EndpointFailure */
  async post(
    path: "/chat/completions" | "/responses",
    body: object,
    { task, hasImages, signal }: { readonly task: string; readonly hasImages: boolean; readonly signal: AbortSignal },
  ): Promise<Body> {
    const streaming = "stream" in body && body.stream === true;
    try {
      const headers = {
        "Content-Type": "application/json",
        "X-Maitred-Task": task,
        Accept: streaming ? "text/event-stream, application/json" : "application/json",
      };
      const response = await this.#client
        .post(path, { body: hasImages ? await encodedBody(body) : body, headers, signal, stream: streaming })
        .asResponse();
      if (isPage(response)) throw new EndpointFailure("page");
      if (!streaming) return { streamed: false, whole: await this.#json(response) };
      const isSaidJson = (response.headers.get("content-type") ?? "").includes("json");
      // Some say so of a stream.
      const { first, whole } = isSaidJson ? await looked(response) : { first: "", whole: response };
      return isSaidJson && !EVENT.test(first) ? { streamed: false, whole: await this.#json(whole) } : this.#stream(whole);
    } catch (error) {
      throw failureOf(error);
    }
  }

  /** A path, or an absolute URL. Null for whatever is no JSON, or no answer. */
  async get(path: string, signal: AbortSignal): Promise<unknown> {
    try {
      return await this.#json(await this.#client.get(path, { signal }).asResponse());
    } catch {
      return null;
    }
  }

  async #json(response: Response): Promise<unknown> {
    const body = parsedJson(await response.text());
    if (body === undefined) throw new EndpointFailure("unreadable");
    return body;
  }

  #stream(response: Response): Body {
    let tail = "";
    const decoder = new TextDecoder();
    const watch = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        tail = (tail + decoder.decode(chunk, { stream: true })).slice(-64);
        controller.enqueue(chunk);
      },
    });
    const watched = new Response(response.body?.pipeThrough(watch) ?? null, { headers: response.headers });
    const stream = Stream.fromSSEResponse<unknown>(watched, new AbortController(), this.#client);
    return { streamed: true, chunks: judged(stream), done: () => tail.includes("[DONE]") };
  }
}

function isPage(response: Response): boolean {
  return (response.headers.get("content-type") ?? "").startsWith("text/html");
}

const EVENT = /^\s{0,20}(?:data|event|id|retry)?:/;

/** The first piece of a body, and the response as it was. */
async function looked(response: Response): Promise<{ readonly first: string; readonly whole: Response }> {
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  const rest = new ReadableStream<Uint8Array>({
    start: (controller) => (value === undefined ? controller.close() : controller.enqueue(value)),
    pull: async (controller) => {
      const next = await reader?.read();
      if (next?.value === undefined) controller.close();
      else controller.enqueue(next.value);
    },
    cancel: (reason) => reader?.cancel(reason),
  });
  return { first: new TextDecoder().decode(value).slice(0, 64), whole: new Response(rest, { headers: response.headers }) };
}

async function* judged(chunks: AsyncIterable<unknown>): AsyncGenerator<unknown, void, undefined> {
  try {
    yield* chunks;
  } catch (error) {
    throw failureOf(error);
  }
}

/** Neither message nor cause of the original: both may hold the request. */
function failureOf(error: unknown): EndpointFailure {
  if (error instanceof EndpointFailure) return error;
  if (error instanceof OpenAI.APIConnectionTimeoutError) return new EndpointFailure("timeout");
  if (error instanceof OpenAI.APIConnectionError) return new EndpointFailure("unreachable");
  if (!(error instanceof OpenAI.APIError)) return new EndpointFailure("unreadable");
  const given = error.error as { readonly raw?: unknown; readonly code?: unknown } | undefined;
  const body = typeof given?.raw === "string" ? given.raw : JSON.stringify(given ?? null);
  const status = error.status ?? statusIn(given?.code);
  return new EndpointFailure("refused", {
    body,
    ...(status !== undefined && { status }),
    header: (name) => error.headers?.get(name),
  });
}

/** Some endpoints answer 200 with an error in it. @throws EndpointFailure for one */
export function refuseError(body: unknown): void {
  if (typeof body !== "object" || body === null || !("error" in body) || body.error === null || body.error === undefined) return;
  const status = statusIn((body.error as { code?: unknown }).code);
  throw new EndpointFailure("refused", { body: JSON.stringify(body), ...(status !== undefined && { status }) });
}
