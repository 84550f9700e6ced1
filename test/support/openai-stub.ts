import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * A loopback OpenAI-compatible server: chat completions (streaming and not) and embeddings, with scripted replies and faults.
 * Strict: a chat request that the script did not expect is answered with 500 and noted in {@link OpenAIStub.problems}.
 */

export interface ChatBody {
  readonly model: string;
  readonly messages: readonly {
    readonly role: string;
    readonly content: unknown;
    readonly tool_calls?: unknown;
    readonly tool_call_id?: string;
  }[];
  readonly stream?: boolean;
  readonly stream_options?: unknown;
  readonly tools?: readonly { readonly function: { readonly name: string; readonly parameters: unknown } }[];
  readonly response_format?: { readonly type: string; readonly json_schema?: unknown };
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
}

export interface StubAnswer {
  /** Streamed piece by piece where it is an array. */
  readonly text?: string | readonly string[];
  readonly calls?: readonly { readonly id?: string; readonly name: string; readonly arguments: unknown }[];
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number };
  readonly finish?: string;
  /** A fault instead of an answer, or after half of it. */
  readonly fault?: Fault;
}

/**
 * `refuse`: the connection is closed without an answer. `hang`: nothing ever comes. `slow`: comes when {@link OpenAIStub.release} is called.
 * `malformed`: 200 with something that is no answer. `half`: half of the answer, then the connection is reset. `stall`: half of it, then nothing.
 * `wrong-dimension`: embeddings only. A number is a status, with a body that repeats the request's authorization.
 */
export type Fault = "refuse" | "hang" | "slow" | "malformed" | "half" | "stall" | "wrong-dimension" | number;

type Reply = StubAnswer | ((body: ChatBody) => StubAnswer);

/** Meets every request, or those whose body `when` chooses. */
interface StandingFault {
  readonly fault: Fault;
  readonly when: (body: unknown) => boolean;
}

export interface RecordedRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: unknown;
  /** Resolves when the client has gone away before the answer was complete. */
  readonly aborted: Promise<void>;
}

export class OpenAIStub {
  readonly requests: RecordedRequest[] = [];
  readonly problems: string[] = [];
  /** The next chat completions, in order. */
  readonly #replies: Reply[] = [];
  /** Answers when the script is at its end; absent: a problem. */
  #otherwise: Reply | undefined;
  #embeddingFault: StandingFault | undefined;
  #chatFault: StandingFault | undefined;
  #refused: string | undefined;
  #arrivals: (() => void)[] = [];
  #held: (() => void)[] = [];
  readonly #hanging = new Set<ServerResponse>();
  readonly #server: Server;
  readonly #dimension: number;

  private constructor(server: Server, dimension: number) {
    this.#server = server;
    this.#dimension = dimension;
  }

  static async open(options: { readonly dimension?: number } = {}): Promise<OpenAIStub> {
    let stub: OpenAIStub | undefined;
    const server = createServer((request, response) => {
      stub?.serve(request, response).catch(() => response.destroy());
    });
    stub = new OpenAIStub(server, options.dimension ?? 64);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return stub;
  }

  /** The base URL, with `/v1`. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  chat(...replies: readonly Reply[]): this {
    this.#replies.push(...replies);
    return this;
  }

  /** Answers every chat request that has no reply of its own. */
  chatOtherwise(reply: Reply): this {
    this.#otherwise = reply;
    return this;
  }

  /** Every chat request meets this fault until it is taken back with `undefined`. */
  failChat(fault: Fault | undefined, when: (body: unknown) => boolean = () => true): void {
    this.#chatFault = fault === undefined ? undefined : { fault, when };
  }

  failEmbeddings(fault: Fault | undefined, when: (body: unknown) => boolean = () => true): void {
    this.#embeddingFault = fault === undefined ? undefined : { fault, when };
  }

