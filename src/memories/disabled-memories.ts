import type { Owner } from "../domain/owner.js";
import { AppError } from "../platform/errors.js";
import type { LongTermMemory } from "../ports/memories.js";

/** What must go on while long-term memory is off: memories of before can be exported, purged and erased. */
export type KeptMemories = Pick<LongTermMemory, "all" | "detachSession" | "erase" | "residue" | "close">;

/**
 * Long-term memory that is off (`MEM0_ENABLED=false`): recall says `disabled`, all else is refused with
 * LONG_TERM_MEMORY_DISABLED. Given the store of before, export, purge and erasure still reach what lies there.
 */
export class DisabledMemories implements LongTermMemory {
  readonly #kept: KeptMemories | null;
  readonly needs = off;
  readonly companions = off;
  readonly remember = off;
  readonly readLeft = off;
  readonly toConfirm = off;
  readonly asked = off;
  readonly propose = off;
  readonly takeOffRecord = off;
  readonly settle = off;
  readonly reject = off;
  readonly rebuild = off;
  readonly add = off;
  readonly addAll = off;
  readonly get = off;
  readonly list = off;
  readonly search = off;
  readonly patch = off;
  readonly approve = off;
  readonly history = off;
  readonly forget = off;
  readonly forgetAll = off;
  readonly restore = off;

  constructor(kept: KeptMemories | null = null) {
    this.#kept = kept;
  }

  async remembered() {
    return null;
  }

  async recall() {
    return { status: "disabled", memories: [] } as const;
  }

  async health() {
    return { status: "disabled" } as const;
  }

  async *all(owner: Owner) {
    yield* this.#kept === null ? [await off()] : this.#kept.all(owner);
  }

  async detachSession(owner: Owner, sessionId: string, how: "delete" | "drop-quotes") {
    return this.#kept === null ? off() : this.#kept.detachSession(owner, sessionId, how);
  }

  async erase(owner: Owner) {
    return this.#kept === null ? off() : this.#kept.erase(owner);
  }

  async residue(owner: Owner) {
    return this.#kept === null ? off() : this.#kept.residue(owner);
  }

  async close() {
    await this.#kept?.close();
  }
}

async function off(): Promise<never> {
  throw new AppError("LONG_TERM_MEMORY_DISABLED");
}
