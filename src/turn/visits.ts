import type { Owner } from "../domain/owner.js";
import { boundedSignal } from "../platform/bounded-signal.js";
import type { Clock } from "../platform/clock.js";
import { isAppError } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import { type OwnerGate, whileOpen } from "../ports/owner-gate.js";
import type { OwnerLedger, Sighting, UserRecord } from "../ports/owner-ledger.js";
import type { TurnRegistry } from "./turn-registry.js";

/** Beside a turn that takes longer a visit is noted all the same, in milliseconds: a kill may take those of so long. */
const LONGEST_MS = 5_000;

interface VisitsParts {
  readonly ledger: Pick<OwnerLedger, "seen" | "user">;
  readonly registry: Pick<TurnRegistry, "behindTurns">;
  readonly gate: OwnerGate;
  /** Who that is after merges. */
  readonly resolve: (owner: Owner) => Promise<Owner>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What is still to be noted of one who was seen. */
interface Note {
  /** Once that is known. */
  owner: Owner;
  readonly first: Sighting;
  /** With all that was told until then. */
  latest: Sighting;
  /** Aborted when somebody waits for it. */
  readonly awaited: AbortController;
  /** Never rejects. */
  done: Promise<void>;
}

/**
 * Visits of users, noted behind the turn that they come with: one note at a time for each user, into which later visits are merged. An
 * erasure ends it, and then keeps it out: no visit of before is written after the receipt.
 */
export class Visits {
  readonly #parts: VisitsParts;
  /** By the name they were seen under: what later visits are merged into. */
  readonly #waiting = new Map<Owner, Note>();
  /** Those, and what is being written. */
  readonly #open = new Set<Note>();

  constructor(parts: VisitsParts) {
    this.#parts = parts;
  }

  /** Never throws. */
  seen(named: Owner, told: Omit<Sighting, "at">): void {
    const seen = { at: this.#parts.clock.now().toISOString(), ...told };
    const waiting = this.#waiting.get(named);
    if (waiting === undefined) this.#begin(named, seen);
    else waiting.latest = { ...waiting.latest, ...seen };
  }

  /** As the ledger has them, with the visits until then. */
  async user(owner: Owner): Promise<UserRecord | null> {
    const theirs = [...this.#open].filter((note) => note.owner === owner);
    for (const { awaited } of theirs) awaited.abort();
    await Promise.all(theirs.map(({ done }) => done));
    return this.#parts.ledger.user(owner);
  }

  #begin(named: Owner, seen: Sighting): void {
    const note: Note = { owner: named, first: seen, latest: seen, awaited: new AbortController(), done: Promise.resolve() };
    this.#waiting.set(named, note);
    this.#open.add(note);
    const over = () => {
      if (this.#waiting.get(named) === note) this.#waiting.delete(named);
    };
    note.done = this.#note(note, over)
      .catch((error: unknown) => {
        const isExpected = isAppError(error, "OWNER_ERASED") || isAppError(error, "SHUTTING_DOWN");
        if (!isExpected) this.#parts.logger.warn({ err: error }, "a user's visit could not be kept");
      })
      .finally(() => {
        over();
        this.#open.delete(note);
      });
  }

  async #note(note: Note, onTaken: () => void): Promise<void> {
    const { ledger, gate, resolve } = this.#parts;
    note.owner = await resolve(note.owner);
    await whileOpen(gate, note.owner, async (signal) => {
      await this.#behindTurns(note, signal);
      onTaken();
      await ledger.seen(note.owner, note.first);
      if (note.latest !== note.first) await ledger.seen(note.owner, note.latest);
    });
  }

  /** Until then, until somebody waits for the note, or for as long as it may take. @throws the signal's reason when it aborts */
  async #behindTurns({ owner, awaited }: Note, signal: AbortSignal): Promise<void> {
    const bound = boundedSignal([signal, awaited.signal], LONGEST_MS);
    try {
      await this.#parts.registry.behindTurns(owner, bound.signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!bound.late && !awaited.signal.aborted) throw error;
    } finally {
      bound.end();
    }
  }
}
