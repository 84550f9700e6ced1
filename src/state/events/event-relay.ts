import type { Owner } from "../../domain/owner.js";
import { GrowingWait } from "../../platform/growing-wait.js";
import type { Logger } from "../../platform/logger.js";
import type { StateEngine } from "../engine.js";
import { partitionPages } from "../stored-rows.js";
import { OUTBOX } from "./event-keys.js";
import type { FeedWriter } from "./feed-writer.js";
import { clearOutbox, readOutbox } from "./outbox.js";

/** What one turn brings is told of at several moments: it is published together, at most so much later, in milliseconds. */
const GATHER_MS = 100;
/** The same where nobody is told of it, and reading publishes it first: a process has its feed to itself then. */
const UNHEARD_GATHER_MS = 5_000;
const FIRST_WAIT_MS = 1_000;
const LAST_WAIT_MS = 60_000;
/** Partitions of one page when all are gone through, and how many outboxes are published together then. */
const PAGE = 1_000;
const TOGETHER = 8;

export interface EventRelayParts {
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
export class EventRelay {
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
