import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { COSMOS_EMULATOR_KEY } from "../../src/compose/state-variables.js";
import { cosmosClient } from "../../src/state/engines/cosmos/cosmos-client.js";
import { firestoreClient } from "../../src/state/engines/firestore/firestore-client.js";
import { startGrpcProxy } from "../state/turns/grpc-proxy.js";
import { startSwitchingProxy } from "../state/turns/switching-proxy.js";
import { COSMOS_KEY, openCosmosServer } from "../support/cosmos-server.js";
import { openFirestoreEmulator } from "../support/firestore-emulator.js";
import { freePort } from "../support/free-port.js";
import { needing } from "../support/needing.js";
import { NO_TOKEN } from "./failing-engines.js";
import { openPage } from "./matrix.js";
import { type FailingStart, SHOULD, Starts } from "./started.js";

/** Longer than a call may take: a start that gives up has tried twice. */
const STARTUP_WAIT_MS = "12000";
interface Service {
  readonly variables: Readonly<Record<string, string>>;
  readonly faults: readonly FailingStart[];
  close(): Promise<void>;
}

async function firestore(): Promise<Service> {
  const server = await openFirestoreEmulator();
  const port = Number(server.host.split(":")[1]);
  const proxy = await startGrpcProxy(port);
  const nowhere = await freePort();
  const project = "maitred-starts";
  const client = await firestoreClient({ project, database: "(default)", emulator: server.host });
  const own = client.doc("maitred_installation/current");
  let layout: unknown;
  const written = (version: unknown) => own.update({ layout: version }, { exists: true });
  const refused = (code: number, message: string, method = "") => ({
    begin: () => proxy.refuse(method, { code, message }),
    end: () => proxy.refuse(method, null),
  });
  return {
    variables: { FIRESTORE_PROJECT: project, FIRESTORE_EMULATOR_HOST: `127.0.0.1:${proxy.port}`, STARTUP_WAIT_MS },
    faults: [
      {
        fault: "nothing listens",
        isWaitedFor: true,
        says: "Firestore is out of reach",
        advises: "FIRESTORE_EMULATOR_HOST: that the emulator runs",
        begin: () => proxy.switchTo(nowhere),
        end: () => proxy.switchTo(port),
      },
      {
        fault: "silent",
        isWaitedFor: true,
        says: "no answer in time",
        advises: "Check FIRESTORE_PROJECT, and that Firestore can be reached",
        begin: () => server.hang(),
        end: () => server.goOn(),
      },
      {
        fault: "the credentials are refused",
        says: "Firestore refuses the credentials",
        advises: "Check the file that GOOGLE_APPLICATION_CREDENTIALS names",
        ...refused(16, "Request had invalid credentials."),
      },
      {
        fault: "an account without rights",
        says: "Firestore does not let this account do it",
        advises: "roles/datastore.user",
        ...refused(7, "Missing or insufficient permissions."),
      },
      {
        fault: "no index",
        says: "Firestore lacks an index",
        advises: "deploy/firestore.indexes.json",
        ...refused(9, "The query requires an index.", "/RunQuery"),
      },
      {
        fault: "what an older version wrote",
        says: "of version 1, which this Maitred can't read",
        advises: "Export with the version that wrote it, name another database with FIRESTORE_DATABASE, and import there",
        begin: async () => {
          layout = (await own.get()).get("layout");
          await written(1);
        },
        end: () => written(layout),
      },
      {
        fault: "the emulator's address in production",
        says: "FIRESTORE_EMULATOR_HOST",
        advises: "an emulator keeps nothing: take it away where NODE_ENV is `production`",
        variables: { NODE_ENV: "production" },
      },
    ],
    close: async () => {
      await client.terminate();
      await proxy.close();
      await server.close();
    },
  };
}

