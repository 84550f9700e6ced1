import { setImmediate as nextTick } from "node:timers/promises";
import type { Owner } from "../domain/owner.js";
import { KeyedMutex } from "../platform/keyed-mutex.js";
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

/** UTF-16 units from which on reading a message takes this process some milliseconds, time and again. */
const LONG_CHARS = 2_000;
/** How long a step waits at most for the turns of others. */
const MAX_STEP_WAIT_MS = 100;

/** Long messages of one owner are read one after another, so that between them everybody else has a turn. Short ones wait for none. */
export class LongMessages {
  readonly #lines = new KeyedMutex();
  readonly #turns: Pick<TurnRegistry, "giveWay">;

  constructor(turns: Pick<TurnRegistry, "giveWay">) {
    this.#turns = turns;
  }

  inLine<T>(owner: Owner, message: string, work: () => Promise<T>): Promise<T> {
    return message.length < LONG_CHARS ? work() : this.#lines.run(owner, work);
  }

  /** Where each step reads the message here, and not a model elsewhere: turns of others go on between two of them. */
  async afterStep(owner: Owner, message: string, signal: AbortSignal): Promise<void> {
    if (message.length >= LONG_CHARS) await this.#turns.giveWay(owner, MAX_STEP_WAIT_MS, signal);
  }
}
