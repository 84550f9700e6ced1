import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { type Composed, compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { ownerOf } from "../../src/domain/owner.js";
import { createHttpApp, type HttpApp } from "../../src/http/app.js";
import { systemClock } from "../../src/platform/clock.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { ChatModel, ModelEvent, ModelRequest } from "../../src/ports/agent.js";
import { fedTo, proposalsOn, SHAPES } from "./adversarial.js";

/**
 * Feeds every shape to the product through every door that makes memories: chat (with a model and with the stand-ins), import, promote
 * and restore. Prints a line when it begins with one and a line with what half of it and the whole of it cost. A thread of its own kills
 * the process when a step holds it up.
 */

/** A chat message has 8,000 characters at most; what is imported may have more. */
const CHAT_CHARS = 8_000;
const IMPORTED_CHARS = 16_000;
/** Runs where the first looks as if twice the text cost three times as much. */
const MORE_RUNS = 2;
const SUSPICIOUS = 2.5;
/** A model that never comes to an end, to see that it is noticed. */
const ENDLESS = "endless";

/** Proposes parts of what it reads; answers what it is asked. */
function proposing(text: () => string): ChatModel {
  return {
    name: "proposing",
    standIn: false,
    async *stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
      while (process.argv.includes(ENDLESS));
      const reads = request.task === "extraction";
      const delta = reads ? JSON.stringify({ operations: proposalsOn(text()).map((each) => ({ op: "add", ...each })) }) : "Noted.";
      yield { type: "text", delta };
      yield { type: "end", reason: "stop", usage: { input_tokens: 0, output_tokens: 0 } };
    },
  };
}

interface Product {
  readonly application: Composed;
  readonly app: HttpApp;
}

async function open(dir: string, model?: ChatModel): Promise<Product> {
  const config = parseConfig({
    MEMORY_STORAGE_DIR: dir,
    EMBEDDING_PROVIDER: "hashing",
    RECALL_DEADLINE_MS: "10000",
    RATE_LIMIT_ENABLED: "false",
  });
  const application = await compose(config, { logger: silentLogger, ...(model !== undefined && { model }) });
  return { application, app: await createHttpApp({ application, config, logger: silentLogger, clock: systemClock }) };
}

