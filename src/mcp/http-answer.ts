import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import type { McpConnection } from "./server.js";

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
