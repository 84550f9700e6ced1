import { once } from "node:events";
import {
  type ClientHttp2Session,
  connect,
  createServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo } from "node:net";

/** gRPC's number and words, as a service refuses. */
export interface GrpcRefusal {
  readonly code: number;
  readonly message: string;
}

/** An address at which a server that speaks gRPC can be made to refuse calls, or another one be put in its place. */
export interface GrpcProxy {
  readonly port: number;
  /** Of each call whose path ends so, instead of an answer; null: as it is. */
  refuse(method: string, refusal: GrpcRefusal | null): void;
  /** Cuts what is open; new connections go there. */
  switchTo(port: number): void;
  close(): Promise<void>;
}

export async function startGrpcProxy(first: number): Promise<GrpcProxy> {
  const refusals = new Map<string, GrpcRefusal>();
  const clients = new Map<Http2Session, ClientHttp2Session>();
  let target = first;
  const serverOf = (client: Http2Session): ClientHttp2Session => {
    const known = clients.get(client);
    if (known !== undefined) return known;
    const server = connect(`http://127.0.0.1:${target}`);
    server.on("error", () => {});
    server.on("close", () => client.destroy());
    clients.set(client, server);
    return server;
  };
  const proxy = createServer();
  proxy.on("session", (client) => {
    client.on("error", () => {});
    client.on("close", () => {
      clients.get(client)?.destroy();
      clients.delete(client);
    });
  });
  proxy.on("stream", (call, headers) => {
    call.on("error", () => {});
    const refused = [...refusals].find(([method]) => headers[":path"]?.endsWith(method))?.[1];
    if (refused !== undefined) refuse(call, refused);
    else if (call.session !== undefined) passOn(call, headers, serverOf(call.session));
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const cut = () => {
    for (const client of [...clients.keys()]) client.destroy();
  };
  return {
    port: (proxy.address() as AddressInfo).port,
    refuse: (method, refusal) => void (refusal === null ? refusals.delete(method) : refusals.set(method, refusal)),
    switchTo(port) {
      target = port;
      cut();
    },
    close() {
      cut();
      return new Promise((resolve) => proxy.close(() => resolve()));
    },
  };
}

function refuse(call: ServerHttp2Stream, { code, message }: GrpcRefusal): void {
  const status = { "grpc-status": String(code), "grpc-message": encodeURIComponent(message) };
  call.respond({ ":status": 200, "content-type": "application/grpc", ...status }, { endStream: true });
}

function passOn(call: ServerHttp2Stream, { ":authority": _, ...headers }: IncomingHttpHeaders, server: ClientHttp2Session): void {
  const asked = server.request(headers);
  asked.on("error", () => call.destroy());
  call.on("close", () => asked.close());
  let trailers: IncomingHttpHeaders = {};
  asked.on("trailers", (given) => {
    trailers = given;
  });
  call.on("wantTrailers", () => call.sendTrailers(trailers));
  asked.on("response", (answer) => {
    // Of a call that fails at once the status is all there is.
    const isAll = answer["grpc-status"] !== undefined;
    call.respond(answer, isAll ? { endStream: true } : { waitForTrailers: true });
    if (!isAll) asked.pipe(call);
  });
  call.pipe(asked);
}
