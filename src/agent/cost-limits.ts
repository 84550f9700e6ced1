import { type Owner, parseOwner } from "../domain/owner.js";
import type { TaskTokens } from "../domain/tokens.js";
import type { Clock } from "../platform/clock.js";
import { AppError } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import type { DailyCounts } from "../ports/counters.js";

/** What is counted of a tenant's calls in a day of UTC, and what it may come to. */
export interface DailyLimit {
  readonly counts: DailyCounts;
  /** What a call adds to the counts: a whole number, 0 for what can't be told. */
  readonly countOf: (spent: TaskTokens) => number;
  /** Past it extraction and summaries wait. Default: no limit. */
  readonly soft?: Limit | undefined;
  /** Past it no turn is answered. Default: no limit. */
  readonly hard?: Limit | undefined;
}

export interface Limit {
  /** As the counts have it. */
  readonly most: number;
  /** As people read it: `330 tokens`. */
  readonly shown: string;
  /** Whose value it is. */
  readonly variable: string;
}

/** How many tenants are past a limit, by the limit's variable. */
export interface LimitsReached {
  readonly past: readonly { readonly variable: string; readonly tenants: number }[];
  /** When the day ends: ISO 8601 UTC. */
  readonly until: string;
}

/** What a tenant's models may cost in a day. Every task counts, the stand-ins' don't. */
export class CostLimits {
  readonly #parts: { readonly clock: Clock; readonly logger: Logger };
  readonly #limits: readonly DailyLimit[];

  constructor(parts: { readonly clock: Clock; readonly logger: Logger }, limits: readonly DailyLimit[]) {
    this.#parts = parts;
    this.#limits = limits;
  }

  /** Never throws: a counter that can't be written must not cost an answer. */
  async count(owner: Owner, spent: TaskTokens): Promise<void> {
    try {
      const { tenant } = parseOwner(owner);
      for (const { counts, countOf } of this.#limits) await counts.add(tenant, this.#today(), countOf(spent));
    } catch (error) {
      this.#parts.logger.warn({ err: error }, "what the day's calls cost could not be counted");
    }
  }

  /** Before a model is called that nobody waits for. @throws COST_LIMIT_REACHED past a soft limit, and a hard one */
  async requireBackground(owner: Owner): Promise<void> {
    for (const { counts, soft, hard } of this.#limits) await this.#require(owner, counts, [soft, hard]);
  }

  /** Before a turn is begun. @throws COST_LIMIT_REACHED past a hard limit, with the seconds until it ends */
  async requireAnswer(owner: Owner): Promise<void> {
    for (const { counts, hard } of this.#limits) await this.#require(owner, counts, [hard]);
  }

  /** For readiness, today. */
  async reached(): Promise<LimitsReached> {
    const past: { variable: string; tenants: number }[] = [];
    for (const { counts, soft, hard } of this.#limits) {
      for (const limit of [soft, hard]) {
        const tenants = limit === undefined ? 0 : await counts.tenantsFrom(this.#today(), limit.most);
        if (limit !== undefined && tenants > 0) past.push({ variable: limit.variable, tenants });
      }
    }
    return { past, until: this.#midnight().toISOString() };
  }

  async #require(owner: Owner, counts: DailyCounts, limits: readonly (Limit | undefined)[]): Promise<void> {
    const set = limits.filter((limit) => limit !== undefined);
    if (set.length === 0) return;
    const spent = await counts.spent(parseOwner(owner).tenant, this.#today());
    const reached = set.find(({ most }) => spent >= most);
    if (reached === undefined) return;
    const end = this.#midnight();
    throw new AppError("COST_LIMIT_REACHED", {
      detail: `The day's limit of ${reached.shown} is reached. It ends at ${end.toISOString()}.`,
      retryAfterSeconds: Math.max(1, Math.ceil((end.getTime() - this.#parts.clock.now().getTime()) / 1_000)),
    });
  }

  #today(): string {
    return this.#parts.clock.now().toISOString().slice(0, 10);
  }

  /** The end of the day, in UTC. */
  #midnight(): Date {
    const now = this.#parts.clock.now();
    return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1));
  }
}
