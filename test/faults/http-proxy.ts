import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** `refuse`: the connection is cut. `hang`: no answer until it is mended. A number: that status, with an error's body. */
export type HttpFault = "refuse" | "hang" | "malformed" | number;

/** An address at which a server that speaks HTTP fails what is chosen by its path and body. */
export interface HttpProxy {
  readonly url: string;
  fault(fault: HttpFault | null, chosen: (path: string, body: string) => boolean): void;
  close(): Promise<void>;
}

export async function startHttpProxy(target: string): Promise<HttpProxy> {
  let fault: HttpFault | null = null;
  let chosen: (path: string, body: string) => boolean = () => false;
  const hanging = new Set<ServerResponse>();
  const fail = (kind: HttpFault, incoming: IncomingMessage, response: ServerResponse) => {
    if (kind === "refuse") incoming.socket.destroy();
    else if (kind === "hang") hanging.add(response);
    else if (kind === "malformed") response.writeHead(200, { "content-type": "application/json" }).end('{"ids": [');
    else response.writeHead(kind, { "content-type": "application/json" }).end('{"error": "Scripted", "message": "scripted"}');
  };
  const serve = async (incoming: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    if (fault !== null && chosen(incoming.url ?? "", body.toString("utf8"))) return fail(fault, incoming, response);
    const asked = request(`${target}${incoming.url}`, { method: incoming.method, headers: incoming.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    asked.on("error", () => response.destroy());
    asked.end(body);
  };
  const proxy = createServer((incoming, response) => void serve(incoming, response).catch(() => response.destroy()));
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const cut = () => {
    for (const response of hanging) response.destroy();
    hanging.clear();
  };
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    fault(next, which) {
      fault = next;
      chosen = which;
      if (next === null) cut();
    },
    close() {
      cut();
      proxy.closeAllConnections();
      return new Promise((resolve) => proxy.close(() => resolve()));
    },
  };
}
