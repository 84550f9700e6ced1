import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { quantile } from "./quantile.js";
import { BARE_SERVER, builtServer, type Program, Served, type Usage } from "./turn/served.js";

/**
 * What a turn takes over HTTP, on durable files, beside a model that answers at once: what is added before the first token, one turn at a
 * time, for a guest with many memories and a long history, each of which keeps one more, and what such a turn works and writes to its last
 * write; then turns a second, with all that follows them written back, and what the
 * server's process works for each. `--beside` names another checkout, which takes turns with this one: the same, and the ratio.
 * Both have to be built (`node scripts/build.mjs`). Beside them a bare server (`turn/bare.ts`) tells what of it is Hono, the SDK, this
 * client and the machine: no bar below its figures can be met. At last, what memory the server takes for many guests of two turns each.
 *
 * `npm run bench:turn -- [--turns 1000] [--clients 50] [--alone 100] [--memories 1000] [--rounds 10000] [--guests 2000] [--beside PATH]
 * [--check]`; with `--check` it ends with 1 where a bar is missed.
 */
const { values } = parseArgs({
  options: {
    turns: { type: "string", default: "1000" },
    clients: { type: "string", default: "50" },
    alone: { type: "string", default: "100" },
    memories: { type: "string", default: "1000" },
    rounds: { type: "string", default: "10000" },
    guests: { type: "string", default: "2000" },
    beside: { type: "string" },
    check: { type: "boolean", default: false },
  },
});
const [turns, clients] = [Number(values.turns), Number(values.clients)];
/** Turns one at a time, beside those before them that don't count. */
const alone = Number(values.alone);
const [memories, rounds] = [Number(values.memories), Number(values.rounds)];

const manyGuests = Number(values.guests);

/** Milliseconds, turns a second, times the other checkout's rate, and bytes. */
const BARS = { aloneP50: 3, aloneP95: 8, togetherP95: 60, perSecond: 400, ratio: 3, rss: 400 * 2 ** 20 };
const WARM_UP = Math.min(20, alone);
const LAPS = 4;
const KINDS = ["jazz", "opera", "folk", "ballet", "theatre", "football", "tapas", "ramen"];
const GUEST = "long-known";

interface Guest {
  readonly user: string;
  sessionId: string | undefined;
}

interface Contestant {
  readonly name: string;
  readonly served: Served;
  readonly alone: number[];
  /** Milliseconds of the processor and bytes written, of a turn one at a time, to its last write. */
  kept: { cpuMs: number; bytes: number };
  readonly together: number[];
  readonly guests: readonly Guest[];
  session: string | undefined;
  ms: number;
  cpuMs: number;
  rss: number;
}

const dir = await mkdtemp(join(tmpdir(), "maitred-bench-turn-"));
const model = fork(new URL("./turn/model.ts", import.meta.url), { execArgv: ["--import", "tsx"] });
try {
  process.exitCode = await run(`http://127.0.0.1:${(await once(model, "message"))[0]}/v1`);
} finally {
  model.disconnect();
  await rm(dir, { recursive: true });
}

