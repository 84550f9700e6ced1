import { readFileSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ownerOf } from "../../../src/domain/owner.js";
import type { Clock } from "../../../src/platform/clock.js";
import type { Agent, AgentRun } from "../../../src/ports/agent.js";
import { ownerPartition } from "../../../src/state/partition.js";
import { type CosmosServer, openCosmosServer } from "../../support/cosmos-server.js";
import { MASTER_KEY } from "../../support/encryption.js";
import { needing } from "../../support/needing.js";
import { answering, makeOrchestrator } from "../../support/orchestrator.js";
import { startReplica } from "../turns/replicas.js";

/** Request units of a turn, before its answer. */
const MOST = 40;
/** The same where values are encrypted, which do not pack. */
const MOST_ENCRYPTED = 52;
const KB = 1_024;
const DOCS = join(import.meta.dirname, "..", "..", "..", "docs");
const PROSE = ["scaling", "operations", "own-agent", "testing"].map((page) => readFileSync(join(DOCS, `${page}.md`), "utf8")).join(" ");

/** 1 KB of what people write, another one for each number: what is repeated would be packed to nothing. */
function prose(number: number): string {
  const words = PROSE.replaceAll(/[^\x20-\x7e]+/g, " ");
  const from = (number * 7_919) % (words.length - KB);
  return words.slice(from, from + KB);
}

/** Answers each message with 1 KB. */
function proseAgent(): Agent {
  let answers = 0;
  return {
    modelName: "scripted",
    standIn: false,
    async run(_input, { onEvent }: AgentRun) {
      answers += 1;
      const content = prose(1_000 + answers);
      await onEvent?.({ type: "token", delta: content });
      const usage = { input_tokens: 1, output_tokens: 1 };
      return { content, steps: [], elements: [], sources: [], usage, model: "scripted", modelMs: 0 };
    },
  };
}

/** Each time it is asked to, a minute and a second later: a user's visit is written once a minute. */
function minuteClock(): Clock & { pass(): void } {
  let laterMs = 0;
  return {
    now: () => new Date(Date.now() + laterMs),
    pass: () => {
      laterMs += 61_000;
    },
  };
}

/** `turns`: of each session. */
const PRODUCTS = [
  { what: "the whole product", database: "product", turns: [1, 3, 16], variables: async () => ({}), most: MOST },
  { what: "the whole product, encrypted", database: "encrypted", turns: [1, 3, 16], variables: keyFile, most: MOST_ENCRYPTED },
] as const;

async function keyFile(): Promise<{ readonly ENCRYPTION_KEY_FILE: string }> {
  const path = join(await mkdtemp(join(tmpdir(), "maitred-units-")), "master.key");
  await writeFile(path, `${MASTER_KEY}\n`);
  return { ENCRYPTION_KEY_FILE: path };
}

needing("cosmos")("Cosmos DB, the request units of a turn at 1 KB a message", () => {
  const ada = ownerOf("default", "ada");
  let server: CosmosServer;
  beforeAll(async () => {
    server = await openCosmosServer();
  });
  afterAll(() => server.close());
  /** Of the owner's partition; what the installation's loops ask is of others. */
  const ownRequests = () => server.requests.filter(({ partition }) => partition === ownerPartition(ada));
  /** Until nothing more is asked of it. */
  const quiet = async () => {
    let looked = -1;
    const isQuiet = () => {
      const before = looked;
      looked = ownRequests().length;
      return looked === before;
    };
    await expect.poll(isQuiet, { timeout: 20_000, interval: 1_000 }).toBe(true);
    server.requests.length = 0;
  };
  /** What was asked up to the answer's commit. */
  const beforeTheAnswer = () => {
    const own = ownRequests();
    const answer = own.map(({ kind }) => kind).indexOf("batch", own.findIndex(({ kind }) => kind === "batch") + 1);
    const before = own.slice(0, answer + 1);
    return { kinds: before.map(({ kind }) => kind), units: before.reduce((sum, { units }) => sum + units, 0) };
  };

  test("sessions alone: a look and two batches, at most forty", async () => {
    const engine = await server.open("sessions");
    const { chat } = await makeOrchestrator(answering(...[1, 2, 3, 4, 5, 6, 7].map((n) => prose(1_000 + n))), { engine });
    let sessionId: string | undefined;
    for (let turn = 1; turn <= 7; turn++) {
      await quiet();
      const answer = await chat.chat({ owner: ada, message: prose(turn), ...(sessionId !== undefined && { sessionId }) });
      sessionId = answer.session_id;
      const { kinds, units } = beforeTheAnswer();
      expect(kinds).toEqual(["read", "batch", "batch"]);
      expect(units).toBeLessThanOrEqual(MOST);
    }
  });

  test.each(PRODUCTS)(
    "$what: at most $most in a known user's new session, in a usual turn, each with its visit, and behind a summary",
    async (product) => {
      const { database, turns, variables, most } = product;
      const clock = minuteClock();
      const replica = await startReplica(await server.open(database), {
        agent: proseAgent(),
        clock,
        variables: { SUMMARY_MAX_TOKENS: "1000", ...(await variables()) },
      });
      const say = async (number: number, session?: string) => {
        const body = { message: prose(number), ...(session !== undefined && { session_id: session }) };
        const { status, body: answer } = await replica.ask<{ session_id: string }>("POST", "/v1/chat", { body });
        expect(status).toBe(200);
        return answer.session_id;
      };
      // Ada's first turn is not the process's, which loads what it needs.
      expect((await replica.ask("POST", "/v1/chat", { user: "eve", body: { message: "Hello." } })).status).toBe(200);
      const measured: { readonly turn: string; readonly units: number }[] = [];
      for (const [session, ofSession] of turns.entries()) {
        let id: string | undefined;
        for (let turn = 1; turn <= ofSession; turn++) {
          await quiet();
          clock.pass();
          id = await say(300 * session + measured.length, id);
          measured.push({ turn: `${session + 1}.${turn}`, units: Math.round(10 * beforeTheAnswer().units) / 10 });
        }
      }
      // Beside the very first one more may be written on a busy machine: it is measured, and not held to it.
      expect(measured.slice(1).filter(({ units }) => units > most || units === 0)).toEqual([]);
      await replica.stop();
    },
    240_000,
  );
});
