import { afterAll, beforeAll } from "vitest";
import type { StateEngine } from "../../../src/state/engine.js";
import type { CosmosEngine } from "../../../src/state/engines/cosmos/cosmos-engine.js";
import { stateEngineContract } from "../../../src/testing/state-engine-contract.js";
import { type CosmosServer, openCosmosServer } from "../../support/cosmos-server.js";
import { needing } from "../../support/needing.js";

needing("cosmos")("Cosmos DB", () => {
  let server: CosmosServer;
  let databases = 0;
  beforeAll(async () => {
    server = await openCosmosServer();
  });
  afterAll(() => server.close());

  /** Each test has a database of its own. */
  const make = async () => {
    databases += 1;
    const database = `test-${databases}`;
    const opened: CosmosEngine[] = [];
    const open = async () => {
      const engine = await server.open(database);
      opened.push(engine);
      return engine;
    };
    const dispose = async () => {
      await Promise.all(opened.map((engine) => engine.close()));
    };
    return { engine: await open(), open, dispose };
  };

  const supports = { unicodeKeys: "the stand-in compares texts by their UTF-16 units, the service by their bytes" };
  stateEngineContract("Cosmos DB", make, { supports });

  /** Every other key's value is longer than the head takes. */
  const makeLong = async () => {
    const { engine, open, dispose } = await make();
    return { engine: withLongValues(engine), open: async () => withLongValues(await open()), dispose };
  };
  stateEngineContract("Cosmos DB, half of the entries beside the head", makeLong, { supports });
});

/** More than a head takes inline. */
const LONG = " ".repeat(17_000);

function withLongValues(engine: StateEngine): StateEngine {
  const isLong = (key: string, value: string) => (key.codePointAt(key.length - 1) ?? 0) % 2 === 1 && value.length < LONG.length;
  const short = (value: string) => (value.endsWith(LONG) ? value.slice(0, -LONG.length) : value);
  const withShort = <T extends { readonly value: string }>(entry: T): T => ({ ...entry, value: short(entry.value) });
  return {
    manifest: engine.manifest,
    async read(partition, query, options) {
      const read = await engine.read(partition, query, options);
      const entries = new Map([...read.entries].map(([key, entry]) => [key, withShort(entry)]));
      return { ...read, entries, ranges: read.ranges.map((range) => range.map(withShort)) };
    },
    async commit(partition, commit) {
      const puts = (commit.puts ?? []).map(({ key, value }) => ({ key, value: isLong(key, value) ? value + LONG : value }));
      return engine.commit(partition, { ...commit, puts });
    },
    async partitions(page) {
      return (await engine.partitions(page)).map(withShort);
    },
    due: (nowMs, limit, leaseMs) => engine.due(nowMs, limit, leaseMs),
    erase: (partition) => engine.erase(partition),
    health: () => engine.health(),
    close: () => engine.close(),
  };
}
