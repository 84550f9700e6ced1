import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { within } from "../platform/bounded-signal.js";
import { AppError } from "../platform/errors.js";
import type { HttpApp } from "./app.js";
import { problemResponse } from "./problem.js";

export interface ListenOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
}

export interface RunningServer {
  readonly address: { readonly host: string; readonly port: number; readonly url: string };
  /** Resolves when what is being answered now has been, after `graceMs` at the latest. Goes on accepting. */
  answered(options: { readonly graceMs: number }): Promise<void>;
  /** Stops accepting, lets what is in flight finish for at most `graceMs` (default 10,000), then breaks it off. Idempotent. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/** @throws Node's own error when the port can't be had */
export async function listen(app: Pick<HttpApp, "fetch">, { host, port }: ListenOptions): Promise<RunningServer> {
  const answer = getRequestListener(app.fetch, {
    hostname: host,
    // The request line or Host header make no address; nothing of it is worth repeating.
    errorHandler: () => problemResponse(new AppError("INVALID_REQUEST", { detail: "The request's address is not valid." }), "", "Bearer"),
  });
  const answering = new Set<Promise<void>>();
  const server = createServer(
    {
      // All header fields together, in bytes. More → 431.
      maxHeaderSize: 16_384,
      headersTimeout: 15_000,
      requestTimeout: 300_000,
      keepAliveTimeout: 10_000,
      connectionsCheckingInterval: 5_000,
    },
    (incoming, outgoing) => {
      const closed = new Promise<void>((resolve) => outgoing.once("close", resolve));
      answering.add(closed);
      void closed.then(() => answering.delete(closed));
      // Once stopping, a connection is let go as soon as its answer is out, not when its keep-alive runs out.
      outgoing.once("close", () => {
        if (!server.listening) setImmediate(() => server.closeIdleConnections());
      });
      void answer(incoming, outgoing);
    },
  );
  // Node would drop the headers beyond its limit without a word; the app counts them and refuses. Their bytes are bounded above.
  server.maxHeadersCount = 0;
  server.maxConnections = 10_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const bound = server.address() as AddressInfo;
  const shownHost = bound.family === "IPv6" ? `[${bound.address}]` : bound.address;
  let closing: Promise<void> | null = null;
  return {
    address: { host: bound.address, port: bound.port, url: `http://${shownHost}:${bound.port}` },
    answered: async ({ graceMs }) => void (await within(graceMs, Promise.all(answering), null)),
    close: ({ graceMs = 10_000 } = {}) => {
      closing ??= stop(server, graceMs);
      return closing;
    },
  };
}

function stop(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const force = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(force);
      resolve();
    });
    server.closeIdleConnections();
  });
}
