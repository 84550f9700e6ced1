import type { OwnerEvent } from "../../domain/event.js";
import { type Owner, ownerHash } from "../../domain/owner.js";
import { GrowingWait } from "../../platform/growing-wait.js";
import { isId } from "../../platform/ids.js";
import { type Logger, silentLogger } from "../../platform/logger.js";
import type { EventLog, EventQuery, EventScope, KeptEvent } from "../../ports/events.js";
import { committed } from "../durable-commit.js";
import { prefixRange, type StateEngine } from "../engine.js";
import { numberKey, ownerPartition } from "../partition.js";
import { jsonOf, partitionPages, rowAt, rowsIn } from "../stored-rows.js";
import { FEED, FEED_ROWS, idKey, type KnownPlace, OUTBOX, ownerRows, placeOf, tenantHash, tenantRows } from "./event-keys.js";
import { eraseFeed, feedResidue, pruneFeed } from "./feed-erasure.js";
import { FeedWriter } from "./feed-writer.js";
import { clearOutbox, eraseOutbox, eventPuts, outboxResidue, readOutbox } from "./outbox.js";

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

/** What one turn brings is told of at several moments: it is published together, at most so much later, in milliseconds. */
const GATHER_MS = 100;
/** The same where nobody is told of it, and reading publishes it first: a process has its feed to itself then. */
const UNHEARD_GATHER_MS = 5_000;
const FIRST_WAIT_MS = 1_000;
const LAST_WAIT_MS = 60_000;
/** Partitions of one page when all are gone through, and how many outboxes are published together then. */
const PAGE = 1_000;
const TOGETHER = 8;

interface EventRelayParts {
  readonly engine: StateEngine;
  readonly feed: FeedWriter;
  readonly logger: Logger;
  /** Told that events of an owner are in the feed now. */
  readonly onPublished: (owner: Owner) => void;
  /** Whether somebody waits for events, here or in another process. */
  readonly isHeard: () => boolean;
}

/**
 * Publishes what is in owners' outboxes: from the front, and taken out only when it is in the feed, so that order stays and nothing is
 * lost. What is published twice, by two at once, the feed knows by its id.
 */
class EventRelay {
  readonly #parts: EventRelayParts;
  readonly #running = new Map<string, { again: boolean; done: Promise<void> }>();
  readonly #gathering = new Map<string, NodeJS.Timeout>();
  readonly #failed = new Set<string>();
  readonly #wait = new GrowingWait(FIRST_WAIT_MS, LAST_WAIT_MS);
  #closed = false;

  constructor(parts: EventRelayParts) {
    this.#parts = parts;
  }

  /** Resolves when all that was in the partition's outbox is in the feed. */
  publish(partition: string): Promise<void> {
    clearTimeout(this.#gathering.get(partition));
    this.#gathering.delete(partition);
    const running = this.#running.get(partition);
    if (running !== undefined) {
      running.again = true;
      return running.done;
    }
    const started = { again: false, done: Promise.resolve() };
    const run = async () => {
      try {
        do {
          started.again = false;
          await this.#publishAll(partition);
        } while (started.again);
      } finally {
        this.#running.delete(partition);
      }
    };
    this.#running.set(partition, started);
    started.done = run();
    return started.done;
  }

  /** Within a tenth of a second, or five seconds where nobody hears of it, with what comes until then; at once where somebody reads it. */
  publishSoon(partition: string): void {
    if (this.#gathering.has(partition)) return;
    const gatherMs = this.#parts.isHeard() ? GATHER_MS : UNHEARD_GATHER_MS;
    const timer = setTimeout(() => void this.tryPublish(partition), gatherMs);
    this.#gathering.set(partition, timer.unref());
  }

  /** The same at once, and never rejects: what fails is published a little later. */
  async tryPublish(partition: string): Promise<void> {
    try {
      await this.publish(partition);
    } catch (error) {
      if (this.#closed) return;
      if (this.#failed.size === 0) this.#parts.logger.warn({ err: error }, "events could not be published; they are later");
      this.#failed.add(partition);
      this.#wait.begin(() => void this.#again());
    }
  }

  /** Publishes what processes that are gone left in any outbox. */
  async publishEvery(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    for await (const page of partitionPages(this.#parts.engine, OUTBOX, PAGE)) {
      for (let from = 0; from < page.length && !this.#closed; from += TOGETHER) {
        await Promise.all(page.slice(from, from + TOGETHER).map(({ partition }) => this.tryPublish(partition)));
        signal?.throwIfAborted();
      }
      if (this.#closed) return;
    }
  }

  /** Resolves when what is to be published now is, or has failed to be. Of one partition, or of all. */
  async settled(partition?: string): Promise<void> {
    for (const each of [...this.#gathering.keys()]) if (partition === undefined || each === partition) void this.tryPublish(each);
    const running = partition === undefined ? [...this.#running.values()] : [this.#running.get(partition)];
    await Promise.allSettled(running.map((each) => each?.done));
  }

  async close(): Promise<void> {
    await this.settled();
    this.#closed = true;
    this.#wait.cancel();
    await this.settled();
  }

  async #again(): Promise<void> {
    const failed = [...this.#failed];
    this.#failed.clear();
    await Promise.all(failed.map((partition) => this.tryPublish(partition)));
    if (this.#failed.size === 0) this.#wait.reset();
  }

  async #publishAll(partition: string): Promise<void> {
    const { engine, feed, onPublished } = this.#parts;
    for (;;) {
      const outbox = await readOutbox(engine, partition);
      if (outbox === null) return;
      if (await feed.add(outbox.owner, outbox.events, outbox.erasures)) onPublished(outbox.owner);
      if (await clearOutbox(engine, partition, outbox)) return;
    }
  }
}
