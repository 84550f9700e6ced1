import { Redis } from "ioredis";
import pg from "pg";
import { silentLogger } from "../../src/platform/logger.js";
import { FirestoreEngine } from "../../src/state/engines/firestore/firestore-engine.js";
import { PostgresEngine } from "../../src/state/engines/postgres/postgres-engine.js";
import { RedisEngine } from "../../src/state/engines/redis/redis-engine.js";
import { startGrpcProxy } from "../state/turns/grpc-proxy.js";
import { type SwitchingProxy, startSwitchingProxy } from "../state/turns/switching-proxy.js";
import { COSMOS_KEY, openCosmosServer } from "../support/cosmos-server.js";
import { openFirestoreEmulator } from "../support/firestore-emulator.js";
import { freePort } from "../support/free-port.js";
import { openPostgresServer, type PostgresServer } from "../support/postgres-server.js";
import { openRedisServer, type RedisServer } from "../support/redis-server.js";

/** Of Cosmos DB, where it refuses a key. */
export const NO_TOKEN = "The input authorization token can't serve the request.";

type Do = () => Promise<unknown>;

/** `says`: a part of what `/readyz` says then; or what stands for it where that is not one thing. */
export type FaultOfEngine = readonly [fault: string, says: string, begin: Do, end: Do, matches?: RegExp];

/** An engine that can be made to fail, and an address that goes to it. */
export interface FailingEngine {
  readonly variables: Readonly<Record<string, string>>;
  readonly faults: readonly FaultOfEngine[];
  close(): Promise<void>;
}

