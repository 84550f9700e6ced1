import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import type { ScriptedTurn } from "./conversation.js";

/** What a request asks for, as far as it is counted. */
interface ChatBody {
  readonly messages: readonly { readonly role: string; readonly content: unknown; readonly tool_calls?: unknown }[];
  readonly tools?: unknown;
  readonly stream?: boolean;
  readonly response_format?: unknown;
}

export interface Sent {
  readonly task: string;
  /** Tools, the answer's schema and messages, as they went over the wire. */
  readonly text: string;
  readonly tokens: number;
  /** Tokens of the answer. */
  readonly output: number;
  readonly body: ChatBody;
}

/**
 * A model over loopback that plays a conversation: it makes the turn's tool calls, one at a time, then answers. Keeps what it was sent, and
 * counts it itself: by the tokenizer of gpt-4o over tools and messages.
 */
export class ScriptedProvider {
  readonly sent: Sent[] = [];
  /** The turn that is played. */
  turn: ScriptedTurn | null = null;
  #calls = 0;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(): Promise<ScriptedProvider> {
    let provider: ScriptedProvider | undefined;
    const server = createServer((request, response) => void provider?.answer(request, response));
    provider = new ScriptedProvider(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return provider;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  play(turn: ScriptedTurn): void {
    this.turn = turn;
    this.#calls = 0;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    // What is asked of an endpoint beside answers costs no tokens.
    if (request.method !== "POST") return void response.writeHead(404).end();
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as ChatBody;
    const text = wire(body);
    const task = String(request.headers["x-maitred-task"]);
    const reply = this.#reply(task, body);
    this.sent.push({ task, text, tokens: tokensOf(text), output: tokensOf(reply.text ?? JSON.stringify(reply.call)), body });
    response.writeHead(200, { "content-type": body.stream ? "text/event-stream" : "application/json" });
    response.end(completion(body.stream === true, reply));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #reply(task: string, body: ChatBody): Reply {
    if (task === "extraction") return { text: JSON.stringify(notesIn(body)) };
    if (task === "title") return { text: TITLE };
    if (task !== "chat") return { text: SUMMARY };
    const call = this.turn?.calls[this.#calls];
    this.#calls += 1;
    return call === undefined ? { text: this.turn?.answer ?? "" } : { call };
  }
}

/** As it went over the wire, tools and schema first: the order in which providers keep a prefix. */
export function wire({ tools = [], response_format: format, messages }: Omit<ChatBody, "stream">): string {
  return [
    JSON.stringify(tools),
    ...(format === undefined ? [] : [JSON.stringify(format)]),
    ...messages.map((message) => JSON.stringify(message)),
  ].join("\n");
}

export function tokensOf(text: string): number {
  return countTokens(text);
}

interface Reply {
  readonly text?: string;
  readonly call?: ScriptedTurn["calls"][number];
}

const TITLE = "A night out on Friday";
const SUMMARY =
  "The guest plans evenings for two, mostly jazz, opera and plays, near the station. She uses a wheelchair, so rooms are step-free. " +
  "Several searches were made for different weeks; the quieter and earlier choices were preferred, and one booking was made.";

/** What is quoted from a message that is to be read. */
function notesIn({ messages }: ChatBody): unknown {
  const {
    MESSAGE,
    EARLIER = [],
    ALSO = {},
  } = JSON.parse(String(messages.at(-1)?.content)) as {
    readonly MESSAGE: string;
    readonly EARLIER?: readonly { readonly MESSAGE: string }[];
    readonly ALSO?: { readonly title?: unknown; readonly summary?: unknown };
  };
  const said = [...EARLIER.map((earlier) => earlier.MESSAGE), MESSAGE];
  const operations = ALL_NOTES.filter(({ quote }) => said.some((text) => text.includes(quote)));
  return {
    off_record: null,
    earlier_off_record: [],
    operations: operations.map((note) => ({ op: "add", strength: "soft", ...note })),
    title: ALSO.title === undefined ? null : TITLE,
    summary: ALSO.summary === undefined ? null : SUMMARY,
  };
}

const ALL_NOTES: ScriptedTurn["notes"][number][] = [];

/** Says what may be noted in the conversations to come. */
export function mayNote(turns: readonly ScriptedTurn[]): void {
  ALL_NOTES.splice(0, ALL_NOTES.length, ...turns.flatMap(({ notes }) => notes));
}

function completion(stream: boolean, { text = "", call }: Reply): string {
  const calls = call && [
    { index: 0, id: `call_${Date.now()}`, type: "function", function: { name: call.name, arguments: JSON.stringify(call.arguments) } },
  ];
  const message = { role: "assistant", content: call ? null : text, ...(calls && { tool_calls: calls }) };
  const finish = call ? "tool_calls" : "stop";
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const base = { id: "chatcmpl-bench", created: 0, model: "bench" };
  if (!stream)
    return JSON.stringify({ ...base, object: "chat.completion", choices: [{ index: 0, message, finish_reason: finish }], usage });
  const chunk = (choices: unknown[], more = {}) =>
    `data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", choices, ...more })}\n\n`;
  return [
    chunk([{ index: 0, delta: message, finish_reason: null }]),
    chunk([{ index: 0, delta: {}, finish_reason: finish }]),
    chunk([], { usage }),
    "data: [DONE]\n\n",
  ].join("");
}
