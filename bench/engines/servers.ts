import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPostgresServer } from "../../test/support/postgres-server.js";
import { openRedisServer } from "../../test/support/redis-server.js";

/** Where state is kept, as a server of the bench's own, and the variables that name a place in it to Maitred. */
export interface EngineServer {
  readonly name: string;
  /** Places are apart from one another. */
  variables(place: string): Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Files under a key. */
export const ENCRYPTED = "file, encrypted";

/** Each with the program that has to be on the machine; none for files. */
const ENGINES: readonly { readonly name: string; readonly program: string | null; readonly open: () => Promise<EngineServer> }[] = [
  { name: "file", program: null, open: async () => ({ name: "file", variables: () => ({}), close: async () => {} }) },
  { name: ENCRYPTED, program: null, open: encrypted },
  { name: "PostgreSQL", program: "postgres", open: postgres },
  { name: "Redis", program: "redis-server", open: redis },
];

/** Starts those that the machine has; files are always the first. `leftOut`: why the others aren't there. */
export async function openEngines(): Promise<{ readonly engines: readonly EngineServer[]; readonly leftOut: readonly string[] }> {
  const there = ENGINES.filter(({ program }) => program === null || spawnSync(program, ["--version"]).status === 0);
  const leftOut = ENGINES.filter((engine) => !there.includes(engine)).map(({ name, program }) => `${name} (no ${program} on the PATH)`);
  return { engines: await Promise.all(there.map(({ open }) => open())), leftOut };
}

async function encrypted(): Promise<EngineServer> {
  const dir = await mkdtemp(join(tmpdir(), "maitred-bench-key-"));
  const key = join(dir, "master.key");
  await writeFile(key, randomBytes(32).toString("base64"));
  return { name: ENCRYPTED, variables: () => ({ ENCRYPTION_KEY_FILE: key }), close: () => rm(dir, { recursive: true }) };
}

async function postgres(): Promise<EngineServer> {
  const server = await openPostgresServer();
  return {
    name: "PostgreSQL",
    variables: (place) => ({ DATABASE_URL: server.url, DATABASE_SCHEMA: `bench_${place}` }),
    close: server.close,
  };
}

async function redis(): Promise<EngineServer> {
  const server = await openRedisServer();
  return { name: "Redis", variables: (place) => ({ REDIS_URL: server.url, REDIS_PREFIX: `bench-${place}` }), close: server.close };
}
