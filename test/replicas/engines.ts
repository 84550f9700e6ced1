import type { ChildServer } from "../support/child-server.js";
import { COSMOS_KEY, openCosmosServer } from "../support/cosmos-server.js";
import { openFirestoreEmulator } from "../support/firestore-emulator.js";
import { openPostgresServer } from "../support/postgres-server.js";
import { openRedisServer } from "../support/redis-server.js";

/** An engine of state that can be killed, and what names it to a server. */
export interface EngineServer extends ChildServer {
  readonly variables: Readonly<Record<string, string>>;
}

async function postgres(): Promise<EngineServer> {
  const server = await openPostgresServer();
  return { ...server, variables: { DATABASE_URL: server.url } };
}

/** Durable, as the product asks for: what is acknowledged is on disk. */
async function redis(): Promise<EngineServer> {
  const server = await openRedisServer();
  return { ...server, variables: { REDIS_URL: server.url } };
}

/** The emulator keeps all in memory: instead of being killed it answers nothing for a while. */
async function firestore(): Promise<EngineServer> {
  const server = await openFirestoreEmulator();
  const variables = { FIRESTORE_EMULATOR_HOST: server.host, FIRESTORE_PROJECT: "maitred-tests" };
  return { ...server, kill: async () => server.hang(), start: async () => server.goOn(), variables };
}

/** Its stand-in is in this process, and keeps all in memory: instead of being killed it can't be reached for a while. */
async function cosmos(): Promise<EngineServer> {
  const server = await openCosmosServer();
  return { ...server, variables: { COSMOS_ENDPOINT: server.endpoint, COSMOS_KEY } };
}

/** By what the machine must have for them. `isSlow`: on the same cores its emulator does a tenth of a database's work. */
export const ENGINES = [
  { program: "postgres", name: "PostgreSQL", open: postgres, isSlow: false },
  { program: "redis", name: "Redis", open: redis, isSlow: false },
  { program: "firestore", name: "Firestore", open: firestore, isSlow: true },
  { program: "cosmos", name: "Cosmos DB", open: cosmos, isSlow: true },
] as const;
