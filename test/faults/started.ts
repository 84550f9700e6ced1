import type { Overrides } from "../../src/compose/compose.js";
import { isAppError } from "../../src/platform/errors.js";
import { silentLogger } from "../../src/platform/logger.js";
import { openWorld, type World } from "../e2e/world.js";
import { TaskModel } from "../support/task-model.js";
import { VectorDouble } from "../support/vector-double.js";

/** The product but for its state. */
export const WITH_A_SERVICE = {
  MEM0_PROVIDER: "qdrant",
  EMBEDDING_PROVIDER: "hashing",
  MEMORY_EMBEDDING_DIMENSIONALITY: "16",
  RATE_LIMIT_PER_MINUTE: "0",
};

/** A start that is to fail: what it should say and advise, each a part of the error's words. */
export interface FailingStart {
  readonly fault: string;
  readonly isWaitedFor?: true;
  readonly says: string;
  readonly advises: string;
  /** Beside those of the start that goes well. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly begin?: () => unknown;
  readonly end?: () => unknown;
}

export type StartOutcome = {
  /** Whether the service was waited for, and how that ended. */
  readonly start: string;
  readonly says: string;
  readonly advises: string;
  /** The same start, when all is well again. */
  readonly afterwards: string;
};

const FOUND = "what was said is there";

export const SHOULD = ({ isWaitedFor, says, advises }: FailingStart): StartOutcome => ({
  start: isWaitedFor === true ? "waits, then ends" : "ends at once",
  says,
  advises,
  afterwards: FOUND,
});

const WITHOUT_VECTORS: Overrides = { vectors: new VectorDouble().store() };

/** A server's start where one has run before, and Ada has said something to it. `dir`: of both. */
export class Starts {
  readonly #dir: string;
  readonly #variables: Readonly<Record<string, string>>;
  readonly #overrides: Overrides;
  readonly #waits: string[] = [];

  /** `overrides`: default: a double of vectors. */
  constructor(dir: string, variables: Readonly<Record<string, string>>, overrides = WITHOUT_VECTORS) {
    this.#dir = dir;
    this.#variables = { ...WITH_A_SERVICE, ...variables };
    this.#overrides = overrides;
  }

  async first(): Promise<void> {
    const world = await this.#open({});
    const { status, text } = await world.as("ada").post("/v1/chat", { message: "Hello." });
    if (status !== 200) throw new Error(`It is not well before the fault: ${text}`);
    await world.application.close({ drainMs: 0 });
  }

  async under({ says, advises, variables = {}, begin, end }: FailingStart): Promise<StartOutcome> {
    this.#waits.length = 0;
    await begin?.();
    const failure = await this.#open(variables).then(closed, (error: unknown) => error);
    const waits = this.#waits.length > 0;
    await end?.();
    const world = await this.#open({});
    const { data } = (await world.as("ada").get<{ data: readonly unknown[] }>("/v1/sessions")).body;
    await closed(world);
    if (!isAppError(failure)) return { start: "goes well", says: String(failure), advises: "nothing", afterwards: FOUND };
    const { message, hint = "" } = failure;
    return {
      start: waits ? "waits, then ends" : "ends at once",
      says: message.includes(says) ? says : message,
      advises: `${hint} ${message}`.includes(advises) ? advises : hint,
      afterwards: data.length === 1 ? FOUND : `${data.length} sessions`,
    };
  }

  #open(variables: Readonly<Record<string, string>>): Promise<World> {
    const warn = (_: object, message = "") => void (message.startsWith("Waiting for") && this.#waits.push(message));
    const logger = { ...silentLogger, warn };
    const all = { ...this.#variables, ...variables };
    return openWorld(this.#dir, all, { logger, model: new TaskModel(), ...this.#overrides });
  }
}

async function closed(world: World): Promise<null> {
  await world.application.close({ drainMs: 0 });
  return null;
}
