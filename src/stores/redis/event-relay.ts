import type { Owner } from "../../domain/owner.js";
import type { Logger } from "../../platform/logger.js";
import type { RedisDatabase } from "./database.js";
import { eventKeysOf, marksOf } from "./event-keys.js";
import { LOG_EVENTS } from "./event-log-scripts.js";
import { DROP_TOLD, parsedRow, SETTLE_TOLD } from "./event-outbox.js";
import type { Hints, Need } from "./hints.js";
import { keysOf, tagOf } from "./keys.js";

/** Entries carried over in one step. */
const PAGE = 100;
/** How long after a write outboxes are looked at that its process, killed, did not carry over; and how often. In milliseconds. */
const LATE_MS = 10_000;
const SWEEP_MS = 5_000;

/**
 * Carries events over from their owners' outboxes to the log: after each write, and, for what a killed process left, wherever a hint leads
 * to. Always from the front, and taken out only when it is in the log, so that order stays and nothing is lost; what is carried over twice,
 * by two at once, the log knows by its id.
 */
export class EventRelay {
  readonly #database: RedisDatabase;
  readonly #hints: Hints;
  readonly #logger: Logger;
  readonly #onCarried: (owner: Owner) => void;
  readonly #keys: ReturnType<typeof eventKeysOf>;
  readonly #running = new Map<string, { again: boolean; done: Promise<void> }>();
  #timer: NodeJS.Timeout | null = null;
  #sweeping: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(database: RedisDatabase, hints: Hints, logger: Logger, onCarried: (owner: Owner) => void) {
    this.#database = database;
    this.#hints = hints;
    this.#logger = logger;
    this.#onCarried = onCarried;
    this.#keys = eventKeysOf(database.prefix);
  }

  /** What a write needs that fills an outbox: that somebody will look at it. */
  needs(): readonly Need[] {
    return [["told", Date.now() + LATE_MS]];
  }

  /** Carries over what others left, and looks for more from now on. */
  async open(): Promise<void> {
    await this.#sweep(Number.MAX_SAFE_INTEGER);
    this.#sweepLater();
  }

  /** Resolves when all that was in the outbox is in the log. */
  relay(owner: Owner): Promise<void> {
    return this.#relayTag(tagOf(owner));
  }

  /** The same, and never rejects: what fails is swept up later. */
  async tryRelay(owner: Owner): Promise<void> {
    await this.relay(owner).catch((error: unknown) => {
      if (!this.#closed) this.#logger.warn({ err: error }, "events could not be carried over to the log; they are soon");
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
    const { outbox } = keysOf(this.#database.prefix, tag);
    for (;;) {
      const entries = (await this.#database.command("LRANGE", outbox, 0, PAGE - 1)) as readonly string[];
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
      await this.#database.run(LOG_EVENTS, this.#keys, ...marksOf(first.owner), ...rows);
      this.#onCarried(first.owner);
      await this.#database.run(DROP_TOLD, { outbox }, last.place);
      if (found.length < PAGE) return;
    }
  }

  #sweepLater(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#sweeping = this.#sweep(Date.now())
        .catch((error: unknown) => this.#logger.warn({ err: error }, "events of other processes could not be carried over; they are later"))
        .finally(() => this.#sweepLater());
    }, SWEEP_MS).unref();
  }

  async #sweep(uptoMs: number): Promise<void> {
    for await (const hint of this.#hints.upTo("told", uptoMs)) {
      if (this.#closed) return;
      await this.#relayTag(hint.tag);
      await this.#hints.settled(hint, String(await this.#database.run(SETTLE_TOLD, hint.keys, hint.gen)));
    }
  }
}
