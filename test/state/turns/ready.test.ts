import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { silentLogger } from "../../../src/platform/logger.js";
import { FirestoreEngine } from "../../../src/state/engines/firestore/firestore-engine.js";
import { PostgresEngine } from "../../../src/state/engines/postgres/postgres-engine.js";
import { RedisEngine } from "../../../src/state/engines/redis/redis-engine.js";
import { type Answer, openWorld, type World } from "../../e2e/world.js";
import { COSMOS_KEY, openCosmosServer } from "../../support/cosmos-server.js";
import { openFirestoreEmulator } from "../../support/firestore-emulator.js";
import { freePort } from "../../support/free-port.js";
import { needing } from "../../support/needing.js";
import { openPostgresServer, type PostgresServer } from "../../support/postgres-server.js";
import { openRedisServer, type RedisServer } from "../../support/redis-server.js";
import { TaskModel } from "../../support/task-model.js";
import { VectorDouble } from "../../support/vector-double.js";
import { startGrpcProxy } from "./grpc-proxy.js";
import { type SwitchingProxy, startSwitchingProxy } from "./switching-proxy.js";

const SHARED = {
  MEM0_PROVIDER: "qdrant",
  EMBEDDING_PROVIDER: "hashing",
  MEMORY_EMBEDDING_DIMENSIONALITY: "16",
  RATE_LIMIT_PER_MINUTE: "0",
};

interface Ready {
  readonly status: string;
  readonly parts: { readonly short_term: { readonly status: string; readonly detail?: string } };
}

/** An engine that can be made to fail, and an address that goes to it. */
interface Failing {
  readonly variables: Readonly<Record<string, string>>;
  /** By what `/readyz` says then: how it begins, and how it ends. */
  readonly faults: readonly (readonly [reason: RegExp, begin: () => Promise<unknown>, end: () => Promise<unknown>])[];
  close(): Promise<void>;
}

async function failingPostgres(): Promise<Failing> {
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
      [/ECONNREFUSED|ECONNRESET|terminated|out of reach/i, () => own.kill(), () => own.start()],
      [
        /read-only/,
        () => run("ALTER DATABASE postgres SET default_transaction_read_only = on").then(disconnect),
        () => run("SET transaction_read_only = off; ALTER DATABASE postgres RESET default_transaction_read_only").then(disconnect),
      ],
      [/disk is full/, () => run([raises, ...full].join(";")), () => run("DROP FUNCTION full CASCADE")],
      [/gone/, async () => proxy.switchTo(portOf(other)), async () => proxy.switchTo(portOf(own))],
      [/another installation/, another, async () => proxy.switchTo(portOf(own))],
    ],
    close: () => closed(proxy, own, other),
  };
}

async function failingRedis(): Promise<Failing> {
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
      [/out of reach/, () => own.kill(), () => own.start()],
      [/READONLY/, () => admin.replicaof("127.0.0.1", 1), () => admin.replicaof("NO", "ONE")],
      [/OOM/, config("maxmemory", "1"), config("maxmemory", "0")],
      [/NOREPLICAS/, config("min-replicas-to-write", "1"), config("min-replicas-to-write", "0")],
      [/is empty or another/, async () => proxy.switchTo(other.port), async () => proxy.switchTo(own.port)],
      [/is empty or another/, another, async () => proxy.switchTo(own.port)],
      // In its place: nothing was connected anew.
      [/is empty or another/, () => admin.call("SWAPDB", 0, 1), () => admin.call("SWAPDB", 0, 1)],
    ],
    close: async () => {
      admin.disconnect();
      await closed(proxy, own, other);
    },
  };
}

/** Its emulator keeps nothing, and refuses nothing: a proxy in front of it does as the service, and goes to another one. */
async function failingFirestore(): Promise<Failing> {
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
      [/Firestore is out of reach \(no answer in time/, async () => own.hang(), async () => own.goOn()],
      [/Firestore is out of reach/, async () => proxy.switchTo(nowhere), back],
      [/does not let this account do it/, refusing(7, "Missing or insufficient permissions."), commits],
      // Its client asks again for as long as it may.
      [/no answer in time.*quota is used up/, refusing(8, "Quota exceeded."), commits],
      [
        /no answer in time.*credentials are refused/,
        async () => proxy.refuse("", { code: 16, message: "Request had invalid credentials." }),
        everything,
      ],
      [/is empty or another/, another, back],
      [/is empty or another/, empty, back],
    ],
    close: async () => {
      await proxy.close();
      await own.close();
      await other.close();
    },
  };
}

