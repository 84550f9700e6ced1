import type { Owner } from "../domain/owner.js";

/**
 * Awaited between the pieces of an owner's longer work that this process does itself: lets what others wait for go first.
 * @throws the signal's reason when it aborts
 */
export type GiveWay = (owner: Owner, signal: AbortSignal) => Promise<void>;
