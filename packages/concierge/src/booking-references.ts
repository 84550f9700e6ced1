import type { StateEngine } from "maitred";
import { kept, untilKept } from "./booking-commits.js";
import { referencePlace } from "./booking-keys.js";
import type { Booking } from "./booking-rows.js";

/** A reference is one booking's alone, whoever's that is. */
export class BookingReferences {
  readonly #engine: StateEngine;

  constructor(engine: StateEngine) {
    this.#engine = engine;
  }

  /** `own`: it is this booking's already. */
  claim(reference: string, booking: Pick<Booking, "id" | "eventId">): Promise<"new" | "own" | "taken"> {
    const { partition, key } = referencePlace(reference);
    const value = claimOf(booking);
    return untilKept(async () => {
      const found = (await this.#engine.read(partition, { keys: [key] })).entries.get(key);
      if (found !== undefined) return found.value === value ? "own" : "taken";
      return (await kept(this.#engine, partition, { checks: [{ key, version: null }], puts: [{ key, value }] })) ? "new" : null;
    });
  }

  /** Without effect where it is another booking's. */
  async release(reference: string | null, booking: Pick<Booking, "id" | "eventId">): Promise<void> {
    if (reference === null) return;
    const { partition, key } = referencePlace(reference);
    const found = (await this.#engine.read(partition, { keys: [key] })).entries.get(key);
    if (found?.value !== claimOf(booking)) return;
    await kept(this.#engine, partition, { checks: [{ key, version: found.version }], deletes: [key] });
  }
}

function claimOf({ id, eventId }: Pick<Booking, "id" | "eventId">): string {
  return JSON.stringify({ v: 1, event_id: eventId, booking_id: id });
}
