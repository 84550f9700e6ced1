import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A model over loopback that answers at once, as OpenAI's chat completions do, streamed where that is asked for. */
export interface ModelServer {
  readonly url: string;
  close(): Promise<void>;
}

interface ChatBody {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly stream?: boolean;
  readonly response_format?: { readonly type: string };
}

const ANSWER = "Two concerts fit, and both have seats left. Shall I book one?";
/** In `messageOf`: what there is to remember. */
const TO_REMEMBER = "I like seats in row ";

export async function openModelServer(): Promise<ModelServer> {
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as ChatBody;
  const text = replyTo(body, String(request.headers["x-maitred-task"] ?? ""));
  response.writeHead(200, { "content-type": body.stream === true ? "text/event-stream" : "application/json" });
  response.end(completion(body.stream === true, text));
}

/** Whoever asks what a message says is told one thing: Maitred and Mem0, each in its own form. */
function replyTo({ messages, response_format }: ChatBody, task: string): string {
  const last = String(messages.at(-1)?.content);
  if (task === "extraction") return JSON.stringify({ off_record: null, operations: [operation(remembered(last))] });
  if (task === "" && response_format?.type === "json_object") return JSON.stringify({ memory: [{ id: "0", text: remembered(last) }] });
  return ANSWER;
}

function operation(quote: string) {
  return { op: "add", quote, text: quote.replace("I like", "Likes"), category: "other", aspect: quote, strength: "soft", stance: "stated" };
}

/** The last one in the text: what stands before is known already. */
function remembered(text: string): string {
  const from = text.lastIndexOf(TO_REMEMBER);
  return from === -1 ? "Likes the aisle" : text.slice(from, text.indexOf(".", from));
}

function completion(stream: boolean, text: string): string {
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const base = { id: "chatcmpl-field", created: 0, model: "stub" };
  const message = { role: "assistant", content: text };
  if (!stream)
    return JSON.stringify({ ...base, object: "chat.completion", choices: [{ index: 0, message, finish_reason: "stop" }], usage });
  const chunk = (choices: unknown[], more = {}) =>
    `data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", choices, ...more })}\n\n`;
  return [
    chunk([{ index: 0, delta: message, finish_reason: null }]),
    chunk([{ index: 0, delta: {}, finish_reason: "stop" }]),
    chunk([], { usage }),
    "data: [DONE]\n\n",
  ].join("");
}