export async function failingPostgres(): Promise<FailingEngine> {
  const [own, other] = [await openPostgresServer(), await openPostgresServer()];
  const proxy = await startSwitchingProxy(portOf(own));
  const url = own.url.replace(`:${portOf(own)}`, `:${proxy.port}`);
  const run = async (sql: string, at = own.url) => {
    const client = new pg.Client({ connectionString: at });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  const disconnect = () => run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'maitred'");
  const full = ["entries", "health"].map(
    (table) => `CREATE TRIGGER full_${table} BEFORE INSERT ON maitred.${table} EXECUTE FUNCTION full()`,
  );
  const raises = "CREATE FUNCTION full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '53100'; END $$";
  const another = async () => {
    await (await PostgresEngine.open({ url: other.url, schema: "maitred", logger: silentLogger })).close();
    proxy.switchTo(portOf(other));
  };
  return {
    variables: { DATABASE_URL: url },
    faults: [
      ["killed", "the connection is lost", () => own.kill(), () => own.start(), /ECONNREFUSED|ECONNRESET|terminated|out of reach/i],
      [
        "read-only",
        "read-only",
        () => run("ALTER DATABASE postgres SET default_transaction_read_only = on").then(disconnect),
        () => run("SET transaction_read_only = off; ALTER DATABASE postgres RESET default_transaction_read_only").then(disconnect),
      ],
      ["its disk is full", "disk is full", () => run([raises, ...full].join(";")), () => run("DROP FUNCTION full CASCADE")],
      ["an empty one in its place", "gone", async () => proxy.switchTo(portOf(other)), async () => proxy.switchTo(portOf(own))],
      ["another installation's in its place", "another installation", another, async () => proxy.switchTo(portOf(own))],
    ],
    close: () => closed(proxy, own, other),
  };
}

export async function failingRedis(): Promise<FailingEngine> {
  const [own, other] = [await openRedisServer(), await openRedisServer()];
  const proxy = await startSwitchingProxy(own.port);
  const admin = new Redis(own.url);
  admin.on("error", () => {});
  const config = (name: string, value: string) => () => admin.config("SET", name, value);
  const another = async () => {
    await (await RedisEngine.open({ url: other.url, prefix: "maitred", durability: "strict", logger: silentLogger })).close();
    proxy.switchTo(other.port);
  };
  return {
    variables: { REDIS_URL: `redis://127.0.0.1:${proxy.port}` },
    faults: [
      ["killed", "out of reach", () => own.kill(), () => own.start()],
      ["a replica", "READONLY", () => admin.replicaof("127.0.0.1", 1), () => admin.replicaof("NO", "ONE")],
      ["out of memory", "OOM", config("maxmemory", "1"), config("maxmemory", "0")],
      ["too few replicas follow it", "NOREPLICAS", config("min-replicas-to-write", "1"), config("min-replicas-to-write", "0")],
      ["an empty one in its place", "is empty or another", async () => proxy.switchTo(other.port), async () => proxy.switchTo(own.port)],
      ["another installation's in its place", "is empty or another", another, async () => proxy.switchTo(own.port)],
      // In its place: nothing was connected anew.
      ["its data swapped in place", "is empty or another", () => admin.call("SWAPDB", 0, 1), () => admin.call("SWAPDB", 0, 1)],
    ],
    close: async () => {
      admin.disconnect();
      await closed(proxy, own, other);
    },
  };
}

/** Its emulator keeps nothing, and refuses nothing: a proxy in front of it does as the service, and goes to another one. */
export async function failingFirestore(): Promise<FailingEngine> {
  const [own, other] = [await openFirestoreEmulator(), await openFirestoreEmulator()];
  const [port, otherPort] = [own, other].map(({ host }) => Number(host.split(":")[1])) as [number, number];
  const proxy = await startGrpcProxy(port);
  const nowhere = await freePort();
  const project = "maitred-ready";
  const refusing = (code: number, message: string) => async () => proxy.refuse("/Commit", { code, message });
  const commits = async () => proxy.refuse("/Commit", null);
  const everything = async () => proxy.refuse("", null);
  const back = async () => proxy.switchTo(port);
  const empty = async () => {
    await fetch(`http://${other.host}/emulator/v1/projects/${project}/databases/(default)/documents`, { method: "DELETE" });
    proxy.switchTo(otherPort);
  };
  const another = async () => {
    const address = { project, database: "(default)", emulator: other.host };
    await (await FirestoreEngine.open({ ...address, logger: silentLogger })).close();
    proxy.switchTo(otherPort);
  };
  return {
    variables: { FIRESTORE_PROJECT: project, FIRESTORE_EMULATOR_HOST: `127.0.0.1:${proxy.port}` },
    faults: [
      ["silent", "Firestore is out of reach (no answer in time", async () => own.hang(), async () => own.goOn()],
      ["nothing listens", "Firestore is out of reach", async () => proxy.switchTo(nowhere), back],
      ["no right to write", "does not let this account do it", refusing(7, "Missing or insufficient permissions."), commits],
      // Its client asks again for as long as it may.
      ["its quota used up (429)", "no answer in time, as where its quota is used up", refusing(8, "Quota exceeded."), commits],
      [
        "the credentials are refused",
        "no answer in time, as where its quota is used up or the credentials are refused",
        async () => proxy.refuse("", { code: 16, message: "Request had invalid credentials." }),
        everything,
      ],
      ["another installation's in its place", "is empty or another", another, back],
      ["an empty one in its place", "is empty or another", empty, back],
    ],
    close: async () => {
      await proxy.close();
      await own.close();
      await other.close();
    },
  };
}

export async function failingCosmos(): Promise<FailingEngine> {
  const [own, other] = [await openCosmosServer(), await openCosmosServer()];
  const [port, otherPort] = [own, other].map(({ endpoint }) => Number(new URL(endpoint).port)) as [number, number];
  const proxy = await startSwitchingProxy(port);
  const nowhere = await freePort();
  const refusing = (status: number, message: string) => async () => own.refuse({ status, message });
  const back = async () => proxy.switchTo(port);
  const mended = async () => own.refuse(null);
  const another = async () => {
    await other.open("maitred");
    proxy.switchTo(otherPort);
  };
  return {
    variables: { COSMOS_ENDPOINT: `http://127.0.0.1:${proxy.port}`, COSMOS_KEY },
    faults: [
      ["nothing listens", "out of reach", async () => proxy.switchTo(nowhere), back],
      ["connections are cut", "out of reach", () => own.kill(), () => own.start()],
      ["silent", "out of reach (no answer in time)", async () => own.hang(), async () => own.goOn()],
      ["an empty one in its place", "is empty or another", async () => proxy.switchTo(otherPort), back],
      ["another installation's in its place", "is empty or another", another, back],
      [
        "a key that may only read, or full (403)",
        "or the partition is full",
        refusing(403, "The given request cannot be authorized."),
        mended,
      ],
      ["the key is no longer valid (401)", "refuses the key", refusing(401, NO_TOKEN), mended],
      ["throttled for long (429)", "throughput is used up", refusing(429, "Request rate is large."), mended],
    ],
    close: async () => {
      await proxy.close();
      await own.close();
      await other.close();
    },
  };
}

async function closed(proxy: SwitchingProxy, ...servers: readonly (PostgresServer | RedisServer)[]): Promise<void> {
  await proxy.close();
  for (const server of servers) await server.close();
}

function portOf({ url }: PostgresServer): number {
  return Number(new URL(url).port);
}
