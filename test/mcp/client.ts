import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { onTestFinished } from "vitest";
import type { HttpApp } from "../../src/http/app.js";
import { listen } from "../../src/http/server.js";

/** The official client, as a host of MCP servers has it. */
export interface McpClient {
  readonly client: Client;
  /** A tool's structured result. @throws where it is an error */
  call<T>(name: string, args: Readonly<Record<string, unknown>>): Promise<T>;
  /** What a tool refuses with. @throws where it doesn't */
  refusal(name: string, args: Readonly<Record<string, unknown>>): Promise<Refusal>;
}

export interface Refusal {
  readonly code: string;
  readonly detail: string;
  readonly hint: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
  readonly retry_after_seconds?: number;
}

interface Result {
  readonly isError?: boolean;
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent?: unknown;
}

/** Connected until the end of the test. */
export async function connect(transport: Transport): Promise<McpClient> {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  onTestFinished(() => client.close());
  // Only after a listing does the client hold results to their schemas.
  await client.listTools();
  const ask = async (name: string, args: Readonly<Record<string, unknown>>) =>
    (await client.callTool({ name, arguments: { ...args } })) as unknown as Result;
  return {
    client,
    async call<T>(name: string, args: Readonly<Record<string, unknown>>) {
      const result = await ask(name, args);
      if (result.isError === true) throw new Error(`${name} refused: ${result.content[0]?.text}`);
      return result.structuredContent as T;
    },
    async refusal(name, args) {
      const result = await ask(name, args);
      if (result.isError !== true) throw new Error(`${name} was answered: ${JSON.stringify(result)}`);
      return (JSON.parse(result.content[0]?.text ?? "") as { error: Refusal }).error;
    },
  };
}

/** A server that listens on loopback until the end of the test. Returns its address. */
export async function listening(app: HttpApp): Promise<string> {
  const server = await listen(app, { host: "127.0.0.1", port: 0 });
  onTestFinished(() => server.close({ graceMs: 0 }));
  return server.address.url;
}

export function connectHttp(url: string, headers: Readonly<Record<string, string>> = {}): Promise<McpClient> {
  return connect(new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit: { headers: { ...headers } } }) as Transport);
}
