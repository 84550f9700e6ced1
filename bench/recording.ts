import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { median, quantile } from "./quantile.js";
import { recordingHook } from "./turn/recording-hook.js";
import { builtServer, Served } from "./turn/served.js";

/**
 * What recording for Studio costs a turn: the processor time of one server, over HTTP on files, beside a model that answers at once. Laps
 * with recording and without take turns in the same process, each until all is written back and recorded; without, what keeps records,
 * the list of conversations and the sums for plots does nothing. The checkout has to be built (`node scripts/build.mjs`).
 *
 * `npm run bench:recording -- [--laps 40] [--turns 100] [--clients 20] [--checkout PATH] [--check]`; with --check it ends with 1 over 3 %.
 */
const { values } = parseArgs({
  options: {
    laps: { type: "string", default: "40" },
    turns: { type: "string", default: "100" },
    clients: { type: "string", default: "20" },
    checkout: { type: "string", default: resolve(import.meta.dirname, "..") },
    check: { type: "boolean", default: false },
  },
});
const [laps, turns, clients] = [Number(values.laps), Number(values.turns), Number(values.clients)];
const MOST_PERCENT = 3;
/** Enough for what was recorded to be written. */
const SETTLES_MS = 300;

const dir = await mkdtemp(join(tmpdir(), "maitred-bench-recording-"));
const model = fork(new URL("./turn/model.ts", import.meta.url), { execArgv: ["--import", "tsx"] });
try {
  process.exitCode = await run(`http://127.0.0.1:${(await once(model, "message"))[0]}/v1`);
} finally {
  model.disconnect();
  await rm(dir, { recursive: true });
}

async function run(url: string): Promise<number> {
  const { path } = builtServer(resolve(values.checkout));
  const variables = { OPENAI_BASE_URL: url, OPENAI_API: "chat", EMBEDDING_PROVIDER: "hashing" };
  const served = await Served.open({ path, execArgv: ["--import", recordingHook(path)] }, dir, variables);
  const guests = Array.from({ length: clients }, (_, n) => ({ user: `guest-${n}`, sessionId: undefined as string | undefined }));
  let said = 0;
  const lap = async (recording: boolean): Promise<number> => {
    const before = await served.usage(recording ? "record" : "rest");
    const until = said + turns;
    const talk = async (guest: (typeof guests)[number]) => {
      while (said < until) {
        const message = `Is there any jazz in the old town on day ${said++}?`;
        guest.sessionId = (await served.turn(guest.user, message, guest.sessionId)).sessionId;
      }
    };
    await Promise.all(guests.map(talk));
    for (const { user, sessionId } of guests) if (sessionId !== undefined) await served.written(user, sessionId);
    await served.usage("settle");
    await new Promise((done) => setTimeout(done, SETTLES_MS));
    const { cpu } = await served.usage();
    return (cpu.user + cpu.system - before.cpu.user - before.cpu.system) / 1_000 / turns;
  };
  // The window of each conversation is full, and the code compiled.
  await lap(true);
  await lap(true);
  const ratios: number[] = [];
  const [recorded, not]: [number[], number[]] = [[], []];
  for (let n = 0; n < laps; n++) {
    // Whichever comes first meets the shorter conversations.
    const first = await lap(n % 2 === 0);
    const second = await lap(n % 2 !== 0);
    const [on, off] = n % 2 === 0 ? [first, second] : [second, first];
    recorded.push(on);
    not.push(off);
    ratios.push(on / off);
  }
  await served.close();
  const percent = (median(ratios) - 1) * 100;
  const sum = (all: readonly number[]) => all.reduce((total, each) => total + each, 0);
  const of = (all: readonly number[]) => `${median(all).toFixed(2)} ms`;
  process.stdout.write(`processor time of a turn: ${of(recorded)} with recording, ${of(not)} without (medians of ${laps} laps)\n`);
  process.stdout.write(`of all laps together ${((sum(recorded) / sum(not) - 1) * 100).toFixed(1)} % more\n`);
  // Whatever else the machine does only adds.
  const [least, leastNot] = [quantile(recorded, 0.25), quantile(not, 0.25)];
  process.stdout.write(`of the quarter of laps that took least ${((least / leastNot - 1) * 100).toFixed(1)} % more\n`);
  process.stdout.write(`${percent <= MOST_PERCENT ? "met   " : "MISSED"} median ${percent.toFixed(1)} % (at most ${MOST_PERCENT})\n`);
  return values.check && percent > MOST_PERCENT ? 1 : 0;
}
