import type { Clock } from "../../platform/clock.js";
import type { AppError, ErrorCode } from "../../platform/errors.js";

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
export class EndpointProblems {
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
