import { afterAll, beforeAll } from "vitest";
import { silentLogger } from "../../../src/platform/logger.js";
import { CosmosEngine } from "../../../src/state/engines/cosmos/cosmos-engine.js";
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
      const engine = await CosmosEngine.open({ endpoint: server.endpoint, key: "a2V5", database, startupWaitMs: 0, logger: silentLogger });
      opened.push(engine);
      return engine;
    };
    const dispose = async () => {
      await Promise.all(opened.map((engine) => engine.close()));
    };
    return { engine: await open(), open, dispose };
  };

  // The stand-in compares texts by their UTF-16 units, the service by their bytes.
  stateEngineContract("Cosmos DB", make, { supports: { unicodeKeys: false } });
});
