import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextLoop } from "node:timers/promises";
import { compose } from "../../../src/compose/compose.js";
import type { Composed, Overrides } from "../../../src/compose/composed.js";
import { parseConfig } from "../../../src/compose/config.js";
import { createHttpApp } from "../../../src/http/app.js";
import { systemClock } from "../../../src/platform/clock.js";
import { silentLogger } from "../../../src/platform/logger.js";
import type { StateEngine } from "../../../src/state/engine.js";
import type { Answer } from "../../e2e/world.js";
import { VectorDouble } from "../../support/vector-double.js";
import type { EngineHome } from "../engines/every-engine.js";

export interface Ask {
  readonly user?: string;
  readonly body?: unknown;
  readonly key?: string;
}

/** One of several applications on the same state, as its HTTP clients know it. */
export interface Replica {
  readonly application: Composed;
  /** How often its engine was asked for anything. */
  readonly asked: () => number;
  ask<T = Record<string, unknown>>(method: string, path: string, asked?: Ask): Promise<Answer<T>>;
  stop(): Promise<void>;
}

export interface ReplicaOptions extends Omit<Overrides, "state" | "vectors"> {
  readonly variables?: Readonly<Record<string, string>>;
  /** Of memories and history; null: as the variables have it. Default: its own. */
  readonly vectors?: VectorDouble | null | undefined;
}

type Call = "read" | "commit" | "partitions" | "due" | "erase" | "health";
const CALLS: readonly Call[] = ["read", "commit", "partitions", "due", "erase", "health"];
/** Goes on with a call of an engine, or does not. */
export type Through = (run: () => Promise<unknown>, call: Call, partition: unknown, given: unknown) => Promise<unknown>;

/** An engine as one of several processes is connected to it. Closing closes the connection alone. */
export function connected(engine: StateEngine, through: Through): StateEngine {
  const calls = CALLS.map((call) => {
    const run = engine[call].bind(engine) as (...given: unknown[]) => Promise<unknown>;
    return [call, (...given: unknown[]) => through(() => run(...given), call, given[0], given[1])];
  });
  return {
    ...(Object.fromEntries(calls) as Pick<StateEngine, Call>),
    manifest: { ...engine.manifest, shared: true },
    close: async () => {},
  };
}

export async function startReplica(engine: StateEngine, { variables = {}, vectors, ...overrides }: ReplicaOptions = {}): Promise<Replica> {
  let calls = 0;
  const state = connected(engine, async (run) => {
    calls += 1;
    // As over a network: others come in between.
    await nextLoop();
    return run();
  });
  const dir = await mkdtemp(join(tmpdir(), "maitred-replica-"));
  const config = parseConfig({
    MEMORY_STORAGE_DIR: dir,
    MEM0_PROVIDER: "qdrant",
    EMBEDDING_PROVIDER: "hashing",
    MEMORY_EMBEDDING_DIMENSIONALITY: "16",
    RATE_LIMIT_PER_MINUTE: "0",
    RECALL_DEADLINE_MS: "10000",
    ...variables,
  });
  const application = await compose(config, {
    ...overrides,
    state,
    ...(vectors !== null && { vectors: (vectors ?? new VectorDouble()).store() }),
  });
  const { logger = silentLogger, clock = systemClock } = overrides;
  const app = await createHttpApp({
    application,
    config,
    logger,
    clock,
    limiter: application.parts.limiter,
    operator: application.parts.operator,
  });
  const ask: Replica["ask"] = async <T>(method: string, path: string, { user = "ada", body, key }: Ask = {}) => {
    const headers = { "X-User-Id": user, "Content-Type": "application/json", ...(key !== undefined && { "Idempotency-Key": key }) };
    const response = await app.request(path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      get body() {
        return JSON.parse(text) as T;
      },
    };
  };
  const stop = async () => {
    await application.close({ drainMs: 0 });
    await rm(dir, { recursive: true, force: true });
  };
  return { application, asked: () => calls, ask, stop };
}

/** So many applications on one state, each with a connection of its own where the engine has such. */
export async function startReplicas(
  home: EngineHome,
  count: number,
  options: Omit<ReplicaOptions, "vectors">,
): Promise<{ readonly replicas: readonly Replica[]; stop(): Promise<void> }> {
  const state = await home.fresh();
  const vectors = new VectorDouble();
  const replicas: Replica[] = [];
  for (let n = 0; n < count; n++) replicas.push(await startReplica(await state.open(), { ...options, vectors }));
  const stop = async () => {
    for (const replica of replicas) await replica.stop();
    await state.dispose();
  };
  return { replicas, stop };
}
