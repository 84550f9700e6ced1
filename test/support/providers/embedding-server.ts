import { createServer, type ServerResponse } from "node:http";
import { plainConcierge } from "../../fitted/small-window-server.js";
import { onLoopback } from "../on-loopback.js";
import type { ChatBody } from "../openai-stub.js";
import type { EmbeddingFault, EmbeddingRequest } from "./embedding-faults.js";

export interface EmbeddingServer {
  /** Without a path. */
  readonly address: string;
  /** Requests for vectors that were refused, and all of them. */
  readonly refused: EmbeddingRequest[];
  readonly asked: EmbeddingRequest[];
}

const DIMENSION = 48;

/** A provider of chats and embeddings, which does what the fault says. Closed at the end of the test. */
export async function openEmbeddingServer({
  answers,
  refusesChat,
  inBase64,
}: Pick<EmbeddingFault, "answers" | "refusesChat" | "inBase64">): Promise<EmbeddingServer> {
  const [refused, asked]: [EmbeddingRequest[], EmbeddingRequest[]] = [[], []];
  const json = (response: ServerResponse, status: number, body: unknown) =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const piece of request) chunks.push(piece as Buffer);
    if (request.method === "GET") return json(response, 404, {});
    const { pathname: path, searchParams: query } = new URL(request.url ?? "/", "http://localhost");
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    const came: EmbeddingRequest = { path, query, headers: request.headers, body };
    const isChat = path.endsWith("/chat/completions");
    const refusal = isChat ? (refusesChat?.(came) ?? null) : await answers(came, asked.length);
    if (!isChat) asked.push(came);
    if (refusal !== null) {
      if (!isChat) refused.push(came);
      const { status = 200, headers, type = "application/json", pieces } = refusal;
      return void response.writeHead(status, { "content-type": type, ...headers }).end(pieces.join(""));
    }
    if (isChat) return tell(response, body);
    const vectors = came.body.input.map((text) => letterCounts(text, came.body.dimensions ?? DIMENSION));
    const data = vectors.map((vector, index) => ({ index, embedding: inBase64 ? base64Of(vector) : vector }));
    json(response, 200, { object: "list", data, usage: { prompt_tokens: 1, total_tokens: 1 } });
  });
  return { address: await onLoopback(server), refused, asked };
}

function tell(response: ServerResponse, body: ChatBody): void {
  const { text } = plainConcierge({ ...body, tools: [] });
  const chunk = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}`;
  const events = [chunk({ content: text }, null), chunk({}, "stop"), "data: [DONE]", ""];
  response.writeHead(200, { "content-type": "text/event-stream" }).end(events.join("\n\n"));
}

function letterCounts(text: string, dimension: number): number[] {
  const vector = new Array<number>(dimension).fill(0.01);
  for (const letter of text.slice(0, 1_000)) {
    const slot = (letter.codePointAt(0) ?? 0) % dimension;
    vector[slot] = (vector[slot] ?? 0) + 1;
  }
  return vector;
}

function base64Of(vector: readonly number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString("base64");
}