async function run(url: string): Promise<number> {
  const bare = await open("the bare server", BARE_SERVER, url);
  const own = await open("this checkout", builtServer(resolve(import.meta.dirname, "..")), url);
  const other = values.beside === undefined ? null : await open(values.beside, builtServer(resolve(values.beside)), url);
  const maitreds = [own, ...(other === null ? [] : [other])];
  for (const { served } of maitreds) await fill(served);
  const direct = await askedDirectly(url);
  const all = [bare, ...maitreds];
  for (const each of all) await oneAtATime(each);
  for (const each of all) await lap(each, clients * 2);
  for (const each of all) [each.ms, each.cpuMs, each.together.length] = [0, 0, 0];
  for (let n = 0; n < LAPS; n++) for (const each of all) await lap(each, Math.ceil(turns / LAPS));
  for (const { served } of all) await served.close();

  say(`the model asked directly: first token p50 ${quantile(direct, 0.5).toFixed(1)} ms`);
  const least = figuresOf(bare, quantile(direct, 0.5));
  const figures = figuresOf(own, quantile(direct, 0.5));
  const beside = (figure: number) => `; bare: ${figure.toFixed(1)}`;
  const bars: [string, boolean][] = [
    [`one at a time p50 at most ${BARS.aloneP50} ms${beside(least.aloneP50)}`, figures.aloneP50 <= BARS.aloneP50],
    [`one at a time p95 at most ${BARS.aloneP95} ms${beside(least.aloneP95)}`, figures.aloneP95 <= BARS.aloneP95],
    [`${clients} at once p95 at most ${BARS.togetherP95} ms${beside(least.togetherP95)}`, figures.togetherP95 <= BARS.togetherP95],
    [`at least ${BARS.perSecond} turns a second${beside(least.perSecond)}`, figures.perSecond >= BARS.perSecond],
  ];
  if (other !== null) {
    const before = figuresOf(other, quantile(direct, 0.5));
    const [ratio, work] = [figures.perSecond / before.perSecond, figures.cpuMs / before.cpuMs];
    say(`\nturns a second, this to the other: ${ratio.toFixed(2)}; work for a turn: ${work.toFixed(2)}`);
    bars.push([`at least ${BARS.ratio} times the other's rate${beside(least.perSecond / before.perSecond)}`, ratio >= BARS.ratio]);
  }
  if (manyGuests > 0) {
    const rss = await memoryForMany(url);
    say(`\n${manyGuests} guests of two turns each, all written back: RSS ${mib(rss)}`);
    bars.push([`${manyGuests} guests in at most ${mib(BARS.rss)}`, rss <= BARS.rss]);
  }
  say("");
  for (const [bar, met] of bars) say(`${met ? "met   " : "MISSED"} ${bar}`);
  return values.check && bars.some(([, met]) => !met) ? 1 : 0;
}

async function open(name: string, program: Program, url: string): Promise<Contestant> {
  const variables = { OPENAI_BASE_URL: url, OPENAI_API: "chat", EMBEDDING_PROVIDER: "hashing" };
  const served = await Served.open(program, await mkdtemp(join(dir, "storage-")), variables);
  return {
    name,
    served,
    guests: guestsOf(clients),
    alone: [],
    kept: { cpuMs: 0, bytes: 0 },
    together: [],
    session: undefined,
    ms: 0,
    cpuMs: 0,
    rss: 0,
  };
}

async function fill(served: Served): Promise<void> {
  for (let n = 0; n < memories; n++) await served.remember(GUEST, `Likes ${KINDS[n % KINDS.length]} at venue ${n}`, `venue ${n}`);
  if (rounds > 0) await served.history(GUEST, pastRounds());
}

/** Bytes, of a server of its own. */
async function memoryForMany(url: string): Promise<number> {
  const { served } = await open("this checkout", builtServer(resolve(import.meta.dirname, "..")), url);
  const guests = guestsOf(manyGuests);
  let begun = 0;
  const talk = async () => {
    for (let turn = begun++; turn < 2 * manyGuests; turn = begun++) {
      const guest = guests[turn % manyGuests];
      if (guest !== undefined) guest.sessionId = (await served.turn(guest.user, messageOf(turn), guest.sessionId)).sessionId;
    }
  };
  await Promise.all(Array.from({ length: clients }, talk));
  for (const { user, sessionId } of guests) if (sessionId !== undefined) await served.written(user, sessionId);
  const { rss } = await served.usage();
  await served.close();
  return rss;
}

function guestsOf(count: number): Guest[] {
  return Array.from({ length: count }, (_, n) => ({ user: `guest-${n}`, sessionId: undefined }));
}

function pastRounds(): object[] {
  return Array.from({ length: rounds }, (_, n) => {
    const about = { session_id: `past-${Math.floor(n / 50)}`, created_at: new Date(Date.UTC(2025, 0, 1, 0, n)).toISOString() };
    return [
      { ...about, role: "user", content: `Which ${KINDS[n % KINDS.length]} was on at venue ${n}?` },
      { ...about, role: "assistant", content: `On day ${n} there was one at eight, with seats in row ${n % 30}.` },
    ];
  }).flat();
}

