import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { silentLogger } from "../../src/platform/logger.js";
import type { Commit, ReadQuery, StateEngine } from "../../src/state/engine.js";
import { FirestoreEngine } from "../../src/state/engines/firestore/firestore-engine.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { PostgresEngine } from "../../src/state/engines/postgres/postgres-engine.js";
import { OUTBOX } from "../../src/state/events/event-keys.js";
import { watchedFirestore } from "../state/engines/watched-firestore.js";
import { connected, startReplica } from "../state/turns/replicas.js";
import { type FirestoreEmulator, openFirestoreEmulator } from "../support/firestore-emulator.js";
import { needing } from "../support/needing.js";
import { openPostgresServer, type PostgresServer } from "../support/postgres-server.js";
import { readsNuts, TaskModel } from "../support/task-model.js";

/** Where vectors are: not in the engine, as with Qdrant; and in it. */
const VECTORS = ["local", "state"] as const;
/** Turns that are counted, behind the first one of the user in the process, which also reads who that is and all that is known of them. */
const COUNTED = 2;
/** Looks at vectors, where they lie in the engine: of memories and of history two for whether there is more. What this process wrote it knows. */
const OF_VECTORS = "read of vectors";
const MOST_OF_VECTORS = 2 * 2;

/**
 * What may come beside a turn and is not waited for: loops of the installation, leases of the process, counted requests, who somebody is
 * that was seen, and events of before that were told.
 */
function isBeside(call: string, partition: unknown, given: unknown): boolean {
  if (call === "due" || /^s:(events|feed|jobs|limits|locks|plots)/.test(String(partition))) return true;
  if (call === "commit") return (given as Commit).durability === "relaxed";
  const { keys = [] } = (given ?? {}) as ReadQuery;
  if (call === "read" && keys[0] === OUTBOX) return true;
  return call === "read" && keys.length === 1 && /^ledger\/(progress\/|user$)/.test(keys[0] ?? "");
}

function isOfVectors(given: unknown): boolean {
  return (given as ReadQuery | undefined)?.keys?.[0]?.startsWith("vector/") === true;
}

/**
 * The whole product as production has it, on an engine that others share: requests are limited, memories are kept. `turn`: what is asked of
 * the engine from the request to the answer of a turn; what is beside it is given no answer until then, so that nothing can wait for it.
 */
async function product(engine: StateEngine, vectors: (typeof VECTORS)[number], onTurn: () => void = () => {}) {
  const asked: string[] = [];
  let held: (() => void)[] | null = null;
  const state = connected(engine, async (run, call, partition, given) => {
    const holding = held;
    if (holding !== null && isBeside(call, partition, given)) await new Promise<void>((resolve) => holding.push(resolve));
    else asked.push(isOfVectors(given) ? OF_VECTORS : call);
    return run();
  });
  const replica = await startReplica(state, {
    model: Object.assign(new TaskModel(), { read: readsNuts }),
    vectors: null,
    variables: { AUTH_MODE: "header", AUTH_HEADER: "X-User-Id", RATE_LIMIT_PER_MINUTE: "", MEM0_PROVIDER: vectors },
  });
  onTestFinished(() => replica.stop());
  let session: string | undefined;
  const say = async (message: string) => {
    const body = { message, ...(session !== undefined && { session_id: session }) };
    const answer = await replica.ask<{ session_id: string; memory: { status: string } }>("POST", "/v1/chat", { key: message, body });
    expect([answer.status, answer.headers.get("RateLimit-Limit")]).toEqual([200, "120"]);
    session = answer.body.session_id;
    return answer.body.memory.status;
  };
  const settled = async () => expect(await replica.application.parts.worker.drain(20_000, { left: "stays" })).toBe(true);
  await say("Nut allergies run in the family.");
  await settled();
  const turn = async (number: number) => {
    const holding: (() => void)[] = [];
    held = holding;
    asked.length = 0;
    onTurn();
    const status = await say(`What is on at the opera on day ${number}?`);
    const until = [...asked];
    held = null;
    const over = () => {
      for (const goOn of holding) goOn();
      return settled();
    };
    return { status, until, over };
  };
  return { turn };
}

/** As each of the turns has it. */
async function eachTurn<T>({ turn }: Awaited<ReturnType<typeof product>>, look: (until: readonly string[]) => T): Promise<T[]> {
  const seen: T[] = [];
  for (let number = 1; number <= COUNTED; number++) {
    const { status, until, over } = await turn(number);
    expect(status).toBe("ok");
    seen.push(look(until));
    await over();
  }
  return seen;
}

test("a turn of the whole product is one look and two durable commits; its requests are counted beside it", async () => {
  const made = await product(new MemoryEngine(), "state");
  for (const until of await eachTurn(made, (asked) => asked)) {
    expect(until.filter((call) => call !== OF_VECTORS)).toEqual(["read", "commit", "commit"]);
    expect(until.length - 3).toBeLessThanOrEqual(MOST_OF_VECTORS);
  }
});

needing("postgres")("PostgreSQL, the round trips of a turn", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await openPostgresServer();
  });
  afterAll(() => server.close());

  test.each([
    ["vectors elsewhere", "local", 3],
    ["vectors in it", "state", 3 + MOST_OF_VECTORS],
  ] as const)("with %s: so many statements reach the server before the answer", async (_, vectors, most) => {
    const engine = await PostgresEngine.open({ url: server.url, schema: `trips_${vectors}`, connections: 4, logger: silentLogger });
    onTestFinished(() => engine.close());
    const query = vi.spyOn(pg.Client.prototype, "query");
    onTestFinished(() => query.mockRestore());
    const made = await product(engine, vectors, () => query.mockClear());
    expect(await eachTurn(made, () => query.mock.calls.length)).toEqual(Array(COUNTED).fill(most));
  });
});

needing("firestore")("Firestore, the calls of a turn", () => {
  let emulator: FirestoreEmulator;
  beforeAll(async () => {
    emulator = await openFirestoreEmulator();
  }, 60_000);
  afterAll(() => emulator.close());

  test.each([
    { vectors: "local", most: 4 },
    // Each look is a read of keys and one of a range.
    { vectors: "state", most: 4 + 2 * MOST_OF_VECTORS },
  ] as const)(
    "with vectors in $vectors at most $most reads and 2 commits reach the emulator before the answer",
    async ({ vectors, most }) => {
      const { connect, calls } = watchedFirestore();
      const address = { project: `trips-${vectors}`, database: "(default)", emulator: emulator.host, startupWaitMs: 0 };
      const engine = await FirestoreEngine.open({ ...address, logger: silentLogger, connect });
      onTestFinished(() => engine.close());
      const made = await product(engine, vectors, () => calls.splice(0));
      for (const asked of await eachTurn(made, () => [...calls])) {
        expect(asked.filter((call) => call === "commit")).toHaveLength(2);
        expect(asked.length - 2).toBeLessThanOrEqual(most);
      }
    },
    120_000,
  );
});
