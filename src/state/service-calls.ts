import { setTimeout as pause } from "node:timers/promises";
import { type AwaitedServer, awaitStart } from "../platform/await-start.js";
import { orAbort } from "../platform/bounded-signal.js";
import type { AppError } from "../platform/errors.js";
import { NotCommitted } from "./durable-commit.js";
import type { StateEngine } from "./engine.js";
import type { ServiceErrors } from "./service-errors.js";

/** A database that is a service, as its client has it. */
export interface CalledService {
  /** For a person. */
  readonly name: string;
  /** Those that say which one it is. */
  readonly variables: string;
  /** Bound of one call, in milliseconds. */
  readonly timeoutMs: number;
  readonly errors: ServiceErrors;
  /** Writes to what was opened. False where it is gone, or another installation's. */
  readonly beat: () => Promise<boolean>;
  /** Ends the client. */
  readonly end: () => Promise<void> | void;
}

/** Of a look at the health, in milliseconds. */
const HEALTH_WITHIN_MS = 2_000;
const CLOSES_WITHIN_MS = 2_000;

/** Calls of such a client: each is bounded, and refused once what answers was found not to be what was opened, until it is again. */
export class ServiceCalls {
  readonly #service: CalledService;
  readonly #asked = new Set<Promise<unknown>>();
  #closed = false;
  #isAnother = false;
  /** Of all calls that come while another installation answers. */
  #looking: ReturnType<StateEngine["health"]> | null = null;

  constructor(service: CalledService) {
    this.#service = service;
  }

  /** The first call of a start, waited for; where it fails the client is ended. @throws STORAGE_UNAVAILABLE with what to do */
  async opened<T>(open: () => Promise<T>, server: Pick<AwaitedServer, "name" | "waitMs" | "logger">): Promise<T> {
    const { hintOf, mayPass } = this.#service.errors;
    try {
      return await awaitStart(() => this.within(open), { ...server, hintOf, mayPass });
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** @throws STORAGE_UNAVAILABLE, also where there is no answer in time: whether it happened is not known then */
  async within<T>(ask: () => Promise<T>): Promise<T> {
    if (this.#isAnother) {
      this.#looking ??= this.health().finally(() => {
        this.#looking = null;
      });
      const { detail } = await this.#looking;
      if (detail !== undefined) throw new NotCommitted({ detail, retryAfterSeconds: 1 });
    }
    return this.#bounded(ask, this.#service.timeoutMs);
  }

  async health(): ReturnType<StateEngine["health"]> {
    const { name, variables, beat } = this.#service;
    const look = async () => {
      this.#isAnother = !(await this.#bounded(beat, HEALTH_WITHIN_MS));
      return this.#isAnother ? `${name} is empty or another installation's: not what it was at the start. See ${variables}.` : null;
    };
    const detail = await look().catch((error: AppError) => error.message);
    return detail === null ? { status: "ok" } : { status: "down", detail };
  }

  /** A client that is ended under a call that it still tries may throw where nobody can catch it: then it ends behind the call. */
  async close(): Promise<void> {
    this.#closed = true;
    const ended = Promise.allSettled(this.#asked).then(() => this.#service.end());
    await Promise.race([ended, pause(CLOSES_WITHIN_MS, undefined, { ref: false })]);
  }

  async #bounded<T>(ask: () => Promise<T>, ms: number): Promise<T> {
    const { name, errors } = this.#service;
    if (this.#closed) throw new NotCommitted({ detail: `The client of ${name} is closed.` });
    const asked = ask();
    this.#asked.add(asked);
    void asked.catch(() => {}).finally(() => this.#asked.delete(asked));
    try {
      return await orAbort(asked, AbortSignal.timeout(ms));
    } catch (error) {
      throw errors.errorOf(error);
    }
  }
}
