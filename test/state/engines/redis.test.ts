import { Redis } from "ioredis";
import { afterAll, beforeAll } from "vitest";
import { silentLogger } from "../../../src/platform/logger.js";
import { RedisEngine } from "../../../src/state/engines/redis/redis-engine.js";
import { type StateEngineUnderTest, stateEngineContract } from "../../../src/testing/state-engine-contract.js";
import { freePort } from "../../support/free-port.js";
import { needing } from "../../support/needing.js";
import { openRedisServer, type RedisServer } from "../../support/redis-server.js";

const SLOTS = 16_384;
const NODES = 3;

let worlds = 0;

/** An installation of its own, opened by as many processes as the test likes. */
async function worldOn({ url }: RedisServer): Promise<StateEngineUnderTest> {
  worlds += 1;
  const prefix = `world-${worlds}`;
  const opened: RedisEngine[] = [];
  const open = async () => {
    const engine = await RedisEngine.open({ url, prefix, durability: "strict", logger: silentLogger });
    opened.push(engine);
    return engine;
  };
  return { engine: await open(), open, dispose: async () => void (await Promise.all(opened.map((each) => each.close()))) };
}

needing("redis")("on one Redis", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await openRedisServer();
  });
  afterAll(() => server.close());
  stateEngineContract("Redis", () => worldOn(server));
});

needing("redis")(`on a Cluster of ${NODES}`, () => {
  let nodes: readonly RedisServer[] = [];
  beforeAll(async () => {
    const start = async () => {
      const settings = { "cluster-enabled": "yes", "cluster-port": String(await freePort()), "cluster-announce-ip": "127.0.0.1" };
      return { node: await openRedisServer({ settings }), busPort: settings["cluster-port"] };
    };
    const started = [await start(), await start(), await start()];
    nodes = started.map(({ node }) => node);
    const clients = nodes.map(({ port }) => new Redis(port, "127.0.0.1", { enableReadyCheck: false }));
    for (const [at, client] of clients.entries()) {
      const from = Math.floor((at * SLOTS) / NODES);
      await client.call("CLUSTER", "ADDSLOTSRANGE", from, Math.floor(((at + 1) * SLOTS) / NODES) - 1);
      for (const { node, busPort } of started) await clients[0]?.call("CLUSTER", "MEET", "127.0.0.1", node.port, busPort);
    }
    const isReady = async (client: Redis) =>
      /cluster_state:ok[\s\S]*cluster_known_nodes:3/.test(String(await client.call("CLUSTER", "INFO")));
    for (const client of clients) while (!(await isReady(client))) await new Promise((resolve) => setTimeout(resolve, 100));
    for (const client of clients) client.disconnect();
  }, 60_000);
  afterAll(async () => void (await Promise.all(nodes.map((node) => node.close()))));

  stateEngineContract("Redis Cluster", () => {
    const [first] = nodes;
    if (first === undefined) throw new Error("There is no node.");
    return worldOn(first);
  });
});
