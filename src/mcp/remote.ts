import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";

/** A server that listens elsewhere. */
export interface RemoteServer {
  /** Of its `/mcp`. */
  readonly url: URL;
  /** Who asks. */
  readonly headers: Readonly<Record<string, string>>;
  /** What it throws, the client is told. */
  readonly fetch: (input: string | URL, init?: RequestInit) => Promise<Response>;
}

export function remoteServer({ url, headers, fetch }: RemoteServer): Transport {
  return new StreamableHTTPClientTransport(url, { requestInit: { headers: { ...headers } }, fetch }) as Transport;
}
