import {
  type CancelledNotification,
  type InitializeResult,
  isInitializeRequest,
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
} from "@modelcontextprotocol/server";
import { isAppError } from "../platform/errors.js";

/** A server's own errors begin here. */
const SERVER_ERROR = -32_000;

/** The requests of one client that have no answer yet. */
export class Waiting {
  readonly #requests = new Set<RequestId>();
  #initialize: RequestId | null = null;

  get isEmpty(): boolean {
    return this.#requests.size === 0;
  }

  /** A message of the client's. What it cancels gets no answer. */
  asked(message: JSONRPCMessage): void {
    if (isJSONRPCRequest(message)) this.#requests.add(message.id);
    if (isInitializeRequest(message)) this.#initialize = (message as { readonly id: RequestId }).id;
    if (!("method" in message) || message.method !== "notifications/cancelled") return;
    const cancelled = (message.params as CancelledNotification["params"] | undefined)?.requestId;
    if (cancelled !== undefined) this.#requests.delete(cancelled);
  }

  /** A message of the server's. Returns the protocol's version, where it is the answer that settles it. */
  answered(message: JSONRPCMessage): string | undefined {
    if (!isJSONRPCResultResponse(message) && !isJSONRPCErrorResponse(message)) return undefined;
    if (message.id !== undefined) this.#requests.delete(message.id);
    if (message.id !== this.#initialize || !("result" in message)) return undefined;
    return (message.result as Partial<InitializeResult>).protocolVersion;
  }

  /** The answer to a request that did not reach the server; null for what wants none. */
  lost(message: JSONRPCMessage, error: unknown): JSONRPCMessage | null {
    if (!isJSONRPCRequest(message)) return null;
    const told = isAppError(error)
      ? { message: error.message, data: { code: error.code, hint: error.hint } }
      : { message: "The server gave no answer that can be read." };
    return { jsonrpc: "2.0", id: message.id, error: { code: SERVER_ERROR, ...told } };
  }
}
