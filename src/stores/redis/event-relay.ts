import type { Owner } from "../../domain/owner.js";
import type { Logger } from "../../platform/logger.js";
import type { RedisDatabase } from "./database.js";
import { eventKeysOf, marksOf } from "./event-keys.js";
import { LOG_EVENTS } from "./event-log-scripts.js";
import { DROP_TOLD, parsedRow, SETTLE_TOLD } from "./event-outbox.js";
import type { Hint, Hints, Need } from "./hints.js";
import { keysOf, tagOf } from "./keys.js";

/** Entries carried over in one step. */
const PAGE = 100;
/** Owners whose outboxes are looked at together. */
const AT_ONCE = 32;
const LATE_MS = 10_000;
const SWEEP_MS = 5_000;

export interface EventRelayOptions {
  /** How long after a write its outbox is looked at, should its process have been killed, in milliseconds. Default 10,000. */
  readonly lateMs?: number;
  /** How often a process looks for such outboxes, in milliseconds. Default 5,000. */
  readonly sweepMs?: number;
}

export interface EventRelayParts {
  readonly database: RedisDatabase;
  readonly hints: Hints;
  readonly logger: Logger;
  /** Told that events of an owner are in the log now. */
  readonly onCarried: (owner: Owner) => void;
}

/**
 * Carries events over from their owners' outboxes to the log: after each write, and, for what a killed process left, wherever a hint leads
 * to. Always from the front, and taken out only when it is in the log, so that order stays and nothing is lost; what is carried over twice,
 * by two at once, the log knows by its id.
 */
export class EventRelay {
  readonly #parts: EventRelayParts;
  readonly #lateMs: number;
  readonly #sweepMs: number;
  readonly #keys: ReturnType<typeof eventKeysOf>;
  readonly #running = new Map<string, { again: boolean; done: Promise<void> }>();
  #timer: NodeJS.Timeout | null = null;
  #sweeping: Promise<void> = Promise.resolve();
  #closed = false;
  #toldOfFailure = false;

  constructor(parts: EventRelayParts, { lateMs = LATE_MS, sweepMs = SWEEP_MS }: EventRelayOptions = {}) {
    this.#parts = parts;
    this.#lateMs = lateMs;
    this.#sweepMs = sweepMs;
    this.#keys = eventKeysOf(parts.database.prefix);
  }

  /** What a write needs that fills an outbox: that somebody will look at it. */
  needs(): readonly Need[] {
    return [["told", Date.now() + this.#lateMs]];
  }

  /** Carries over what others left, and looks for more from now on. */
  async open(): Promise<void> {
    await this.#trySweep(Number.MAX_SAFE_INTEGER);
    this.#sweepLater();
  }

  /** Resolves when all that is in any outbox now is in the log. */
  level(): Promise<void> {
    return this.#sweep(Number.MAX_SAFE_INTEGER);
  }

  /** Resolves when all that was in the outbox is in the log. */
  relay(owner: Owner): Promise<void> {
    return this.#relayTag(tagOf(owner));
  }

  /** The same, and never rejects: what fails is swept up later. */
  async tryRelay(owner: Owner): Promise<void> {
    await this.relay(owner).catch((error: unknown) => {
      if (!this.#closed) this.#parts.logger.warn({ err: error }, "events could not be carried over to the log; they are soon");
    });
  }

  /** Resolves when what this process carries over now is in the log, or has failed to be. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#running.values()].map(({ done }) => done));
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#sweeping;
    await this.settled();
  }

  #relayTag(tag: string): Promise<void> {
    const running = this.#running.get(tag);
    if (running !== undefined) {
      running.again = true;
      return running.done;
    }
    const started = { again: false, done: Promise.resolve() };
    const carry = async () => {
      try {
        do {
          started.again = false;
          await this.#carryOver(tag);
        } while (started.again);
      } finally {
        this.#running.delete(tag);
      }
    };
    this.#running.set(tag, started);
    started.done = carry();
    return started.done;
  }

  async #carryOver(tag: string): Promise<void> {
    const { database } = this.#parts;
    const { outbox } = keysOf(database.prefix, tag);
    for (;;) {
      const entries = (await database.command("LRANGE", outbox, 0, PAGE - 1)) as readonly string[];
      const found = entries.map((entry) => {
        const colon = entry.indexOf(":");
        const json = entry.slice(colon + 1);
        return { place: entry.slice(0, colon), json, ...parsedRow(json) };
      });
      const [first, last] = [found[0], found.at(-1)];
      if (first === undefined || last === undefined) return;
      const rows = found.flatMap(({ place, json, queued, event: { id, type, timestamp } }) => {
        return [place, id, type, Date.parse(timestamp), queued ? 1 : 0, json];
      });
      await database.run(LOG_EVENTS, this.#keys, ...marksOf(first.owner), ...rows);
      this.#parts.onCarried(first.owner);
      await database.run(DROP_TOLD, { outbox }, last.place);
      if (found.length < PAGE) return;
    }
  }

  #sweepLater(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#sweeping = this.#trySweep(Date.now()).finally(() => this.#sweepLater());
    }, this.#sweepMs).unref();
  }

  /** What fails is looked at again; it is told once, until all went well. */
  async #trySweep(uptoMs: number): Promise<void> {
    try {
      await this.#sweep(uptoMs);
      this.#toldOfFailure = false;
    } catch (error) {
      if (this.#closed || this.#toldOfFailure) return;
      this.#toldOfFailure = true;
      this.#parts.logger.warn({ err: error }, "events of other processes could not be carried over; they are later");
    }
  }

  /** What fails holds up nobody else's, and rejects in the end. */
  async #sweep(uptoMs: number): Promise<void> {
    const failed: unknown[] = [];
    const look = (found: readonly Hint[]) => Promise.all(found.map((hint) => this.#look(hint).catch((error) => failed.push(error))));
    const found: Hint[] = [];
    for await (const hint of this.#parts.hints.upTo("told", uptoMs)) {
      if (this.#closed) return;
      if (found.push(hint) === AT_ONCE) await look(found.splice(0));
    }
    await look(found);
    if (failed.length > 0) throw failed[0];
  }

  async #look(hint: Hint): Promise<void> {
    const { database, hints } = this.#parts;
    await this.#relayTag(hint.tag);
    await hints.settled(hint, String(await database.run(SETTLE_TOLD, hint.keys, hint.gen)));
  }
}