async function failingCosmos(): Promise<Failing> {
  const [own, other] = [await openCosmosServer(), await openCosmosServer()];
  const [port, otherPort] = [own, other].map(({ endpoint }) => Number(new URL(endpoint).port)) as [number, number];
  const proxy = await startSwitchingProxy(port);
  const nowhere = await freePort();
  const refusing = (status: number, message: string) => async () => own.refuse({ status, message });
  const back = async () => proxy.switchTo(port);
  const another = async () => {
    await other.open("maitred");
    proxy.switchTo(otherPort);
  };
  return {
    variables: { COSMOS_ENDPOINT: `http://127.0.0.1:${proxy.port}`, COSMOS_KEY },
    faults: [
      [/out of reach/, async () => proxy.switchTo(nowhere), back],
      [/out of reach/, () => own.kill(), () => own.start()],
      [/out of reach \(no answer in time\)/, async () => own.hang(), async () => own.goOn()],
      [/is empty or another/, async () => proxy.switchTo(otherPort), back],
      [/is empty or another/, another, back],
      [/or the partition is full/, refusing(403, "The given request cannot be authorized."), async () => own.refuse(null)],
      [/refuses the key/, refusing(401, "The input authorization token can't serve the request."), async () => own.refuse(null)],
      [/throughput is used up/, refusing(429, "Request rate is large."), async () => own.refuse(null)],
    ],
    close: async () => {
      await proxy.close();
      await own.close();
      await other.close();
    },
  };
}

const ENGINES = [
  { name: "PostgreSQL", program: "postgres", open: failingPostgres },
  { name: "Redis", program: "redis", open: failingRedis },
  { name: "Firestore", program: "firestore", open: failingFirestore },
  { name: "Cosmos DB", program: "cosmos", open: failingCosmos },
] as const;

for (const { name, program, open } of ENGINES)
  needing(program)(`the product on ${name} that fails`, () => {
    let engine: Failing;
    let world: World;
    let dir: string;
    beforeAll(async () => {
      dir = await mkdtemp(join(tmpdir(), "maitred-ready-"));
      engine = await open();
      world = await openWorld(dir, { ...SHARED, ...engine.variables }, { model: new TaskModel(), vectors: new VectorDouble().store() });
    }, 60_000);
    afterAll(async () => {
      await world.application.close({ drainMs: 0 });
      await engine.close();
      await rm(dir, { recursive: true });
    }, 60_000);

    test("[ready-means-ready] while it refuses writes, is out of reach, or is not the one it was, readyz says 503 and why, and a turn is 503; when it is well again both are 200", async () => {
      const ada = world.as("ada");
      const { session_id } = await ada.say("Hello.");
      const ready = () => ada.get<Ready>("/readyz");
      expect((await ready()).status).toBe(200);
      for (const [n, [reason, begin, end]] of engine.faults.entries()) {
        const turns = [{ message: "Are you there?", session_id }, { message: "Is anybody there?" }].map(
          (body, place) => () => ada.post<{ code?: string }>("/v1/chat", body, { "Idempotency-Key": `${n} ${place}` }),
        );
        await begin();
        try {
          const down = { status: 503, body: { parts: { short_term: { status: "down", detail: expect.stringMatching(reason) } } } };
          await expect.poll(async () => answerOf(await ready()), { timeout: 10_000, message: `${reason}` }).toMatchObject(down);
          for (const turn of turns) {
            const refused = await turn();
            expect([refused.status, refused.body.code], `${reason}: ${refused.text}`).toEqual([503, "STORAGE_UNAVAILABLE"]);
          }
        } finally {
          await end();
        }
        await expect
          .poll(async () => (await ready()).text, { timeout: 20_000, message: `${reason}` })
          .toContain('"short_term":{"status":"ok"}');
        const well = await ready();
        expect(well.status, `${n} ${reason}: ${well.text}`).toBe(200);
        for (const turn of turns) {
          const answered = await turn();
          expect(answered.status, `${n} ${reason}: ${answered.text}`).toBe(200);
        }
      }
      const said = (await ada.get<{ data: { role: string; content: string }[] }>(`/v1/sessions/${session_id}/messages`)).body.data;
      expect(said.filter(({ role }) => role === "user").map(({ content }) => content)).toEqual([
        "Hello.",
        ...engine.faults.map(() => "Are you there?"),
      ]);
    }, 300_000);
  });

function answerOf({ status, body }: Answer<Ready>): { readonly status: number; readonly body: Ready } {
  return { status, body };
}

async function closed(proxy: SwitchingProxy, ...servers: readonly (PostgresServer | RedisServer)[]): Promise<void> {
  await proxy.close();
  for (const server of servers) await server.close();
}

function portOf({ url }: PostgresServer): number {
  return Number(new URL(url).port);
}
