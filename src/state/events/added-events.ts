import type { Owner } from "../../domain/owner.js";

/** Tells whoever listens within this process that events of an owner were added: after what is running, so that no write waits for it. */
export class AddedEvents {
  readonly #listeners = new Set<(owner: Owner) => void>();

  /** Returns how to stop it. */
  listen(listener: (owner: Owner) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  tell(owner: Owner): void {
    for (const listener of this.#listeners) setImmediate(listener, owner);
  }
}
