import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "../../../src/platform/logger.js";
import type { StateEngine } from "../../../src/state/engine.js";
import { FirestoreEngine } from "../../../src/state/engines/firestore/firestore-engine.js";
import { MemoryEngine } from "../../../src/state/engines/memory/memory-engine.js";
import { PostgresEngine } from "../../../src/state/engines/postgres/postgres-engine.js";
import { RedisEngine } from "../../../src/state/engines/redis/redis-engine.js";
import { SqliteEngine } from "../../../src/state/engines/sqlite/sqlite-engine.js";
import { openCosmosServer } from "../../support/cosmos-server.js";
import { encryptedForTest } from "../../support/encryption.js";
import { openFirestoreEmulator } from "../../support/firestore-emulator.js";
import { openPostgresServer } from "../../support/postgres-server.js";
import { openRedisServer } from "../../support/redis-server.js";

/** A server or a folder that several tests use, each with state of its own. */
export interface EngineHome {
  /** State that holds nothing; `open`: as another process would. */
  fresh(): Promise<{ open(): Promise<StateEngine>; dispose(): Promise<void> }>;
  close(): Promise<void>;
}

let names = 0;
const nextName = () => `state_${process.pid}_${++names}`;

/** Several openings of one engine within a process, closed together. */
function openings(open: () => Promise<StateEngine>, after: () => Promise<void> = async () => {}) {
  const opened: StateEngine[] = [];
  return {
    open: async () => {
      const engine = await open();
      opened.push(engine);
      return engine;
    },
    dispose: async () => {
      for (const engine of opened) await engine.close();
      await after();
    },
  };
}

async function memory(): Promise<EngineHome> {
  const fresh = async () => {
    const engine = new MemoryEngine();
    return openings(async () => engine);
  };
  return { fresh, close: async () => {} };
}

async function sqlite(): Promise<EngineHome> {
  const fresh = async () => {
    const dir = await mkdtemp(join(tmpdir(), "maitred-state-"));
    const engine = await SqliteEngine.open({ path: join(dir, "state.db"), logger: silentLogger });
    return openings(
      async () => engine,
      () => rm(dir, { recursive: true }),
    );
  };
  return { fresh, close: async () => {} };
}

/** Any of the others with its values encrypted. */
async function encrypted(): Promise<EngineHome> {
  const fresh = async () => {
    const { engine } = await encryptedForTest(new MemoryEngine());
    return openings(async () => engine);
  };
  return { fresh, close: async () => {} };
}

async function postgres(): Promise<EngineHome> {
  const server = await openPostgresServer();
  const fresh = async () => {
    const schema = nextName();
    return openings(() => PostgresEngine.open({ url: server.url, schema, connections: 4, logger: silentLogger }));
  };
  return { fresh, close: () => server.close() };
}

async function redis(): Promise<EngineHome> {
  const server = await openRedisServer();
  const fresh = async () => {
    const prefix = nextName();
    return openings(() => RedisEngine.open({ url: server.url, prefix, durability: "strict", logger: silentLogger }));
  };
  return { fresh, close: () => server.close() };
}

async function firestore(): Promise<EngineHome> {
  const server = await openFirestoreEmulator();
  const fresh = async () => {
    const project = nextName().replaceAll("_", "-");
    return openings(() => FirestoreEngine.open({ project, database: "(default)", emulator: server.host, logger: silentLogger }));
  };
  return { fresh, close: () => server.close() };
}

async function cosmos(): Promise<EngineHome> {
  const { open, close } = await openCosmosServer();
  const fresh = async () => {
    const database = nextName();
    return openings(() => open(database));
  };
  return { fresh, close };
}

/** `program`: what the machine must have for it. */
export const EVERY_ENGINE = [
  { name: "memory", program: null, shared: false, home: memory },
  { name: "encrypted", program: null, shared: false, home: encrypted },
  { name: "SQLite", program: null, shared: false, home: sqlite },
  { name: "PostgreSQL", program: "postgres", shared: true, home: postgres },
  { name: "Redis", program: "redis", shared: true, home: redis },
  { name: "Firestore", program: "firestore", shared: true, home: firestore },
  { name: "Cosmos DB", program: "cosmos", shared: true, home: cosmos },
] as const;
