import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "../../src/platform/logger.js";
import type { MovableState } from "../../src/ports/transfer.js";
import type { StateEngine } from "../../src/state/engine.js";
import { FirestoreEngine } from "../../src/state/engines/firestore/firestore-engine.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { PostgresEngine } from "../../src/state/engines/postgres/postgres-engine.js";
import { RedisEngine } from "../../src/state/engines/redis/redis-engine.js";
import { SqliteEngine } from "../../src/state/engines/sqlite/sqlite-engine.js";
import { openCosmosServer } from "../support/cosmos-server.js";
import { openFirestoreEmulator } from "../support/firestore-emulator.js";
import { openPostgresServer } from "../support/postgres-server.js";
import { openRedisServer } from "../support/redis-server.js";

/** An engine on which tests open stores that nobody has used. */
export interface EngineServer {
  open(): Promise<StateEngine>;
  close(): Promise<void>;
}

/** Engines that state is moved between, each with what it needs of the machine. */
export const ENGINES: readonly {
  readonly name: string;
  readonly needs: readonly ("postgres" | "redis" | "firestore" | "cosmos")[];
  start(): Promise<EngineServer>;
}[] = [
  { name: "memory", needs: [], start: async () => ({ open: async () => new MemoryEngine(), close: async () => {} }) },
  { name: "sqlite", needs: [], start: startSqlite },
  { name: "postgres", needs: ["postgres"], start: startPostgres },
  { name: "redis", needs: ["redis"], start: startRedis },
  { name: "firestore", needs: ["firestore"], start: startFirestore },
  { name: "cosmos", needs: ["cosmos"], start: startCosmos },
];

async function startSqlite(): Promise<EngineServer> {
  const dir = await mkdtemp(join(tmpdir(), "maitred-migrate-"));
  return closingAll({
    open: (place) => SqliteEngine.open({ path: join(dir, `${place}.db`) }),
    close: () => rm(dir, { recursive: true }),
  });
}

async function startPostgres(): Promise<EngineServer> {
  const { url, close } = await openPostgresServer();
  return closingAll({
    open: (place) => PostgresEngine.open({ url, schema: `m${place}`, connections: 5, logger: silentLogger }),
    close,
  });
}

async function startRedis(): Promise<EngineServer> {
  const { url, close } = await openRedisServer();
  return closingAll({ open: (place) => RedisEngine.open({ url, prefix: `m${place}`, durability: "strict", logger: silentLogger }), close });
}

async function startFirestore(): Promise<EngineServer> {
  const { host: emulator, close } = await openFirestoreEmulator();
  const open = (place: number) =>
    FirestoreEngine.open({ project: `migrate-${place}`, database: "(default)", emulator, logger: silentLogger });
  return closingAll({ open, close });
}

async function startCosmos(): Promise<EngineServer> {
  const { open, close } = await openCosmosServer();
  return closingAll({ open: (place) => open(`m${place}`), close });
}

function closingAll({ open, close }: { open(place: number): Promise<StateEngine>; close(): Promise<void> }): EngineServer {
  const opened: StateEngine[] = [];
  return {
    open: async () => {
      const engine = await open(opened.length);
      opened.push(engine);
      return engine;
    },
    close: async () => {
      await Promise.all(opened.map((engine) => engine.close()));
      await close();
    },
  };
}

/** A store that keeps its journals in rows; `name` stays the same from run to run. */
export function movable(engine: StateEngine, more: Partial<MovableState> = {}): MovableState {
  const unused = new Proxy({} as MovableState["journals"]["store"], {
    get: (_, method) => {
      throw new Error(`Journals that are rows in both stores are copied as rows, and not by ${String(method)}.`);
    },
  });
  return { name: engine.manifest.name, engine, journals: { keptIn: "rows", store: unused }, leases: async () => new Map(), ...more };
}
