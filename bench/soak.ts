import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { compose } from "../src/compose/compose.js";
import { parseConfig } from "../src/compose/config.js";
import { createHttpApp } from "../src/http/app.js";
import { listen } from "../src/http/server.js";
import { systemClock } from "../src/platform/clock.js";
import { silentLogger } from "../src/platform/logger.js";
import type { ChatModel, ModelEvent } from "../src/ports/agent.js";
import { median } from "./quantile.js";

/**
 * Whether a server that runs for long stays the size it is: 20,000 turns over HTTP, plain and streamed, of ever new users in
 * ever new sessions, with everything that follows a turn. After each twentieth of them write-back is drained, garbage is
 * collected, and memory and open files are looked at.
 *
 * `npx tsx bench/soak.ts [--turns 20000] [--clients 8]`; ends with 1 when the last quarter's median of either is more than a
 * tenth above the second quarter's (and more than noise), or when a turn failed.
 */
const { values } = parseArgs({ options: { turns: { type: "string", default: "20000" }, clients: { type: "string", default: "8" } } });
const turns = Number(values.turns);
const clients = Number(values.clients);
/** Small, so that what is full in the end is full early: the cache of vectors takes some 6 KB a turn until its bound. */
const VECTORS = { VECTOR_CACHE_MIB: "16", MEMORY_EMBEDDING_DIMENSIONALITY: "64" };
const SAMPLES = 20;
const TURNS_A_SESSION = 20;
const SESSIONS_A_USER = 4;
const MAX_GROWTH = 1.1;
/** Growth that says nothing: bytes, and files. */
const NOISE = { rss: 24 * 2 ** 20, heap: 12 * 2 ** 20, files: 16 };

const SAID = [
  "I prefer jazz concerts, and I usually book 2 tickets.",
  "Any concerts on Saturday evening?",
  "I need step-free access.",
  "What did I say about concerts last time?",
  "I live in Leeds and I love the opera.",
  "Show me something under 60 pounds.",
] as const;

const model: ChatModel = {
  name: "at once",
  standIn: true,
  async *stream(): AsyncGenerator<ModelEvent, void, undefined> {
    for (const delta of ["Very ", "well, ", "I will look into it."]) yield { type: "text", delta };
    yield { type: "end", reason: "stop", usage: { input_tokens: 0, output_tokens: 0 } };
  },
};

interface Sample {
  readonly turns: number;
  readonly rss: number;
  readonly heap: number;
  readonly files: number;
  readonly perSecond: number;
}

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc") as (options?: object) => void;
/** So that V8 also gives back what it keeps for later, some 100 MB more or less: what is left is what is in use. */
const collectGarbage = () => {
  gc();
  gc({ type: "major", execution: "sync", flavor: "last-resort" });
};
const dir = await mkdtemp(join(tmpdir(), "maitred-bench-soak-"));
try {
  process.exitCode = await run();
} finally {
  await rm(dir, { recursive: true });
}

async function run(): Promise<number> {
  const config = parseConfig({ MEMORY_STORAGE_DIR: dir, EMBEDDING_PROVIDER: "hashing", RECALL_DEADLINE_MS: "5000", ...VECTORS });
  const maitred = await compose(config, { model });
  const app = await createHttpApp({ application: maitred, config, logger: silentLogger, clock: systemClock });
  const server = await listen(app, { host: "127.0.0.1", port: 0 });

  let begun = 0;
  const goal = { turns: 0 };
  /** One client: session after session, until the goal is reached; goes on there at the next. */
  const clientsAt = Array.from({ length: clients }, () => ({ session: undefined as string | undefined, left: 0, user: "" }));
  const talk = async (client: (typeof clientsAt)[number], number: number) => {
    while (begun < goal.turns) {
      const turn = begun++;
      if (client.left === 0) {
        client.session = undefined;
        client.left = TURNS_A_SESSION;
        client.user = `guest-${number}-${Math.floor(turn / (TURNS_A_SESSION * SESSIONS_A_USER * clients))}`;
      }
      client.left -= 1;
      client.session = await oneTurn(server.address.url, client, turn);
    }
  };

  say(`${turns.toLocaleString("en")} turns, ${clients} clients at once`);
  say("    turns      RSS     heap   files   turns/s");
  const samples: Sample[] = [];
  for (let n = 1; n <= SAMPLES; n++) {
    const from = performance.now();
    const before = begun;
    goal.turns = Math.floor((turns * n) / SAMPLES);
    await Promise.all(clientsAt.map(talk));
    const perSecond = ((begun - before) / (performance.now() - from)) * 1000;
    if (!(await maitred.parts.worker.drain(600_000))) throw new Error("write-back did not keep up");
    collectGarbage();
    const { rss, heapUsed } = process.memoryUsage();
    const sample = { turns: begun, rss, heap: heapUsed, files: await openFiles(), perSecond };
    samples.push(sample);
    say(
      `${String(sample.turns).padStart(9)}${megabytes(rss)}${megabytes(heapUsed)}${String(sample.files).padStart(8)}${perSecond.toFixed(0).padStart(10)}`,
    );
  }
  const { pending, failed } = await maitred.parts.store.turns.counts();
  await server.close();
  await maitred.close();

  const level = (["rss", "heap", "files"] as const).map((what) => {
    const early = median(samples.slice(SAMPLES / 4, SAMPLES / 2).map((sample) => sample[what]));
    const late = median(samples.slice((SAMPLES * 3) / 4).map((sample) => sample[what]));
    const flat = late <= early * MAX_GROWTH || late - early <= NOISE[what];
    say(`${what}: the last quarter's median is ${(late / early).toFixed(2)} times the second quarter's: ${flat ? "level" : "GROWING"}`);
    return flat;
  });
  say(`write-backs pending ${pending}, failed ${failed}`);
  return level.every(Boolean) && pending === 0 && failed === 0 ? 0 : 1;
}

/** Every third is streamed, and every fifth has an idempotency key. Returns the session. */
async function oneTurn(url: string, { session, user }: { session: string | undefined; user: string }, turn: number): Promise<string> {
  const stream = turn % 3 === 0;
  const response = await fetch(`${url}/v1/chat`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-User-Id": user, ...(turn % 5 === 0 && { "Idempotency-Key": `key-${turn}` }) },
    body: JSON.stringify({
      message: `${SAID[turn % SAID.length]} (${turn})`,
      stream,
      ...(session !== undefined && { session_id: session }),
    }),
  });
  const text = await response.text();
  const id = /"session_id":"([^"]+)"/.exec(text)?.[1];
  if (!response.ok || id === undefined || (stream && !text.includes("event: message")))
    throw new Error(`turn ${turn}: ${response.status} ${text}`);
  return id;
}

async function openFiles(): Promise<number> {
  return (await readdir(process.platform === "linux" ? "/proc/self/fd" : "/dev/fd")).length;
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MB`.padStart(9);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
