import { setImmediate as nextTick } from "node:timers/promises";
import type { GiveWay } from "../ports/give-way.js";
import type { TurnRegistry } from "./turn-registry.js";

/** How long a piece of work waits at most for the turns of others. */
const MAX_WAIT_MS = 250;
/** The same where a turn of the owner's own may wait for the work. */
const MAX_WAIT_TALKING_MS = 50;

/** Long work of one owner goes on while nobody else waits for an answer, or slowly. */
export function givingWayTo(registry: Pick<TurnRegistry, "giveWay" | "isTalking">): GiveWay {
  return async (owner, signal) => {
    await nextTick();
    await registry.giveWay(owner, registry.isTalking(owner) ? MAX_WAIT_TALKING_MS : MAX_WAIT_MS, signal);
  };
}
