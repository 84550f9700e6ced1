import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";

const requestSchema = z.strictObject({
  model: z.string(),
  input: z.array(z.string().min(1)).min(1).max(2048),
  encoding_format: z.literal("float").optional(),
  dimensions: z.number().int().optional(),
});
export type EmbeddingsRequest = z.infer<typeof requestSchema> & { readonly authorization: string | undefined };

/** What the stub does instead of answering well. Used up one by one, in order. */
export type EmbeddingsFault =
  | { readonly kind: "status"; readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  | { readonly kind: "hang" }
  | { readonly kind: "malformed" }
  | { readonly kind: "reset" }
  | { readonly kind: "dimension"; readonly dimension: number }
  | { readonly kind: "fewer" }
  | { readonly kind: "no-number" };

export interface EmbeddingsStub {
  readonly baseUrl: string;
  readonly requests: readonly EmbeddingsRequest[];
  fail(...faults: readonly EmbeddingsFault[]): void;
  /** Resolves when a request has arrived that the next fault holds. */
  arrived(): Promise<void>;
  close(): Promise<void>;
}

export interface EmbeddingsStubOptions {
  /** Of the model's own vectors. */
  readonly dimension: number;
  /** Judges each request before it is answered: a refusal with status and body, or null. */
  readonly refuse?: (request: EmbeddingsRequest) => { readonly status: number; readonly body: unknown } | null;
  /** Answers with the own dimension, whatever is asked for. */
  readonly ignoresDimensions?: boolean;
}

/** A loopback server with OpenAI's `POST /v1/embeddings`: letter counts as vectors, entries in reverse order, faults on demand. */
export async function openEmbeddingsStub(options: EmbeddingsStubOptions): Promise<EmbeddingsStub> {
  const requests: EmbeddingsRequest[] = [];
  const faults: EmbeddingsFault[] = [];
  const waiting: (() => void)[] = [];

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = requestSchema.safeParse(JSON.parse(await textOf(request)));
    if (request.method !== "POST" || request.url !== "/v1/embeddings" || !body.success) {
      response.writeHead(400, { "content-type": "application/json" }).end('{"error":{"message":"the stub does not know this request"}}');
      return;
    }
    requests.push({ ...body.data, authorization: request.headers.authorization });
    for (const resolve of waiting.splice(0)) resolve();
    const refusal = options.refuse?.({ ...body.data, authorization: request.headers.authorization }) ?? null;
    if (refusal !== null) {
      response.writeHead(refusal.status, { "content-type": "application/json" }).end(JSON.stringify(refusal.body));
      return;
    }
    const fault = faults.shift();
    if (fault?.kind === "hang") return;
    if (fault?.kind === "reset") {
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"object":"list","data":[');
      response.socket?.destroy();
      return;
    }
    if (fault?.kind === "status") {
      response
        .writeHead(fault.status, { "content-type": "application/json", ...(fault.headers ?? { "retry-after-ms": "1" }) })
        .end(JSON.stringify(fault.body ?? { error: { message: "scripted" } }));
      return;
    }
    if (fault?.kind === "malformed") {
      response.writeHead(200, { "content-type": "application/json" }).end('{"data": [');
      return;
    }
    const dimension =
      fault?.kind === "dimension" ? fault.dimension : ((options.ignoresDimensions ? undefined : body.data.dimensions) ?? options.dimension);
    const data = body.data.input.map((text, index) => ({
      object: "embedding",
      index,
      embedding: letterCounts(text, dimension) as unknown[],
    }));
    if (fault?.kind === "fewer") data.pop();
    if (fault?.kind === "no-number" && data[0]) data[0].embedding[0] = "NaN";
    const json = { object: "list", model: body.data.model, data: data.reverse(), usage: { prompt_tokens: 1, total_tokens: 1 } };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(json));
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    fail: (...next) => void faults.push(...next),
    arrived: () => new Promise((resolve) => void waiting.push(resolve)),
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
}

function letterCounts(text: string, dimension: number): number[] {
  const vector = new Array<number>(dimension).fill(0.01);
  let position = 0;
  for (const letter of text) {
    const slot = ((letter.codePointAt(0) ?? 0) * 31 + (position++ % 7)) % dimension;
    vector[slot] = (vector[slot] ?? 0) + 1;
  }
  return vector;
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
