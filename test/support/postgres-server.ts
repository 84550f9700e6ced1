import { spawnSync } from "node:child_process";
import { chown, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pg from "pg";
import { type ChildServer, openChildServer } from "./child-server.js";
import { freePort } from "./free-port.js";

/** PostgreSQL refuses to run as root: then it runs as nobody. */
const NOBODY = 65_534;
const asUser = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
/** The run's own temporary directory lets nobody in; it lies on the disk that is quickest to sync. */
const base = "uid" in asUser ? dirname(tmpdir()) : tmpdir();

export interface PostgresServer extends ChildServer {
  readonly url: string;
}

/** A PostgreSQL of the test's own, with its data in a temporary directory. `programs`: their folder. Default: the PATH's. */
export async function openPostgresServer({ programs = "" } = {}): Promise<PostgresServer> {
  const dir = await mkdtemp(join(base, "maitred-postgres-"));
  if ("uid" in asUser) await chown(dir, NOBODY, NOBODY);
  const data = join(dir, "data");
  const made = spawnSync(join(programs, "initdb"), ["-D", data, "-U", "maitred", "-A", "trust", "-E", "UTF8", "--no-sync"], {
    ...asUser,
    encoding: "utf8",
  });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const port = await freePort();
  const url = `postgres://maitred@127.0.0.1:${port}/postgres`;
  const server = await openChildServer({
    program: join(programs, "postgres"),
    args: ["-D", data, "-p", String(port), "-c", "listen_addresses=127.0.0.1", "-k", dir],
    dir,
    spawning: asUser,
    stopSignal: "SIGINT",
    answers: () => answers(url),
  });
  return { ...server, url };
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    await client.query("SELECT 1");
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
