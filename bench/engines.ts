import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Presets, SingleBar } from "cli-progress";
import { ENCRYPTED, type EngineServer, openEngines } from "./engines/servers.js";
import { costToFile, type Line, ratioToFile, type Seen, seenNothing, table } from "./engines/table.js";
import { openWorkloads, type Workload } from "./engines/workloads.js";

/**
 * What it costs to keep state in PostgreSQL or Redis instead of files, with 1 client and with 50 at once: whole turns through the
 * orchestrator with a model that answers at once (long-term memory and history beside them, and without either), and what a turn asks of
 * a store; and what it costs to encrypt files. Servers of the bench's own, on this machine's programs, as durable as they are asked to be; engines take turns slice by slice,
 * so that the machine strikes them alike. `processor` is this process's time for one operation, which hardly depends on what else runs.
 *
 * `npm run bench:engines -- [--slices 5] [--clients 50] [--check]`; with --check ends with 1 unless the clients together get at least
 * 60 % of the file store's turns from PostgreSQL.
 */
const { values } = parseArgs({
  options: {
    slices: { type: "string", default: "5" },
    clients: { type: "string", default: "50" },
    check: { type: "boolean", default: false },
  },
});
const slices = Number(values.slices);
const CLIENTS = [1, Number(values.clients)];
const LEAST_OF_FILE = 0.6;

const dir = await mkdtemp(join(tmpdir(), "maitred-bench-engines-"));
const { engines, leftOut } = await openEngines();
try {
  const lines = await run(engines);
  console.log(
    table(
      engines.map(({ name }) => name),
      lines,
    ),
  );
  tellEncryption(lines);
  for (const each of leftOut) console.log(`Left out: ${each}.`);
  if (!reached(lines) && values.check) process.exitCode = 1;
} finally {
  for (const { close } of engines) await close();
  await rm(dir, { recursive: true });
}

async function run(on: readonly EngineServer[]): Promise<Line[]> {
  const most = Math.max(...CLIENTS);
  const opened: Awaited<ReturnType<typeof openWorkloads>>[] = [];
  try {
    for (const engine of on) opened.push(await openWorkloads(engine, dir, most));
    const count = opened[0]?.workloads.length ?? 0;
    const steps = progress(count * CLIENTS.length * slices * on.length);
    const lines: Line[] = [];
    for (let n = 0; n < count; n++) {
      for (const clients of CLIENTS) {
        const each = opened.flatMap(({ workloads }) => workloads[n] ?? []);
        lines.push(...(await measured(each, clients, steps.next)));
      }
    }
    steps.stop();
    return lines;
  } finally {
    for (const { close } of opened) await close();
  }
}

/** One workload on all engines; a line more where what its operations leave to be done counts as well. */
async function measured(workloads: readonly Workload[], clients: number, next: () => void): Promise<Line[]> {
  const seen = workloads.map(seenNothing);
  const withRest = workloads.map(seenNothing);
  for (let slice = 0; slice < slices; slice++) {
    for (const [index, workload] of workloads.entries()) {
      await sliceOf(workload, clients, seen[index], withRest[index]);
      next();
    }
  }
  const { name = "", rest } = workloads[0] ?? {};
  const line = { name, clients, seen };
  return rest?.name === undefined ? [line] : [line, { name: rest.name, clients, seen: withRest }];
}

async function sliceOf(
  { operation, operations, rest }: Workload,
  clients: number,
  seen: Seen = seenNothing(),
  withRest: Seen = seenNothing(),
): Promise<void> {
  const all = operations(clients);
  let begun = 0;
  const from = performance.now();
  const processor = process.cpuUsage();
  const client = async (number: number) => {
    while (begun < all) {
      begun += 1;
      const at = performance.now();
      await operation(number);
      seen.taken.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  const note = ({ rates, processor: used }: Seen) => {
    rates.push(all / ((performance.now() - from) / 1_000));
    const { user, system } = process.cpuUsage(processor);
    used.push((user + system) / 1_000 / all);
  };
  note(seen);
  await rest?.done();
  note(withRest);
}

/** What a key costs: of the processor, and of the rate. */
function tellEncryption(lines: readonly Line[]): void {
  const at = engines.findIndex(({ name }) => name === ENCRYPTED);
  for (const { name, clients, seen } of lines) {
    const [files, own] = [seen[0], seen[at]];
    if (files === undefined || own === undefined || !/^(turn|window)/.test(name)) continue;
    const [cost, rate] = [costToFile(files, own), ratioToFile(files, own)];
    console.log(`Encrypted, ${name}, ${clients} at once: ${cost.toFixed(2)} × the processor, ${(1 / rate).toFixed(2)} × the time`);
  }
}

/** Says whether PostgreSQL is quick enough; true where it was not asked. */
function reached(lines: readonly Line[]): boolean {
  const at = engines.findIndex(({ name }) => name === "PostgreSQL");
  const turns = lines.filter(({ name, clients, seen }) => name.startsWith("turn") && clients > 1 && (seen[0]?.taken.length ?? 0) > 0);
  const shares = turns.flatMap(({ name, seen: [files, ...others] }) => {
    const engine = others[at - 1];
    return files === undefined || engine === undefined ? [] : [{ name, share: ratioToFile(files, engine) }];
  });
  for (const { name, share } of shares)
    console.log(`PostgreSQL, ${name}: ${percent(share)} of what files do (at least ${percent(LEAST_OF_FILE)} is asked for)`);
  return shares.length > 0 && shares.every(({ share }) => share >= LEAST_OF_FILE);
}

/** A bar on stderr where a person looks; nothing elsewhere. */
function progress(total: number): { next(): void; stop(): void } {
  if (process.stderr.isTTY !== true) return { next: () => {}, stop: () => {} };
  const bar = new SingleBar({ format: "{bar} {value}/{total} slices", hideCursor: true, clearOnComplete: true }, Presets.shades_classic);
  bar.start(total, 0);
  return { next: () => bar.increment(), stop: () => bar.stop() };
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
