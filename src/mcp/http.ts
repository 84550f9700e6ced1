import { isJSONRPCResponse, type Transport, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { AppError } from "../platform/errors.js";
import type { McpConnection } from "./server.js";

/** A server that listens elsewhere. */
export interface RemoteServer {
  /** Of its `/mcp`. */
  readonly url: URL;
  /** Who asks. */
  readonly headers: Readonly<Record<string, string>>;
  /** What it throws, the client is told. */
  readonly fetch: (input: string | URL, init?: RequestInit) => Promise<Response>;
}

/** The streamable HTTP of a server of ours: one message a request, answered as JSON, without a session or a stream of the protocol. */
export function remoteServer({ url, headers, fetch }: RemoteServer): Transport {
  const closing = new AbortController();
  const asked = new Headers({ ...headers, Accept: "application/json, text/event-stream", "Content-Type": "application/json" });
  const transport: Transport = {
    start: async () => {},
    async send(message) {
      const { signal } = closing;
      const body = JSON.stringify(message);
      // A redirect would take the headers along, which say who asks.
      const response = await fetch(url, { method: "POST", headers: asked, body, signal, redirect: "error" });
      if (response.status === 202) return;
      const answer: unknown = await response.json();
      if (!isJSONRPCResponse(answer)) throw new AppError("SERVER_UNREACHABLE", { detail: `${url.origin} is no server of Maitred's.` });
      transport.onmessage?.(answer);
    },
    async close() {
      closing.abort();
      transport.onclose?.();
    },
    setProtocolVersion: (version) => asked.set("MCP-Protocol-Version", version),
  };
  return transport;
}

/**
 * The answer to one message that came by POST, as JSON; 202 to what wants none. Nothing is kept for the next one, which any other process
 * may answer. `protocolVersion`: what the client's `MCP-Protocol-Version` says.
 */
export async function answerOf(server: McpConnection, message: unknown, protocolVersion: string | undefined): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  const headers = new Headers({ Accept: "application/json, text/event-stream", "Content-Type": "application/json" });
  if (protocolVersion !== undefined) headers.set("MCP-Protocol-Version", protocolVersion);
  await server.connect(transport);
  try {
    const request = new Request("http://localhost/mcp", { method: "POST", headers });
    return await transport.handleRequest(request, { parsedBody: message });
  } finally {
    await server.close();
  }
}