async function post(app: HttpApp, user: string, path: string, body: string, type = "application/json"): Promise<Record<string, unknown>> {
  const response = await app.request(path, { method: "POST", headers: { "X-User-Id": user, "Content-Type": type }, body });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text.slice(0, 300)}`);
  return JSON.parse(text) as Record<string, unknown>;
}

async function chat({ app }: Product, user: string, message: string): Promise<void> {
  const { session_id } = await post(app, user, "/v1/chat", JSON.stringify({ message }));
  const flushed = await post(app, user, `/v1/sessions/${session_id}/flush?timeout_ms=20000`, "");
  if (flushed.pending_turns !== 0 || flushed.failed_turns !== 0) throw new Error(`write-back: ${JSON.stringify(flushed)}`);
}

function importLine({ app }: Product, user: string, content: string, extract: boolean): Promise<Record<string, unknown>> {
  const line = JSON.stringify({ session_id: "old", role: "user", content });
  return post(app, user, `/v1/import?extract=${extract}`, `${line}\n`, "application/x-ndjson");
}

async function exported({ app }: Product, user: string): Promise<string> {
  return (await app.request("/v1/me/export", { headers: { "X-User-Id": user } })).text();
}

/** What a door does with a text, after what it needs for that: only the former is measured. */
type Door = (text: string, user: string) => Promise<() => Promise<unknown>>;

function doors(full: Product, offline: Product): Readonly<Record<string, { readonly chars: number; readonly door: Door }>> {
  const { promotion } = full.application.parts;
  return {
    chat: { chars: CHAT_CHARS, door: async (text, user) => () => chat(full, user, text) },
    "chat without a key": { chars: CHAT_CHARS, door: async (text, user) => () => chat(offline, user, text) },
    import: { chars: IMPORTED_CHARS, door: async (text, user) => () => importLine(full, user, text, true) },
    promote: {
      chars: IMPORTED_CHARS,
      door: async (text, user) => {
        await importLine(full, user, text, false);
        return () => promotion.run({ owner: ownerOf("default", user), signal: new AbortController().signal });
      },
    },
    restore: {
      chars: IMPORTED_CHARS,
      door: async (text, user) => {
        await importLine(full, user, text, true);
        const document = await exported(full, user);
        return () => post(full.app, `${user}-restored`, "/v1/import", document);
      },
    },
  };
}

/**
 * Kills the process when a step holds up everybody for two seconds of the processor, or takes four of them in all: those of every thread,
 * the vectors' too.
 */
const WATCHER = `
const { workerData } = require("node:worker_threads");
const step = new Int32Array(workerData.step);
const used = (since) => { const { user, system } = process.cpuUsage(since); return user + system; };
let [seen, turned] = [-1, -1];
let began = process.cpuUsage();
let turnedAt = process.cpuUsage();
setInterval(() => {
  const [now, turn] = [Atomics.load(step, 0), Atomics.load(step, 1)];
  if (turn !== turned) { turned = turn; turnedAt = process.cpuUsage(); }
  if (now !== seen) { seen = now; began = process.cpuUsage(); return; }
  if (seen % 2 === 1 && (used(turnedAt) > workerData.micros || used(began) > 2 * workerData.micros)) process.kill(process.pid, "SIGKILL");
}, 50);
`;

const print = (line: unknown) => process.stdout.write(`${JSON.stringify(line)}\n`);
const median = (costs: readonly number[]) => [...costs].sort((a, b) => a - b)[Math.floor(costs.length / 2)] ?? 0;

async function main(): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "maitred-adversarial-"));
  let text = "";
  const full = await open(
    join(dir, "full"),
    proposing(() => text),
  );
  const offline = await open(join(dir, "offline"));
  // Odd while something is measured.
  const step = new Int32Array(new SharedArrayBuffer(8));
  // Each turn of the event loop.
  const turns = setInterval(() => Atomics.add(step, 1, 1), 20);
  const watcher = new Worker(WATCHER, { eval: true, workerData: { step: step.buffer, micros: 2_000_000 } });
  let users = 0;
  const cost = async (door: Door, of: string) => {
    text = of;
    const act = await door(of, `guest-${users++}`);
    Atomics.add(step, 0, 1);
    const began = process.cpuUsage();
    await act();
    const { user, system } = process.cpuUsage(began);
    Atomics.add(step, 0, 1);
    return (user + system) / 1000;
  };
  for (const [name, { chars, door }] of Object.entries(doors(full, offline))) {
    await cost(door, "I like jazz.");
    for (const [shape, make] of Object.entries(SHAPES)) {
      if (!fedTo(name, shape)) continue;
      print({ begins: `${name}: ${shape}` });
      const [half, whole] = [visible(make(chars / 2)), visible(make(chars))];
      const small = [await cost(door, half)];
      const large = [await cost(door, whole)];
      if (median(large) > SUSPICIOUS * median(small))
        for (let run = 0; run < MORE_RUNS; run++) {
          small.push(await cost(door, half));
          large.push(await cost(door, whole));
        }
      print({ door: name, shape, small: median(small), large: median(large) });
    }
  }
  clearInterval(turns);
  await watcher.terminate();
  for (const { application } of [full, offline]) await application.close();
  await rm(dir, { recursive: true, force: true });
}

/** A message that shows nothing, or ends in half a character, is refused at the door: a letter makes it one that isn't. */
function visible(text: string): string {
  return `${text.slice(0, -1).replace(/[\ud800-\udbff]$/u, "")}a`;
}

await main();
