import type { Owner } from "../domain/owner.js";
import { KeyedMutex } from "../platform/keyed-mutex.js";

/** UTF-16 units from which on reading a message takes this process some milliseconds, time and again. */
const LONG_CHARS = 2_000;

/** Long messages of one owner are read one after another, so that between them everybody else has a turn. Short ones wait for none. */
export class LongMessages {
  readonly #lines = new KeyedMutex();

  inLine<T>(owner: Owner, message: string, work: () => Promise<T>): Promise<T> {
    return message.length < LONG_CHARS ? work() : this.#lines.run(owner, work);
  }
}
