import { type Owner, parseOwner } from "../domain/owner.js";
import type { Logger } from "../platform/logger.js";
import { BEGINNING, type EventLog, type EventScope, type KeptEvent } from "../ports/event-log.js";

/** Events that are looked at in one go for what other processes have added. */
const PAGE = 500;

/** The next addition to a scope. */
export interface NextChange {
  /** Resolves when something was added since this was made, or when the signal aborts. */
  orAborted(signal: AbortSignal): Promise<void>;
  /** To be called when nobody waits any more. */
  forget(): void;
}

/** Wakes those who wait for events of an owner, of a tenant or of all: told by this process, looked for where others write as well. */
export class ChangedScopes {
  readonly #log: EventLog;
  readonly #logger: Logger;
  readonly #waiting = new Map<string, Set<() => void>>();
  #stopListening: (() => void) | null = null;
  #timer: NodeJS.Timeout | null = null;
  #seen: string | null = null;

  constructor(log: EventLog, logger: Logger) {
    this.#log = log;
    this.#logger = logger;
  }

  next(scope: EventScope): NextChange {
    const key = keyOf(scope);
    let changed = false;
    let resolve: () => void = () => {};
    const change = new Promise<void>((done) => {
      resolve = done;
    });
    const wake = () => {
      changed = true;
      resolve();
    };
    const waiting = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, waiting.add(wake));
    this.#stopListening ??= this.#log.onAdded((owner) => this.#wake(owner));
    this.#look();
    return {
      orAborted: async (signal) => {
        if (changed || signal.aborted) return;
        signal.addEventListener("abort", resolve, { once: true });
        await change.finally(() => signal.removeEventListener("abort", resolve));
      },
      forget: () => {
        waiting.delete(wake);
        if (waiting.size === 0 && this.#waiting.get(key) === waiting) this.#waiting.delete(key);
        if (this.#waiting.size === 0) this.#listenNoMore();
      },
    };
  }

  close(): void {
    this.#listenNoMore();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#waiting.clear();
  }

  #listenNoMore(): void {
    this.#stopListening?.();
    this.#stopListening = null;
  }

  #wake(owner: Owner): void {
    for (const key of [keyOf({ owner }), keyOf({ tenant: parseOwner(owner).tenant }), keyOf("all")])
      for (const wake of this.#waiting.get(key) ?? []) wake();
  }

  /** As long as somebody waits. */
  #look(): void {
    const { pollMs } = this.#log;
    if (pollMs === null || this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      void this.#lookNow().finally(() => {
        this.#timer = null;
        if (this.#waiting.size > 0) this.#look();
      });
    }, pollMs).unref();
  }

  async #lookNow(): Promise<void> {
    try {
      if (this.#seen === null) {
        this.#seen = (await this.#log.newest("all")) ?? BEGINNING;
        // What was added before this look is nobody's to be told: all look once.
        for (const waiting of this.#waiting.values()) for (const wake of waiting) wake();
        return;
      }
      for (let page: readonly KeptEvent[] = []; ; ) {
        page = await this.#log.read("all", { after: this.#seen, limit: PAGE });
        for (const { owner } of page) this.#wake(owner);
        this.#seen = page.at(-1)?.event.id ?? this.#seen;
        if (page.length < PAGE) return;
      }
    } catch (error) {
      this.#logger.warn({ err: error }, "events of other processes could not be looked for");
    }
  }
}

function keyOf(scope: EventScope): string {
  if (scope === "all") return scope;
  return "owner" in scope ? `owner ${scope.owner}` : `tenant ${scope.tenant}`;
}
