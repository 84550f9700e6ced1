import { type Owner, parseOwner } from "../domain/owner.js";
import type { Clock } from "../platform/clock.js";
import { AppError } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import type { DailyTokens } from "../ports/daily-tokens.js";

export interface CostLimitsOptions {
  /** Tokens of a tenant in a day of UTC: past it extraction and summaries wait. Default: no limit. */
  readonly soft?: number | undefined;
  /** Past it no turn is answered. Default: no limit. */
  readonly hard?: number | undefined;
}

/** What a tenant's models may cost in a day. Input and output of every task count, the stand-ins' don't. */
export class CostLimits {
  readonly #parts: { readonly daily: DailyTokens; readonly clock: Clock; readonly logger: Logger };
  readonly #options: CostLimitsOptions;

  constructor(parts: { readonly daily: DailyTokens; readonly clock: Clock; readonly logger: Logger }, options: CostLimitsOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  /** Never throws: a counter that can't be written must not cost an answer. */
  async count(owner: Owner, tokens: number): Promise<void> {
    try {
      await this.#parts.daily.add(parseOwner(owner).tenant, this.#today(), tokens);
    } catch (error) {
      this.#parts.logger.warn({ err: error }, "the day's tokens could not be counted");
    }
  }

  /** Before a model is called that nobody waits for. @throws COST_LIMIT_REACHED past the soft limit, and the hard one */
  requireBackground(owner: Owner): Promise<void> {
    const { soft = Number.POSITIVE_INFINITY, hard = Number.POSITIVE_INFINITY } = this.#options;
    return this.#require(owner, Math.min(soft, hard));
  }

  /** Before a turn is begun. @throws COST_LIMIT_REACHED past the hard limit, with the seconds until it ends */
  requireAnswer(owner: Owner): Promise<void> {
    return this.#require(owner, this.#options.hard ?? Number.POSITIVE_INFINITY);
  }

  /** For readiness: how many tenants are past a limit today. */
  async reached(): Promise<{ readonly soft: number; readonly hard: number; readonly until: string }> {
    const { soft, hard } = this.#options;
    const past = async (limit: number | undefined) => (limit === undefined ? 0 : this.#parts.daily.tenantsFrom(this.#today(), limit));
    return { soft: await past(soft), hard: await past(hard), until: this.#midnight().toISOString() };
  }

  async #require(owner: Owner, limit: number): Promise<void> {
    if (limit === Number.POSITIVE_INFINITY) return;
    if ((await this.#parts.daily.spent(parseOwner(owner).tenant, this.#today())) < limit) return;
    const end = this.#midnight();
    throw new AppError("COST_LIMIT_REACHED", {
      detail: `The day's limit of ${limit} tokens is reached. It ends at ${end.toISOString()}.`,
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
