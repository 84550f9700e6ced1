import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { messagesToRead } from "../faults/rig.js";
import { type InstalledPackage, PACKED_WITHIN_MS } from "../packaging/install.js";
import { needing } from "../support/needing.js";
import type { Cluster } from "./cluster.js";
import { ENGINES, type EngineServer } from "./engines.js";
import { Conversation } from "./guest.js";
import { installedForReplicas } from "./installed.js";
import { withStubbedCluster } from "./stubbed-cluster.js";

const USERS = 20;
const SESSIONS_OF_EACH = 2;
/** On each engine; `REPLICA_TURNS=1000` for more. */
const ALL_TURNS = Number(process.env.REPLICA_TURNS ?? 400);
/** Of each session. */
const TURNS = Math.ceil(ALL_TURNS / (USERS * SESSIONS_OF_EACH));
/** Conversations that go on at the same time. */
const AT_ONCE = 12;
/** Of replicas, on each engine; of the engine one for each ten. `KILLS=1000` for more: with as many turns, or more. */
const KILLS = Number(process.env.KILLS ?? 1);
const ENGINE_KILLS = Math.ceil(KILLS / 10);
/** Calls that one replica may be in when it is killed, and all of them when the engine is. */
const IN_FLIGHT = KILLS * 4 + ENGINE_KILLS * 3 * 4;
/** A lease, a start of the engine, and a turn: nobody is held up for longer. */
const LONGEST_MS = 40_000;
const DOWN_MS = 500;

let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installedForReplicas();
}, PACKED_WITHIN_MS);
afterAll(() => installed.remove());

for (const { program, name, open, isSlow } of ENGINES) {
  const [replicas, turnsOfEach] = isSlow ? [2, Math.ceil(TURNS / 4)] : [3, TURNS];
  needing(program)(`${replicas} replicas on ${name}`, () => {
    const turns = turnsOfEach * USERS * SESSIONS_OF_EACH;
    test(
      `[turn-durable] ${turns} turns, ${KILLS} kills of replicas and ${ENGINE_KILLS} of the engine: none is lost or twice, and the erased leave nothing`,
      () => story(open, replicas, turnsOfEach),
      600_000 + KILLS * 15_000,
    );
  });
}

async function story(open: () => Promise<EngineServer>, replicas: number, turnsOfEach: number): Promise<void> {
  // What waits to be read along with a next message does so for less than the story waits for it.
  const variables = {
    RATE_LIMIT_PER_MINUTE: "0",
    EXTRACTION_IDLE_MS: "20000",
    ...(process.env.QDRANT_URL && { QDRANT_URL: process.env.QDRANT_URL }),
  };
  await withStubbedCluster(installed, open, variables, async ({ cluster, openai, engine }) => {
    await Promise.all(Array.from({ length: replicas }, () => cluster.start()));
    const users = Array.from({ length: USERS }, (_, index) => `guest${String.fromCharCode(97 + index)}`);
    const erased = new Set<string>();
    const conversations = users.flatMap((user) =>
      Array.from({ length: SESSIONS_OF_EACH }, (_, index) => new Conversation(cluster, user, `${user}s${index}`)),
    );
    let turns = 0;
    const killReplica = () => cluster.kill().then(() => cluster.start());
    const killEngine = () =>
      engine
        .kill()
        .then(() => pause(DOWN_MS))
        .then(() => engine.start());
    const happenings = [
      { at: 0.3, what: () => erase(cluster, users[3] ?? "", erased) },
      { at: 0.7, what: () => erase(cluster, users[11] ?? "", erased) },
      ...spread(KILLS, 0.4).map((at) => ({ at, what: killReplica })),
      ...spread(ENGINE_KILLS, 0.6).map((at) => ({ at, what: killEngine })),
    ].sort((one, other) => one.at - other.at);
    // One after the other: no server starts while the engine is away.
    let happening: Promise<unknown> = Promise.resolve();
    let waiting = 0;
    const run = async (conversation: Conversation) => {
      for (let turn = 0; turn < turnsOfEach; turn++) {
        if (!(await conversation.turn(() => erased.has(conversation.user)))) return;
        turns += 1;
        if (turn % 7 === 6 && !erased.has(conversation.user)) await conversation.forget();
        const next = happenings[0];
        if (next !== undefined && turns >= next.at * conversations.length * turnsOfEach) {
          happenings.shift();
          waiting += 1;
          happening = happening.then(next.what).finally(() => {
            waiting -= 1;
          });
          // Each kill meets turns.
          if (waiting > 1) await happening;
        }
      }
    };
    const toRun = shuffled(conversations);
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let next = toRun.pop(); next !== undefined; next = toRun.pop()) await run(next);
      }),
    );
    for (const { what } of happenings.splice(0)) happening = happening.then(what);
    await happening;
    expect(Math.max(...conversations.map(({ longestMs }) => longestMs))).toBeLessThan(LONGEST_MS);
    await writtenBack(cluster);
    // What was left to be read along is read with the guest's next message.
    for (const user of users) {
      const last = new Conversation(cluster, user, `${user}last`);
      if (!erased.has(user)) await last.turn(() => false);
    }
    await writtenBack(cluster);

    for (const conversation of conversations.filter(({ user }) => !erased.has(user))) await compareThread(cluster, conversation);
    for (const user of users) {
      const known = await memoriesOf(cluster, user);
      const own = conversations.filter((conversation) => conversation.user === user);
      const wanted = erased.has(user) ? [] : own.flatMap(({ preferences }) => [...preferences]);
      expect(known.toSorted(), user).toEqual(wanted.toSorted());
    }
    for (const user of erased) {
      expect(await cluster.read("/v1/sessions", user)).toMatchObject({ data: [] });
      expect(await erasedNow(cluster, user)).toMatchObject({
        verified: true,
        erased: { sessions: 0, messages: 0, memories: 0, history_entries: 0 },
      });
    }
    const calls = openai.requests.map(({ body }) => messagesRead(body));
    expect(new Set(calls.flat()).size).toBeGreaterThan(turns * 0.9);
    expect(inVain(calls)).toBeLessThanOrEqual(IN_FLIGHT);
  });
}