async function cosmos(): Promise<Service> {
  const server = await openCosmosServer();
  const weak = await openCosmosServer({ consistency: "Session" });
  const port = Number(new URL(server.endpoint).port);
  const proxy = await startSwitchingProxy(port);
  const nowhere = await freePort();
  const client = await cosmosClient({ endpoint: server.endpoint, key: COSMOS_KEY }, 2_000);
  const containers = async (id: string) => (await client.databases.createIfNotExists({ id })).database.containers;
  const written = async (layout: number) => {
    const { container } = await (await containers("maitred")).createIfNotExists({ id: "maitred" });
    const { resource } = await container.item("installation", "installation").read();
    await container.items.batch([{ operationType: "Upsert", resourceBody: { ...resource, layout } }], "installation");
    return Number(resource?.layout);
  };
  let layout = 0;
  const refused = (status: number, message: string) => ({
    begin: () => server.refuse({ status, message, of: "everything" }),
    end: () => server.refuse(null),
  });
  return {
    variables: { COSMOS_ENDPOINT: `http://127.0.0.1:${proxy.port}`, COSMOS_KEY, STARTUP_WAIT_MS },
    faults: [
      {
        fault: "nothing listens",
        isWaitedFor: true,
        says: "Cosmos DB is out of reach",
        advises: "Check COSMOS_ENDPOINT, and that Cosmos DB can be reached from here",
        begin: () => proxy.switchTo(nowhere),
        end: () => proxy.switchTo(port),
      },
      {
        fault: "silent",
        isWaitedFor: true,
        says: "no answer in time",
        advises: "Check COSMOS_ENDPOINT, and that Cosmos DB can be reached from here",
        begin: () => server.hang(),
        end: () => server.goOn(),
      },
      { fault: "a wrong key (401)", says: "Cosmos DB refuses the key", advises: "Check COSMOS_KEY", ...refused(401, NO_TOKEN) },
      {
        fault: "a key without rights (403)",
        says: "Cosmos DB does not let this key or this address do it",
        advises: "Give COSMOS_KEY a read-write key",
        ...refused(403, "The given request cannot be authorized."),
      },
      {
        fault: "throttled for long (429)",
        isWaitedFor: true,
        says: "Cosmos DB's throughput is used up",
        advises: "Raise the container's request units",
        ...refused(429, "Request rate is large."),
      },
      {
        fault: "a consistency by which one process does not see what another wrote",
        says: "has the consistency Session",
        advises: "Set the account's default consistency to Strong",
        variables: { COSMOS_ENDPOINT: weak.endpoint },
      },
      {
        fault: "a container without the indexes",
        says: "no index holds",
        advises: "Give it the partition key /partition and an index of",
        variables: { COSMOS_DATABASE: "unindexed" },
        begin: async () => {
          const indexingPolicy = { includedPaths: [{ path: "/partition/?" }] };
          const partitionKey = { paths: ["/partition"] };
          await (await containers("unindexed")).createIfNotExists({ id: "maitred", partitionKey, indexingPolicy });
        },
      },
      {
        fault: "what an older version wrote",
        says: "of version 1, which this Maitred can't read",
        advises: "Export with the version that wrote it, name another database with COSMOS_DATABASE, and import there",
        begin: async () => {
          layout = await written(1);
        },
        end: () => written(layout),
      },
      {
        fault: "the emulator's key in production",
        says: "COSMOS_KEY",
        advises: "name an account where NODE_ENV is `production`",
        variables: { NODE_ENV: "production", COSMOS_KEY: COSMOS_EMULATOR_KEY },
      },
    ],
    close: async () => {
      client.dispose();
      await proxy.close();
      await server.close();
      await weak.close();
    },
  };
}

const { compare, comparePage } = openPage();

const SERVICES = [
  { part: "Start on Firestore", program: "firestore", open: firestore },
  { part: "Start on Cosmos DB", program: "cosmos", open: cosmos },
] as const;

for (const { part, program, open } of SERVICES)
  needing(program)(part.replace("Start", "a start"), () => {
    test("that can't be used ends with what it is and what to do; when that is done the same start finds what was said", async () => {
      const dir = await mkdtemp(join(tmpdir(), "maitred-starts-"));
      const service = await open();
      try {
        const starts = new Starts(dir, service.variables);
        await starts.first();
        const seen = [];
        for (const fault of service.faults) seen.push({ fault, outcome: await starts.under(fault) });
        for (const { fault, outcome } of seen) compare(part, fault.fault, SHOULD(fault), outcome);
        expect(seen.length).toBeGreaterThan(0);
      } finally {
        await service.close();
        await rm(dir, { recursive: true });
      }
    }, 400_000);
  });

test("the page about faults says what was seen", comparePage);