/** Milliseconds until the first token. */
async function askedDirectly(url: string): Promise<number[]> {
  const taken: number[] = [];
  for (let n = -WARM_UP; n < alone; n++) {
    const started = performance.now();
    const body = JSON.stringify({ model: "any", stream: true, messages: [{ role: "user", content: "What is on?" }] });
    const response = await fetch(`${url}/chat/completions`, { method: "POST", headers: { "Content-Type": "application/json" }, body });
    const reader = response.body?.getReader();
    await reader?.read();
    if (n >= 0) taken.push(performance.now() - started);
    while (!(await reader?.read())?.done);
  }
  return taken;
}

/** What follows a turn is done before the next one, as a guest takes longer to read than that takes. */
async function oneAtATime(each: Contestant): Promise<void> {
  let before = await each.served.usage();
  for (let n = -WARM_UP; n < alone; n++) {
    if (n === 0) before = await each.served.usage();
    const message = `${messageOf(n + WARM_UP)} I like seats in row ${n + WARM_UP}.`;
    const { sessionId, firstTokenMs } = await each.served.turn(GUEST, message, each.session);
    each.session = sessionId;
    if (n >= 0) each.alone.push(firstTokenMs);
    await each.served.written(GUEST, sessionId);
  }
  const after = await each.served.usage();
  each.kept = { cpuMs: cpuMsBetween(before, after) / alone, bytes: (after.written - before.written) / alone };
}

/** So many turns, all guests at once, until the last is written back. */
async function lap(each: Contestant, count: number): Promise<void> {
  const { served, guests } = each;
  const [before, started] = [await served.usage(), performance.now()];
  let begun = 0;
  const talk = async (guest: Guest) => {
    while (begun < count) {
      const { sessionId, firstTokenMs } = await served.turn(guest.user, messageOf(begun++), guest.sessionId);
      guest.sessionId = sessionId;
      each.together.push(firstTokenMs);
    }
  };
  await Promise.all(guests.map(talk));
  for (const { user, sessionId } of guests) if (sessionId !== undefined) await served.written(user, sessionId);
  each.ms += performance.now() - started;
  const after = await served.usage();
  each.cpuMs += cpuMsBetween(before, after);
  each.rss = after.rss;
}

function cpuMsBetween({ cpu: before }: Usage, { cpu: after }: Usage): number {
  return (after.user + after.system - before.user - before.system) / 1_000;
}

function messageOf(turn: number): string {
  return `Is there any ${KINDS[turn % KINDS.length]} in the old town on day ${turn}?`;
}

function figuresOf({ name, alone: single, kept, together, ms, cpuMs, rss }: Contestant, directMs: number) {
  const added = (taken: readonly number[], share: number) => quantile(taken, share) - directMs;
  const figures = {
    aloneP50: added(single, 0.5),
    aloneP95: added(single, 0.95),
    togetherP50: added(together, 0.5),
    togetherP95: added(together, 0.95),
    perSecond: (together.length / ms) * 1_000,
    cpuMs: cpuMs / together.length,
  };
  say(`\n${name}`);
  say(`  added before the first token, one at a time: ${p(figures.aloneP50, figures.aloneP95)}`);
  say(`  of such a turn to its last write: ${kept.cpuMs.toFixed(2)} ms of work, ${(kept.bytes / 1_000).toFixed(0)} KB written`);
  say(`  before the first token, ${clients} at once: ${p(figures.togetherP50, figures.togetherP95)}`);
  say(`  ${figures.perSecond.toFixed(0)} turns a second, written back; ${figures.cpuMs.toFixed(2)} ms of work for each; RSS ${mib(rss)}`);
  return figures;
}

function p(p50: number, p95: number): string {
  return `p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms`;
}

function mib(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
