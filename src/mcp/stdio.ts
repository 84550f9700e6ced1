import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import {
  type CancelledNotification,
  deserializeMessage,
  type InitializeResult,
  InMemoryTransport,
  isInitializeRequest,
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import { isAppError } from "../platform/errors.js";
import type { McpConnection } from "./server.js";

/** Where a local client is. */
export interface StdioOptions {
  readonly stdin: Readable;
  /** Gets nothing but messages, one a line. */
  readonly stdout: Writable;
  /** Ends it at once, with what is still running. */
  readonly signal: AbortSignal;
  /** Told of what can't be answered: a line that is no message, a notification that got lost. */
  readonly failed: (error: Error) => void;
}

/** Answers one local client over standard input and output, until its input ends and all that it asked is answered. */
export async function serveStdio(server: McpConnection, options: StdioOptions): Promise<void> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.connect(far);
  await bridgeStdio(near, options);
}

/** Hands messages between standard input and output and a server elsewhere; ends as {@link serveStdio} does. */
export async function bridgeStdio(server: Transport, { stdin, stdout, signal, failed }: StdioOptions): Promise<void> {
  // The SDK's own transport breaks off what runs once its input ends, and passes over lines in silence.
  const input = createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY });
  const waiting = new Waiting();
  const ended = new Promise<void>((resolve) => {
    let inputEnded = false;
    const endIfAnswered = () => {
      if (inputEnded && waiting.isEmpty) resolve();
    };
    const answer: NonNullable<Transport["onmessage"]> = (message) => {
      const version = waiting.answered(message);
      if (version !== undefined) server.setProtocolVersion?.(version);
      // What is written last is to be out before the process ends.
      stdout.write(serializeMessage(message), endIfAnswered);
    };
    const take = (message: JSONRPCMessage) => {
      waiting.asked(message);
      server.send(message).catch((error: unknown) => {
        const lost = waiting.lost(message, error);
        if (lost) answer(lost);
        else failed(error as Error);
      });
    };
    server.onmessage = answer;
    input.on("line", (line) => {
      try {
        take(deserializeMessage(line));
      } catch (error) {
        failed(error as Error);
      }
    });
    input.once("close", () => {
      inputEnded = true;
      endIfAnswered();
    });
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
  await server.start();
  await ended;
  input.close();
  await server.close();
}

/** A server's own errors begin here. */
const SERVER_ERROR = -32_000;

/** The requests of one client that have no answer yet. */
class Waiting {
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
