import type { ToldEvent } from "./events.js";

/** How a try to deliver an event ended. `gone`: the receiver wants no more of it. */
export type DeliveryEnd = { readonly outcome: "delivered" } | { readonly outcome: "failed" | "gone"; readonly error: string };

/** Delivers events to somebody else's server. */
export interface WebhookSender {
  /** Never rejects, but when the signal aborts. */
  send(event: ToldEvent, signal: AbortSignal): Promise<DeliveryEnd>;
}