async function erase(cluster: Cluster, user: string, erased: Set<string>): Promise<void> {
  erased.add(user);
  expect(await erasedNow(cluster, user)).toMatchObject({ verified: true });
}

/** The receipt, of whichever replica gives one: an erasure waits for the leases of one that was killed, and one that is killed gives none. */
async function erasedNow(cluster: Cluster, user: string): Promise<unknown> {
  for (;;) {
    const answered = await cluster.ask("DELETE", "/v1/me?confirm=true", user);
    if (answered?.status === 200) return answered.body;
    await pause(200);
  }
}

/** Until nothing is pending in any process. */
async function writtenBack(cluster: Cluster): Promise<void> {
  await expect
    .poll(async () => JSON.stringify((await cluster.ask("GET", "/readyz", "operator"))?.body ?? null), { timeout: 180_000, interval: 500 })
    .toContain('"detail":"0 turns are pending"');
}

async function compareThread(cluster: Cluster, { user, sessionId, said }: Conversation): Promise<void> {
  const thread: { role: string; content: string }[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page = await cluster.read(`/v1/sessions/${sessionId}/messages?limit=200${cursor === "" ? "" : `&cursor=${cursor}`}`, user);
    const { data, next_cursor } = page as {
      data: { role: string; content: string; metadata: { outcome?: string } }[];
      next_cursor: string | null;
    };
    // A turn that failed, and was answered when it was asked for again, also tells that it failed.
    thread.push(...data.filter(({ metadata }) => metadata.outcome === undefined));
    cursor = next_cursor;
  }
  expect(thread.map(({ role, content }) => `${role}: ${content}`)).toEqual(said.flatMap((each) => [`user: ${each}`, "assistant: Heard."]));
}

async function memoriesOf(cluster: Cluster, user: string): Promise<string[]> {
  const { data } = (await cluster.read("/v1/memories?limit=200", user)) as { data: { text: string }[] };
  return data.map(({ text }) => text);
}

/** What a call asked the model to read; nothing where it asked for something else. */
function messagesRead(body: unknown): readonly string[] {
  const { messages, response_format } = (body ?? {}) as { messages?: { content?: unknown }[]; response_format?: unknown };
  if (response_format === undefined) return [];
  return messagesToRead(String(messages?.at(-1)?.content)).map(({ said }) => said);
}

/** How many calls read what another read again: each was broken off with its reader, or its engine. */
function inVain(calls: readonly (readonly string[])[]): number {
  const last = new Map(calls.flatMap((messages, call) => messages.map((message) => [message, call] as const)));
  return calls.filter((messages, call) => messages.some((message) => last.get(message) !== call)).length;
}

/** Places between 0 and 1: one alone is at `alone`. */
function spread(count: number, alone: number): number[] {
  return count === 1 ? [alone] : Array.from({ length: count }, (_, place) => (place + 0.5) / count);
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
