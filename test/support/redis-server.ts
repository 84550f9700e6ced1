import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { type ChildServer, openChildServer } from "./child-server.js";
import { freePort } from "./free-port.js";

export interface RedisServer extends ChildServer {
  readonly url: string;
  readonly port: number;
}

export interface RedisServerOptions {
  /** One node of a Cluster, with all slots: it refuses what touches two slots at once. Default false. */
  readonly cluster?: boolean;
  /** Settings that differ from those that are durable. */
  readonly settings?: Readonly<Record<string, string>>;
}

const DURABLE = { appendonly: "yes", appendfsync: "always", save: "" };
const LAST_SLOT = "16383";

/** A Redis of the test's own, on the machine's program, with its data in a temporary directory. */
export async function openRedisServer({ cluster = false, settings = {} }: RedisServerOptions = {}): Promise<RedisServer> {
  const dir = await mkdtemp(join(tmpdir(), "maitred-redis-"));
  const port = await freePort();
  const clustered = cluster
    ? { "cluster-enabled": "yes", "cluster-port": String(await freePort()), "cluster-announce-ip": "127.0.0.1" }
    : {};
  const given = { port: String(port), bind: "127.0.0.1", dir, ...DURABLE, ...clustered, ...settings };
  const args = Object.entries(given).flatMap(([name, value]) => [`--${name}`, value]);
  const stopSignal = "SIGTERM";
  const server = await openChildServer({ program: "redis-server", args, dir, stopSignal, answers: () => answers(port, cluster) });
  return { ...server, url: `redis://127.0.0.1:${port}`, port };
}

async function answers(port: number, cluster: boolean): Promise<boolean> {
  const client = new Redis(port, "127.0.0.1", { lazyConnect: true, retryStrategy: null });
  client.on("error", () => {});
  try {
    await client.connect();
    if (cluster && !(await client.cluster("INFO")).includes("cluster_slots_assigned:16384"))
      await client.call("CLUSTER", "ADDSLOTSRANGE", "0", LAST_SLOT);
    return !cluster || (await client.cluster("INFO")).includes("cluster_state:ok");
  } catch {
    return false;
  } finally {
    client.disconnect();
  }
}
