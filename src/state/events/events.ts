import type { OwnerEvent } from "../../domain/event.js";
import { type Owner, ownerHash } from "../../domain/owner.js";
import { isId } from "../../platform/ids.js";
import { type Logger, silentLogger } from "../../platform/logger.js";
import type { EventLog, EventQuery, EventScope, KeptEvent } from "../../ports/event-log.js";
import { committed } from "../durable-commit.js";
import { prefixRange, type StateEngine } from "../engine.js";
import { numberKey, ownerPartition } from "../partition.js";
import { jsonOf, rowAt, rowsIn } from "../stored-rows.js";
import { FEED, FEED_ROWS, idKey, type KnownPlace, ownerRows, placeOf, tenantHash, tenantRows } from "./event-keys.js";
import { EventRelay } from "./event-relay.js";
import { eraseFeed, feedResidue, pruneFeed } from "./feed-erasure.js";
import { FeedWriter } from "./feed-writer.js";
import { eraseOutbox, eventPuts, outboxResidue } from "./outbox.js";

/** How often a process looks for what others have added, in milliseconds. */
const POLL_MS = 500;

interface EventLogOptions {
  /** Whether events are also to be delivered. */
  readonly queued: boolean;
  /** Default: 500 where several processes may use the engine, else null. */
  readonly pollMs?: number | null;
  readonly logger?: Logger;
}

/**
 * Events, each written first to its owner's outbox, in the commit of what it tells of, and published from there in the feed of the
 * installation, where all reading is done.
 */
export class EngineEventLog implements EventLog {
  readonly pollMs: number | null;
  readonly #engine: StateEngine;
  /** Told after what is running, so that no write waits for them. */
  readonly #listeners = new Set<(owner: Owner) => void>();
  readonly #relay: EventRelay;

  constructor(engine: StateEngine, { queued, pollMs, logger = silentLogger }: EventLogOptions) {
    this.#engine = engine;
    this.pollMs = pollMs === undefined ? (engine.manifest.shared ? POLL_MS : null) : pollMs;
    const feed = new FeedWriter(engine, queued);
    const isHeard = () => queued || engine.manifest.shared || this.#listeners.size > 0;
    this.#relay = new EventRelay({ engine, feed, logger, onPublished: (owner) => this.#tell(owner), isHeard });
  }

  async add(owner: Owner, events: readonly OwnerEvent[]): Promise<void> {
    if (events.length === 0) return;
    try {
      await committed(this.#engine, ownerPartition(owner), { puts: eventPuts(owner, events) });
    } finally {
      // Where the outcome is not known it may have happened.
      await this.#relay.tryPublish(ownerPartition(owner));
    }
  }

  /** To be called behind a commit with {@link eventPuts}: publishes them, beside what the caller does next. */
  publish(owner: Owner): void {
    this.#relay.publishSoon(ownerPartition(owner));
  }

  /** Publishes what is in the owner's outbox. @throws STORAGE_UNAVAILABLE */
  async catchUp(owner: Owner): Promise<void> {
    await this.#relay.publish(ownerPartition(owner));
  }

  /** Publishes what processes that are gone left in any outbox: what fails is tried again later. @throws the signal's reason */
  async catchUpAll(signal?: AbortSignal): Promise<void> {
    await this.#relay.publishEvery(signal);
  }

  /** Resolves when what this process publishes now is in the feed, or has failed to be. Default: of all owners. */
  async settled(owner?: Owner): Promise<void> {
    await this.#relay.settled(owner === undefined ? undefined : ownerPartition(owner));
  }

  onAdded(listener: (owner: Owner) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async read(scope: EventScope, { after, limit }: EventQuery): Promise<readonly KeptEvent[]> {
    await this.#settledIn(scope);
    const prefix = rowsOf(scope);
    const from = await this.#behind(scope, after);
    // From the event itself, which is passed over.
    const range = { ...prefixRange(prefix), ...(from !== null && { from }), limit: limit + 1 };
    const rows = (await rowsIn(this.#engine, FEED, range)).filter(({ key }) => key !== from).slice(0, limit);
    if (scope === "all") return rows.map((row) => jsonOf<KeptEvent>(row));
    if (rows.length === 0) return [];
    const keys = rows.map(({ key }) => `${FEED_ROWS}${placeOf(key)}`);
    const { entries } = await this.#engine.read(FEED, { keys });
    return keys.flatMap((key) => entries.get(key) ?? []).map((row) => jsonOf<KeptEvent>(row));
  }

  async newest(scope: EventScope): Promise<string | null> {
    await this.#settledIn(scope);
    const [row] = await rowsIn(this.#engine, FEED, { ...prefixRange(rowsOf(scope)), limit: 1, reverse: true });
    if (row === undefined) return null;
    return scope === "all" ? jsonOf<KeptEvent>(row).event.id : jsonOf<[string]>(row)[0];
  }

  prune(before: Date): Promise<number> {
    return pruneFeed(this.#engine, before);
  }

  async erase(owner: Owner): Promise<number> {
    const { erased, erasures } = await eraseOutbox(this.#engine, ownerPartition(owner));
    return erased + (await eraseFeed(this.#engine, owner, erasures));
  }

  async residue(owner: Owner): Promise<number> {
    return (await outboxResidue(this.#engine, ownerPartition(owner))) + (await feedResidue(this.#engine, owner));
  }

  /** What is being published is waited for; what then is in an outbox is published by the next process. */
  async close(): Promise<void> {
    await this.#relay.close();
  }

  #tell(owner: Owner): void {
    for (const listener of this.#listeners) setImmediate(listener, owner);
  }

  #settledIn(scope: EventScope): Promise<void> {
    return this.settled(scope !== "all" && "owner" in scope ? scope.owner : undefined);
  }

  /** The key of an event in the scope's rows; null where the scope has no such event. */
  async #behind(scope: EventScope, id: string): Promise<string | null> {
    if (!isId(id)) return null;
    const known = jsonOf<KnownPlace>(await rowAt(this.#engine, FEED, idKey(id)));
    if (known === null) return null;
    const [place, owner, tenant] = known;
    const rows = rowsOf(scope);
    return rows === FEED_ROWS || rows === ownerRows(owner) || rows === tenantRows(tenant) ? `${rows}${numberKey(place)}` : null;
  }
}

function rowsOf(scope: EventScope): string {
  if (scope === "all") return FEED_ROWS;
  return "owner" in scope ? ownerRows(ownerHash(scope.owner)) : tenantRows(tenantHash(scope.tenant));
}
