import { onLoopback } from "../support/on-loopback.js";
import type { ChatBody } from "../support/openai-stub.js";
import { type OneSlotOptions, oneSlot } from "./one-slot.js";

export interface OneSlotServer {
  readonly url: string;
  readonly bodies: ChatBody[];
  /** As in {@link oneSlot}, so far. */
  events(): readonly string[];
  /** Resolves when it has happened so often. */
  happened(event: string, times?: number): Promise<void>;
}

/** {@link oneSlot}, listening until the test ends. */
export async function openOneSlotServer(answer: (body: ChatBody) => string, options: OneSlotOptions): Promise<OneSlotServer> {
  const { server, happenings, bodies } = oneSlot(answer, options);
  return {
    url: `${await onLoopback(server)}/v1`,
    bodies,
    events: () => happenings.all.map(({ event }) => event),
    happened: (event, times) => happenings.until((each) => each.event === event, times),
  };
}
