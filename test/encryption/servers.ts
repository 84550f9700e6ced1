import { COSMOS_KEY, openCosmosServer } from "../support/cosmos-server.js";
import { openFirestoreEmulator } from "../support/firestore-emulator.js";
import type { Need } from "../support/needing.js";
import { openPgvectorServer } from "../support/pgvector-server.js";
import { openRedisServer } from "../support/redis-server.js";

/** A server: where it is, what makes the product keep everything there that it can, and its files, where they lie in a folder. */
export interface Server {
  readonly url: string;
  readonly variables: Readonly<Record<string, string>>;
  /** What makes it another installation there. */
  readonly another?: Readonly<Record<string, string>>;
  readonly dir?: string;
  close(): Promise<void>;
}

export interface NamedServer {
  readonly program: Need;
  readonly name: string;
  readonly open: () => Promise<Server>;
}

async function pgvector(): Promise<Server> {
  const { url, close } = await openPgvectorServer();
  return { url, variables: { DATABASE_URL: url, MEM0_PROVIDER: "pgvector" }, another: { DATABASE_SCHEMA: "another" }, close };
}

async function redis(): Promise<Server> {
  const { url, close } = await openRedisServer();
  return { url, variables: { REDIS_URL: url, MEM0_PROVIDER: "state" }, another: { REDIS_PREFIX: "another" }, close };
}

async function firestore(): Promise<Server> {
  const { host, close } = await openFirestoreEmulator();
  const variables = { FIRESTORE_PROJECT: "canary", FIRESTORE_EMULATOR_HOST: host, MEM0_PROVIDER: "state" };
  return { url: `http://${host}`, variables, another: { FIRESTORE_PROJECT: "another" }, close };
}

async function cosmos(): Promise<Server> {
  const { endpoint: url, close } = await openCosmosServer();
  return { url, variables: { COSMOS_ENDPOINT: url, COSMOS_KEY, MEM0_PROVIDER: "state" }, another: { COSMOS_DATABASE: "another" }, close };
}

/** State and vectors, each with another installation beside. */
export const STATE_SERVERS: readonly NamedServer[] = [
  { program: "pgvector", name: "PostgreSQL with pgvector", open: pgvector },
  { program: "redis", name: "Redis, vectors too", open: redis },
  { program: "firestore", name: "Firestore, vectors too", open: firestore },
  { program: "cosmos", name: "Cosmos DB, vectors too", open: cosmos },
];
