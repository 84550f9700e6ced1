import { Webhook } from "standardwebhooks";
import type { Clock } from "../platform/clock.js";
import { VERSION } from "../platform/version.js";
import type { DeliveryEnd, ToldEvent, WebhookSender } from "../ports/events.js";

export interface HttpWebhookOptions {
  /** http or https. */
  readonly url: string;
  /** Base64 of 24 to 64 bytes, `whsec_` before it or not. */
  readonly secret: string;
  /** Bound of one try, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number;
  readonly clock: Clock;
}

const GONE = 410;

/** POSTs events, signed as Standard Webhooks has it (https://www.standardwebhooks.com). Redirects are failures: nobody else is told. */
export function httpWebhook({ url, secret, timeoutMs = 10_000, clock }: HttpWebhookOptions): WebhookSender {
  const signer = new Webhook(secret);
  return {
    async send(event: ToldEvent, signal: AbortSignal): Promise<DeliveryEnd> {
      const body = JSON.stringify(event);
      const now = clock.now();
      const timeout = AbortSignal.timeout(timeoutMs);
      try {
        const response = await fetch(url, {
          method: "POST",
          redirect: "manual",
          signal: AbortSignal.any([signal, timeout]),
          headers: {
            "Content-Type": "application/json",
            "User-Agent": `maitred/${VERSION}`,
            "webhook-id": event.id,
            "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
            "webhook-signature": signer.sign(event.id, now, body),
          },
          body,
        });
        // What a receiver says is of no use, and may be without end.
        await response.body?.cancel();
        if (response.ok) return { outcome: "delivered" };
        return { outcome: response.status === GONE ? "gone" : "failed", error: `HTTP_${response.status}` };
      } catch (error) {
        if (signal.aborted) throw error;
        return { outcome: "failed", error: timeout.aborted ? "TIMEOUT" : "UNREACHABLE" };
      }
    },
  };
}
