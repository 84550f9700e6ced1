import { createHash } from "node:crypto";
import { type Clock, systemClock } from "../../platform/clock.js";
import type { AppError, ErrorCode } from "../../platform/errors.js";
import { type Logger, silentLogger } from "../../platform/logger.js";
import type { MeasuredModel, MeasuredModels, ModelMeasure } from "../../ports/chat-model.js";
import { type Capabilities, capabilitiesSchema, EVERYTHING } from "./capabilities.js";
import { Traffic } from "./traffic.js";

/** How long what was learnt may be known to this process alone, in milliseconds. */
const FLUSH_MS = 500;
/** By how much a speed must have changed to be kept anew. */
const DRIFT = 0.25;
const HOUR_MS = 60 * 60_000;
/** What changes a little with every answer. */
const DRIFTING = ["bytesPerToken", "inputPerSecond", "outputPerSecond"] as const satisfies readonly (keyof Capabilities)[];

interface Known {
  readonly capabilities: Capabilities;
  /** When it began to be measured. */
  readonly since: Date;
}

interface KnownCapabilitiesOptions {
  /** Where it is kept beyond the process. Default: nowhere. */
  readonly store?: MeasuredModels;
  /** What is older is measured anew, in milliseconds. Default: nothing is. */
  readonly maxAgeMs?: number;
  readonly clock?: Clock;
  readonly logger?: Logger;
}

/**
 * What is known of each endpoint and model. One for all models of a process, so that each thing is learnt once; with a store one for all
 * processes of an installation, over restarts.
 */
export class KnownCapabilities {
  /** Of this process alone. */
  readonly problems: EndpointProblems;
  readonly #known = new Map<string, Known>();
  readonly #traffic = new Map<string, Traffic>();
  /** Windows that a refusal told, in tokens; of this process alone. */
  readonly #refusedWindows = new Map<string, number>();
  readonly #options: KnownCapabilitiesOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  /** What this process has learnt and not kept yet. */
  readonly #waiting = new Map<string, Partial<Capabilities>>();
  /** As they were kept last. */
  readonly #kept = new Map<string, { readonly capabilities: Capabilities; readonly atMs: number }>();
  /** When what was known before was found to be wrong or too old. */
  readonly #anewSince = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;
  #flushing: Promise<void> = Promise.resolve();

  constructor(options: KnownCapabilitiesOptions = {}) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.problems = new EndpointProblems(this.#clock);
    this.#logger = options.logger ?? silentLogger;
  }

  /** With what is kept of before. What can't be read is learnt anew. */
  static async open(options: KnownCapabilitiesOptions): Promise<KnownCapabilities> {
    const known = new KnownCapabilities(options);
    try {
      for (const [hash, stored] of (await options.store?.all()) ?? []) known.#take(hash, stored);
    } catch (error) {
      known.#logger.warn({ err: error }, "what was measured of models could not be read: it is measured anew");
    }
    return known;
  }

  of(endpoint: string, model: string): Capabilities {
    return this.#at(hashOf(endpoint, model))?.capabilities ?? EVERYTHING;
  }

  /** What this process asks there. */
  trafficAt(endpoint: string): Traffic {
    const traffic = this.#traffic.get(endpoint) ?? new Traffic();
    this.#traffic.set(endpoint, traffic);
    return traffic;
  }

  /** `set`: the window as it is configured, if it is. It counts for more than what an endpoint lists, and for less than what it refuses. */
  measureOf(endpoint: string, model: string, set: number | undefined): ModelMeasure {
    const hash = hashOf(endpoint, model);
    const known = this.#at(hash);
    const { contextTokens, inputPerSecond, outputPerSecond, reads } = known?.capabilities ?? EVERYTHING;
    const measuredAt = known?.since.toISOString() ?? null;
    const most = this.#refusedWindows.get(hash) ?? Number.POSITIVE_INFINITY;
    return { contextTokens: set === undefined ? contextTokens : Math.min(set, most), inputPerSecond, outputPerSecond, reads, measuredAt };
  }

