import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { type Context, changedParts, type StablePart } from "./context.js";

/** Sessions that are watched; the one that was quiet longest goes first. */
const MAX_SESSIONS = 1_000;

/**
 * Tells which part of the stable prefix differs from that of the session's turn before, and so why a provider's cache was missed.
 * Keeps hashes and numbers, no text.
 */
export class PrefixWatch {
  readonly #seen = new LRUCache<string, Context["stable"]>({ max: MAX_SESSIONS });

  /** None for the first turn that is seen of a session. */
  changed(sessionId: string, stable: Context["stable"]): readonly StablePart[] {
    const now = { ...stable, prompt: hash(stable.prompt), summary: hash(stable.summary) };
    const before = this.#seen.get(sessionId);
    this.#seen.set(sessionId, now);
    return before === undefined ? [] : changedParts(before, now);
  }
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
