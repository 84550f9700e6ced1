import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type VectorClient, VectorStoreError } from "../../src/ports/vectors.js";
import { openLocalQdrant } from "../../src/vectors/local/local-qdrant.js";

/**
 * What goes wrong. `hang`: no answer, ever. `slow`: an answer after `ms`. `status`: that status with Qdrant's error body. `malformed`: 200 with broken
 * JSON. `reset`: half an answer, then the connection is cut. `empty`: 200 with a body that isn't Qdrant's.
 * `strangers`: the answer of a store that ignores filters. `refuse`: the connection is cut before anything is read.
 */
export type Fault =
  | { readonly type: "hang" | "malformed" | "reset" | "empty" | "strangers" | "refuse" }
  | { readonly type: "slow"; readonly ms: number }
  | { readonly type: "status"; readonly status: number; readonly headers?: Readonly<Record<string, string>> };

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
}

export interface QdrantHttp {
  readonly url: string;
  /** Every request, in the order in which its last byte came. */
  readonly requests: readonly SeenRequest[];
  /** The data behind it, without HTTP. */
  readonly client: VectorClient;
  /** For every request that `when` chooses, until it is set again. Null: all is well. */
  fault(fault: Fault | null, when?: (request: SeenRequest) => boolean): void;
  /** As a network that is mended: no fault any more, slow answers go, and connections that hang are cut. */
  heal(): void;
  /** Resolves when this many requests have come. */
  seen(count: number): Promise<void>;
  close(): Promise<void>;
}

/** A loopback server that speaks Qdrant's REST for the calls that Maitred makes, in front of LocalQdrant in memory. */
export async function openQdrantHttp(options: { readonly version?: string } = {}): Promise<QdrantHttp> {
  const local = await openLocalQdrant({ path: ":memory:" });
  const requests: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  const slow = new Map<NodeJS.Timeout, () => void>();
  const hanging = new Set<ServerResponse>();
  const waiting: { count: number; resolve: () => void }[] = [];
  let fault: Fault | null = null;
  let chosen: (request: SeenRequest) => boolean = () => true;

  const server = createServer((incoming, response) => {
    void serve(incoming, response).catch(() => response.destroy());
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await read(incoming);
    requests.push(request);
    for (const each of waiting) if (requests.length >= each.count) each.resolve();
    const now = fault !== null && chosen(request) ? fault : null;
    switch (now?.type) {
      case "refuse":
        incoming.socket.destroy();
        return;
      case "hang":
        hanging.add(response);
        response.on("close", () => hanging.delete(response));
        return;
      case "status":
        return send(response, now.status, { status: { error: "Scripted fault" }, time: 0 }, now.headers);
      case "malformed":
        response.writeHead(200, { "content-type": "application/json" }).end('{"result": {"points": [');
        return;
      case "empty":
        return send(response, 200, { hello: "world" });
      case "reset":
        response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
        response.write('{"result": ', () => incoming.socket.destroy());
        return;
      case "slow":
        await new Promise<void>((resolve) => slow.set(setTimeout(resolve, now.ms), resolve));
    }
    try {
      const result = await answer(local.client, request, options.version ?? "1.17.1", now?.type === "strangers");
      send(response, 200, request.path === "/" ? result : { result, status: "ok", time: 0 });
    } catch (error) {
      const status = error instanceof VectorStoreError ? error.status : 500;
      send(response, status, { status: { error: error instanceof Error ? error.message : "error" }, time: 0 });
    }
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    client: local.client,
    fault: (next, when = () => true) => {
      fault = next;
      chosen = when;
    },
    heal: () => {
      fault = null;
      for (const [timer, go] of slow) {
        clearTimeout(timer);
        go();
      }
      slow.clear();
      for (const response of hanging) response.destroy();
    },
    seen: (count) =>
      new Promise((resolve) => {
        if (requests.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    close: async () => {
      for (const timer of slow.keys()) clearTimeout(timer);
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
      await local.close();
    },
  };
}

async function read(incoming: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return {
    method: incoming.method ?? "",
    path: incoming.url ?? "",
    headers: incoming.headers,
    body: text === "" ? undefined : JSON.parse(text),
  };
}

function send(response: ServerResponse, status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

type Args = Record<string, unknown>;

/** `PUT /collections/{name}/points?wait=true` and the like, to the call of the same meaning. Strict: an unknown route is a 404. */
async function answer(client: VectorClient, request: SeenRequest, version: string, strangers: boolean): Promise<unknown> {
  const url = new URL(request.path, "http://qdrant");
  if (url.pathname === "/") return { title: "qdrant - vector search engine", version };
  const [, root, encoded = "", ...rest] = url.pathname.split("/");
  if (root !== "collections") throw new VectorStoreError(404, "no such route");
  const name = decodeURIComponent(encoded);
  const body = (request.body ?? {}) as Args;
  const { strict_mode_config: _strict, ...config } = body;
  const reading = strangers ? { ...body, filter: undefined } : body;
  const routes: Record<string, () => Promise<unknown>> = {
    "GET exists": () => client.collectionExists(name),
    "GET ": () => client.getCollection(name),
    "PUT ": () => client.createCollection(name, config as never),
    "DELETE ": () => client.deleteCollection(name),
    "PUT index": () => client.createPayloadIndex(name, body as never),
    "PUT points": () => client.upsert(name, body as never),
    "POST points": () => client.retrieve(name, body as never),
    "POST points/query": () => client.query(name, (strangers ? withoutFilters(body) : body) as never),
    "POST points/scroll": () => client.scroll(name, reading as never),
    "POST points/payload": () => client.setPayload(name, body as never),
    "POST points/delete": () => client.delete(name, body as never),
    "POST points/count": () => client.count(name, reading as never),
    "POST facet": () => client.facet(name, reading as never),
  };
  const route = routes[`${request.method} ${rest.join("/")}`];
  if (route === undefined) throw new VectorStoreError(404, "no such route");
  return route();
}

function withoutFilters(body: Args): Args {
  const prefetch = Array.isArray(body.prefetch) ? body.prefetch.map((each: Args) => ({ ...each, filter: undefined })) : undefined;
  return { ...body, filter: undefined, prefetch };
}
