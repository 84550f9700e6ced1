import type { Owner } from "../domain/owner.js";
import { AppError } from "../platform/errors.js";

/** Counts the streams that each user has open. */
export class OpenStreams {
  readonly #limit: number;
  readonly #open = new Map<Owner, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes a place; call what it returns when the stream has ended. @throws TOO_MANY_STREAMS */
  enter(owner: Owner): () => void {
    const open = this.#open.get(owner) ?? 0;
    if (open >= this.#limit) throw new AppError("TOO_MANY_STREAMS", { detail: `At most ${this.#limit} streams a user.` });
    this.#open.set(owner, open + 1);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const still = (this.#open.get(owner) ?? 1) - 1;
      if (still > 0) this.#open.set(owner, still);
      else this.#open.delete(owner);
    };
  }

  /** Users with a stream open. */
  get size(): number {
    return this.#open.size;
  }
}
