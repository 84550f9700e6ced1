import type { OwnerEvent } from "../../domain/event.js";
import type { Owner } from "../../domain/owner.js";
import type { Logger } from "../../platform/logger.js";
import type { EventLog, EventQuery, EventScope, KeptEvent } from "../../ports/event-log.js";
import { AddedEvents } from "../journal/added-events.js";
import type { RedisDatabase } from "./database.js";
import { eventKeysOf, marksOf, scopePrefix, unmarked } from "./event-keys.js";
import { ERASE_EVENTS, EVENT_RESIDUE, NEWEST_EVENT, PRUNE_EVENTS, READ_EVENTS } from "./event-log-scripts.js";
import { ERASE_TOLD, outboxRows, PUT_TOLD, parsedRow } from "./event-outbox.js";
import { EventRelay, type EventRelayOptions } from "./event-relay.js";
import { Hints, type Need } from "./hints.js";
import { tagOf } from "./keys.js";

/** How often a process looks for what others have added, in milliseconds. */
const POLL_MS = 500;
/** Dropped in one step. */
const PAGE = 500;

/** What a write's script is to put into its owner's outbox, and what it needs for that. */
export interface ToldRows {
  readonly rows: readonly string[];
  readonly needs: readonly Need[];
}

export interface RedisEventLogOptions extends EventRelayOptions {
  /** Whether events are also to be delivered. */
  readonly queued: boolean;
  readonly logger: Logger;
}

export const NOTHING_TOLD: ToldRows = { rows: [], needs: [] };

/** Where stores tell of what they write. */
export type WriteTeller = Pick<RedisEventLog, "told" | "written">;

/**
 * Events in Redis. What tells of a write is written by the write's script, beside the owner's other keys; the log, in which the events of
 * all owners stand in one order, takes it over from there, as its keys are of another slot. What it has taken has its place for good:
 * nothing comes up behind a reader.
 */
export class RedisEventLog implements EventLog {
  readonly pollMs = POLL_MS;
  readonly #database: RedisDatabase;
  readonly #hints: Hints;
  readonly #queued: boolean;
  readonly #added = new AddedEvents();
  readonly #relay: EventRelay;
  readonly #keys: ReturnType<typeof eventKeysOf>;

  constructor(database: RedisDatabase, { queued, logger, ...options }: RedisEventLogOptions) {
    this.#database = database;
    this.#queued = queued;
    this.#hints = new Hints(database);
    const onCarried = (owner: Owner) => this.#added.tell(owner);
    this.#relay = new EventRelay({ database, hints: this.#hints, logger, onCarried }, options);
    this.#keys = eventKeysOf(database.prefix);
  }

  /** Takes over what processes that were killed left with owners, now and from now on. */
  open(): Promise<void> {
    return this.#relay.open();
  }

  /** Takes over all that any process left, while nobody writes. */
  level(): Promise<void> {
    return this.#relay.level();
  }

  /** For a script that writes what the events tell of. Call {@link written} once it has. */
  told(owner: Owner, events: readonly OwnerEvent[]): ToldRows {
    return events.length === 0 ? NOTHING_TOLD : { rows: outboxRows(owner, events, this.#queued), needs: this.#relay.needs() };
  }

  written(owner: Owner, { rows }: ToldRows): void {
    if (rows.length > 0) void this.#relay.tryRelay(owner);
  }

  async add(owner: Owner, events: readonly OwnerEvent[]): Promise<void> {
    const { rows, needs } = this.told(owner, events);
    if (rows.length === 0) return;
    const keys = this.#database.keys(owner);
    await this.#hints.having(owner, needs, (offer) =>
      this.#database.run(PUT_TOLD, keys, JSON.stringify({ told: rows, needs, offer: offer ?? null })),
    );
    await this.#relay.tryRelay(owner);
  }

  onAdded(listener: (owner: Owner) => void): () => void {
    return this.#added.listen(listener);
  }

  async read(scope: EventScope, { after, limit }: EventQuery): Promise<readonly KeptEvent[]> {
    await this.#reach(scope);
    const rows = (await this.#database.run(READ_EVENTS, this.#keys, scopePrefix(scope), after, limit)) as readonly string[];
    return rows.map(keptEvent);
  }

  async newest(scope: EventScope): Promise<string | null> {
    await this.#reach(scope);
    const row = (await this.#database.run(NEWEST_EVENT, this.#keys, scopePrefix(scope))) as string | null;
    return row === null ? null : keptEvent(row).event.id;
  }

  async prune(before: Date): Promise<number> {
    for (let all = 0; ; ) {
      const gone = Number(await this.#database.run(PRUNE_EVENTS, this.#keys, before.getTime(), PAGE));
      all += gone;
      if (gone < PAGE) return all;
    }
  }

  async erase(owner: Owner): Promise<number> {
    const [place, left] = (await this.#database.run(ERASE_TOLD, this.#database.keys(owner))) as readonly [number, number];
    return Number(await this.#database.run(ERASE_EVENTS, this.#keys, ...marksOf(owner), place)) + left;
  }

  async residue(owner: Owner): Promise<number> {
    const entries = (await this.#database.command("LRANGE", this.#database.keys(owner).outbox, 0, -1)) as readonly string[];
    const told = entries.filter((entry) => parsedRow(entry.slice(entry.indexOf(":") + 1)).event.type !== "owner.erased");
    return told.length + Number(await this.#database.run(EVENT_RESIDUE, this.#keys, tagOf(owner)));
  }

  /** The database stays the caller's to close. */
  close(): Promise<void> {
    return this.#relay.close();
  }

  /** An owner reads all that was written for them; others what this process wrote. */
  async #reach(scope: EventScope): Promise<void> {
    if (scope === "all" || "tenant" in scope) return this.#relay.settled();
    const { outbox } = this.#database.keys(scope.owner);
    if (Number(await this.#database.command("LLEN", outbox)) > 0) await this.#relay.relay(scope.owner);
  }
}

function keptEvent(row: string): KeptEvent {
  const { owner, event } = parsedRow(unmarked(row));
  return { owner, event };
}