  /** Changes single entries: two calls that learn at the same time lose nothing of each other. */
  learn(endpoint: string, model: string, change: Partial<Capabilities>): void {
    const hash = hashOf(endpoint, model);
    const before = this.#at(hash);
    const capabilities = { ...(before?.capabilities ?? EVERYTHING), ...change };
    this.#known.set(hash, { capabilities, since: before?.since ?? this.#clock.now() });
    if (this.#options.store === undefined) return;
    this.#waiting.set(hash, { ...this.#waiting.get(hash), ...change });
    if (this.#isNews(hash, capabilities)) this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  /** What is told by a refusal is so, whatever is configured or was known. */
  learnRefusedWindow(endpoint: string, model: string, contextTokens: number): void {
    const before = this.of(endpoint, model).contextTokens;
    if (before !== null && before !== contextTokens) this.forget(endpoint, model);
    this.learn(endpoint, model, { contextTokens });
    this.#refusedWindows.set(hashOf(endpoint, model), contextTokens);
  }

  /** An answer contradicts what is known: another model stands under this name, and is measured anew. */
  forget(endpoint: string, model: string): void {
    const hash = hashOf(endpoint, model);
    if (!this.#known.has(hash)) return;
    this.#logger.info({ model }, "an answer contradicts what was measured of the model: it is measured anew");
    this.#drop(hash);
  }

  /** Resolves when what was learnt is kept, as far as it can be. */
  flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#flushing = this.#flushing.then(() => this.#keep());
    return this.#flushing;
  }

  #at(hash: string): Known | undefined {
    const known = this.#known.get(hash);
    const { maxAgeMs = Number.POSITIVE_INFINITY } = this.#options;
    if (known === undefined || this.#clock.now().getTime() - known.since.getTime() < maxAgeMs) return known;
    this.#drop(hash);
    return undefined;
  }

  #drop(hash: string): void {
    this.#anewSince.set(hash, this.#clock.now().getTime());
    for (const map of [this.#known, this.#waiting, this.#kept, this.#refusedWindows]) map.delete(hash);
  }

  #isNews(hash: string, now: Capabilities): boolean {
    const kept = this.#kept.get(hash);
    if (kept === undefined || this.#clock.now().getTime() - kept.atMs > HOUR_MS) return true;
    const before = kept.capabilities;
    const isDrift = (key: keyof Capabilities) => DRIFTING.some((each) => each === key);
    return (Object.keys(now) as (keyof Capabilities)[]).some((key) => {
      const [is, was] = [now[key], before[key]];
      if (!isDrift(key) || typeof is !== "number" || typeof was !== "number") return is !== was;
      return Math.abs(is - was) > was * DRIFT;
    });
  }

  async #keep(): Promise<void> {
    for (const [hash, change] of this.#waiting) {
      this.#waiting.delete(hash);
      const known = this.#known.get(hash);
      if (known === undefined) continue;
      const own = { measured_at: known.since.toISOString(), facts: { ...known.capabilities } };
      try {
        const kept = await this.#options.store?.change(hash, (stored) =>
          stored === null || this.#isOver(hash, stored) ? own : { measured_at: stored.measured_at, facts: { ...stored.facts, ...change } },
        );
        if (kept !== undefined) this.#take(hash, kept);
      } catch (error) {
        this.#waiting.set(hash, { ...change, ...this.#waiting.get(hash) });
        this.#logger.debug({ err: error }, "what was measured of a model is kept with the next of it");
        return;
      }
    }
  }

  /** What is kept there was found to be wrong or is too old: what this process has measured since takes its place. */
  #isOver(hash: string, { measured_at }: MeasuredModel): boolean {
    const { maxAgeMs = Number.POSITIVE_INFINITY } = this.#options;
    const sinceMs = Date.parse(measured_at);
    return !(sinceMs > (this.#anewSince.get(hash) ?? Number.NEGATIVE_INFINITY)) || this.#clock.now().getTime() - sinceMs >= maxAgeMs;
  }

  #take(hash: string, { measured_at, facts }: MeasuredModel): void {
    const parsed = capabilitiesSchema.safeParse(facts);
    const since = new Date(measured_at);
    if (!parsed.success || Number.isNaN(since.getTime())) return;
    this.#kept.set(hash, { capabilities: parsed.data, atMs: this.#clock.now().getTime() });
    this.#known.set(hash, { capabilities: { ...parsed.data, ...this.#waiting.get(hash) }, since });
  }
}

/** No key says where it is: an address may hold what is nobody's business. */
function hashOf(endpoint: string, model: string): string {
  return createHash("sha256")
    .update(JSON.stringify([endpoint, model]))
    .digest("hex");
}

/** What says more of the endpoint than of the request: the next one fares no better while it lasts. */
const OF_THE_ENDPOINT: ReadonlySet<ErrorCode> = new Set(["MODEL_UNAVAILABLE", "MODEL_TIMEOUT", "MODEL_QUOTA", "MODEL_REFUSED_REQUEST"]);

interface Problem {
  readonly words: string;
  /** When it may be asked again, by its own word. */
  readonly untilMs: number;
}

/**
 * What keeps endpoints from answering, as this process's last call of each model showed. It lasts until a call is answered, or as long as
 * the endpoint wants to be left alone.
 */
class EndpointProblems {
  readonly #clock: Clock;
  readonly #problems = new Map<string, Problem>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What a call of it ended with. `always`: whatever it is asked, this would come of it. */
  failed(endpoint: string, model: string, error: AppError, always: boolean): void {
    if (!always && !OF_THE_ENDPOINT.has(error.code)) return;
    const { message, retryAfterSeconds } = error;
    const untilMs = retryAfterSeconds === undefined ? Number.POSITIVE_INFINITY : this.#clock.now().getTime() + retryAfterSeconds * 1_000;
    const until = Number.isFinite(untilMs) ? `; it asks to be left alone until ${new Date(untilMs).toISOString().slice(11, 19)} UTC` : "";
    this.#problems.set(keyOf(endpoint, model), { words: `${message.replace(/\.$/, "")}${until}`, untilMs });
  }

  answered(endpoint: string, model: string): void {
    this.#problems.delete(keyOf(endpoint, model));
  }

  /** For a person; null where nothing is wrong. */
  of(endpoint: string, model: string): string | null {
    const problem = this.#problems.get(keyOf(endpoint, model));
    return problem !== undefined && this.#clock.now().getTime() < problem.untilMs ? problem.words : null;
  }
}

function keyOf(endpoint: string, model: string): string {
  return JSON.stringify([endpoint, model]);
}