  /** As a network that is mended: no fault any more, slow answers go, and connections that hang are cut. */
  heal(): void {
    this.#chatFault = undefined;
    this.#embeddingFault = undefined;
    this.release();
    for (const response of this.#hanging) response.destroy();
  }

  /** As an older endpoint: a chat request that holds this parameter or format is answered with a 400 that names it. */
  refuseParameter(name: string): void {
    this.#refused = name;
  }

  /** Resolves when so many requests have come in. */
  async arrived(count: number): Promise<void> {
    while (this.requests.length < count) await new Promise<void>((resolve) => this.#arrivals.push(resolve));
  }

  /** Lets slow answers go. */
  release(): void {
    for (const go of this.#held.splice(0)) go();
  }

  async close(): Promise<void> {
    this.release();
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  /** @throws when a reply was not used or a request was not expected */
  assertDone(): void {
    if (this.problems.length > 0) throw new Error(this.problems.join("\n"));
    if (this.#replies.length > 0) throw new Error(`${this.#replies.length} replies of the stub were never asked for.`);
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8") || "null");
    const path = (request.url ?? "").replace(/^\/v1/, "");
    // It lists no models.
    if (request.method === "GET") return sendJson(response, 404, { error: { message: `no ${path}` } });
    const aborted = new Promise<void>((resolve) => {
      response.on("close", () => {
        if (!response.writableFinished) resolve();
      });
    });
    this.requests.push({ path, authorization: request.headers.authorization, body, aborted });
    for (const arrived of this.#arrivals.splice(0)) arrived();
    if (path === "/chat/completions") return this.#chat(body as ChatBody, request, response);
    if (path === "/embeddings") return this.#embed(body as { input: string | string[]; encoding_format?: string }, request, response);
    sendJson(response, 404, { error: { message: `no ${path}` } });
  }

  async #chat(body: ChatBody, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#refused !== undefined && JSON.stringify(body).includes(`"${this.#refused}"`))
      return sendJson(response, 400, { error: { message: `Unsupported parameter: ${this.#refused}`, param: this.#refused } });
    const reply = this.#chatFault?.when(body)
      ? { text: "Half an answer.", fault: this.#chatFault.fault }
      : (this.#replies.shift() ?? this.#otherwise);
    if (reply === undefined) {
      this.problems.push("a chat request that the script did not expect");
      return sendJson(response, 500, { error: { message: "unexpected" } });
    }
    const answer = typeof reply === "function" ? reply(body) : reply;
    if (!(await this.#passes(answer.fault, request, response))) return;
    const chunks = body.stream === true ? streamed(body, answer) : [];
    if (body.stream === true) response.writeHead(200, { "content-type": "text/event-stream" });
    if (answer.fault === "half" || answer.fault === "stall") {
      const half = chunks.slice(0, Math.max(1, Math.floor(chunks.length / 2))).join("");
      if (body.stream !== true) response.writeHead(200, { "content-type": "application/json" });
      response.write(half || '{"choices":[{"mess', () => {
        if (answer.fault === "half") response.destroy();
        else this.#hanging.add(response);
      });
      return;
    }
    if (body.stream === true) {
      for (const chunk of chunks) response.write(chunk);
      response.end();
    } else sendJson(response, 200, whole(body, answer));
  }

  async #embed(
    body: { input: string | string[]; encoding_format?: string },
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const fault = this.#embeddingFault?.when(body) ? this.#embeddingFault.fault : undefined;
    if (!(await this.#passes(fault, request, response))) return;
    const texts = typeof body.input === "string" ? [body.input] : body.input;
    const dimension = fault === "wrong-dimension" ? this.#dimension + 1 : this.#dimension;
    const data = texts.map((text, index) => {
      const vector = vectorOf(text, dimension);
      return {
        object: "embedding",
        index,
        embedding: body.encoding_format === "base64" ? Buffer.from(vector.buffer).toString("base64") : [...vector],
      };
    });
    const answer = JSON.stringify({ object: "list", model: "stub", data, usage: { prompt_tokens: 0, total_tokens: 0 } });
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(answer) });
    if (fault === "half") response.write(answer.slice(0, answer.length / 2), () => response.destroy());
    else if (fault === "stall") response.write(answer.slice(0, answer.length / 2), () => this.#hanging.add(response));
    else response.end(answer);
  }

  /** Plays the faults that come before an answer. True when the answer is to be given. */
  async #passes(fault: Fault | undefined, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    response.on("close", () => this.#hanging.delete(response));
    if (fault === "hang") this.#hanging.add(response);
    if (fault === "refuse") request.socket.destroy();
    else if (fault === "malformed")
      response.writeHead(200, { "content-type": "text/event-stream" }).end('data: {"choices": [{"del\n\ndata: nonsense\n\n');
    else if (fault === "slow") await new Promise<void>((resolve) => this.#held.push(resolve));
    else if (typeof fault === "number")
      // "retry-after-ms" keeps the SDK's backoff out of the test's time.
      sendJson(
        response,
        fault,
        { error: { message: `no: ${request.headers.authorization ?? ""}` } },
        { "retry-after-ms": "1", "retry-after": "7" },
      );
    return fault === undefined || fault === "slow" || fault === "half" || fault === "stall" || fault === "wrong-dimension";
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

function callsOf(answer: StubAnswer) {
  return (answer.calls ?? []).map((call, index) => ({
    index,
    id: call.id ?? `call_stub_${index}`,
    type: "function",
    function: { name: call.name, arguments: typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments) },
  }));
}

/** As OpenAI streams it: role first, text, then tool calls with their arguments in pieces, the finish, and the usage by itself. */
function streamed(body: ChatBody, answer: StubAnswer): string[] {
  const base = { id: "chatcmpl-stub", object: "chat.completion.chunk", created: 0, model: body.model };
  const choice = (delta: unknown, finish: string | null = null) => ({ ...base, choices: [{ index: 0, delta, finish_reason: finish }] });
  const calls = callsOf(answer);
  const pieces: unknown[] = [choice({ role: "assistant", content: "" })];
  for (const content of typeof answer.text === "string" ? [answer.text] : (answer.text ?? [])) pieces.push(choice({ content }));
  for (const call of calls) {
    const half = Math.ceil(call.function.arguments.length / 2);
    pieces.push(choice({ tool_calls: [{ ...call, function: { name: call.function.name, arguments: "" } }] }));
    pieces.push(choice({ tool_calls: [{ index: call.index, function: { arguments: call.function.arguments.slice(0, half) } }] }));
    pieces.push(choice({ tool_calls: [{ index: call.index, function: { arguments: call.function.arguments.slice(half) } }] }));
  }
  pieces.push(choice({}, answer.finish ?? (calls.length > 0 ? "tool_calls" : "stop")));
  if (body.stream_options !== undefined)
    pieces.push({ ...base, choices: [], usage: { ...(answer.usage ?? { prompt_tokens: 0, completion_tokens: 0 }), total_tokens: 0 } });
  return [...pieces.map((piece) => `data: ${JSON.stringify(piece)}\n\n`), "data: [DONE]\n\n"];
}

function whole(body: ChatBody, answer: StubAnswer): unknown {
  const text = typeof answer.text === "string" ? answer.text : (answer.text ?? []).join("");
  const calls = callsOf(answer).map(({ index: _, ...call }) => call);
  return {
    id: "chatcmpl-stub",
    object: "chat.completion",
    created: 0,
    model: body.model,
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: text === "" ? null : text, ...(calls.length > 0 && { tool_calls: calls }) },
        finish_reason: answer.finish ?? (calls.length > 0 ? "tool_calls" : "stop"),
      },
    ],
    usage: { ...(answer.usage ?? { prompt_tokens: 0, completion_tokens: 0 }), total_tokens: 0 },
  };
}

/** Words hashed into a non-negative unit vector: texts that share words are near. */
function vectorOf(text: string, dimension: number): Float32Array {
  const vector = new Float32Array(dimension);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ["empty"]) {
    const slot = createHash("sha1").update(word).digest().readUInt32BE(0) % dimension;
    vector[slot] = (vector[slot] ?? 0) + 1;
  }
  const norm = Math.hypot(...vector);
  return vector.map((value) => value / norm);
}
