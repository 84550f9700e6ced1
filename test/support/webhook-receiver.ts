import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { onTestFinished } from "vitest";
import type { ToldEvent } from "../../src/ports/events.js";

/** 32 bytes. */
export const WEBHOOK_SECRET = `whsec_${Buffer.from("a secret of thirty-two bytes, so").toString("base64")}`;

export interface Received {
  readonly event: ToldEvent;
  readonly headers: Readonly<Record<string, string>>;
}

export interface WebhookReceiver {
  readonly url: string;
  /** All that came, oldest first; each was verified by its signature. */
  readonly received: readonly Received[];
  /** Resolves when this holds. */
  until(holds: (received: readonly Received[]) => boolean): Promise<void>;
}

/** Somebody's server, on this machine. `answer`: what it says to an event, from the first on. Default: 204. */
export async function openWebhookReceiver(
  answer: (event: ToldEvent, response: ServerResponse) => void = (_event, response) => void response.writeHead(204).end(),
): Promise<WebhookReceiver> {
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  const webhook = new Webhook(WEBHOOK_SECRET);
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const headers = request.headers as Record<string, string>;
    const event = webhook.verify(body, headers) as ToldEvent;
    received.push({ event, headers });
    answer(event, response);
    for (const look of [...waiting]) look();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    until: (holds) =>
      new Promise((resolve) => {
        const look = () => {
          if (!holds(received)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}
