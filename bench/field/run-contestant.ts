import type { Contestant, Prepared } from "./contestant.js";
import type { Answer, Request } from "./contestant-process.js";
import type { Sample, Slice } from "./field.js";

/** The process of one contestant: prepares workloads, one after the other, and measures when it is asked to. */
const { contestant } = (await import(`./contestants/${process.argv[2]}.js`)) as { readonly contestant: Contestant };
let prepared: Prepared | null = null;

process.on("message", (request: Request) => {
  void answerTo(request)
    .catch((error: unknown): Answer => ({ failed: error instanceof Error ? error.message : String(error) }))
    .then((answer) => process.send?.(answer));
});
process.on("disconnect", () => process.exit());

async function answerTo(request: Request): Promise<Answer> {
  if (request.ask === "prepare") {
    const prepare = contestant[request.workload];
    if (prepare === undefined) throw new Error(`it has no ${request.workload}`);
    prepared = await prepare(request.setting);
    const { operation: _, rest: __, close: ___, ...about } = prepared;
    return { prepared: about };
  }
  if (request.ask === "measure") return { measured: await measure(request) };
  await prepared?.close();
  prepared = null;
  return { closed: true };
}

async function measure({ from, most, ms }: { from: number; most: number; ms: number }): Promise<Slice> {
  if (prepared === null) throw new Error("nothing is prepared");
  const { operation, rest } = prepared;
  const samples: Sample[] = [];
  const rests: Sample[] = [];
  const until = performance.now() + ms;
  for (let n = from; n < from + most; n++) {
    samples.push(await timed(() => operation(n)));
    if (rest !== undefined) rests.push(await timed(() => rest(n)));
    if (performance.now() >= until) break;
  }
  return { samples, rests };
}

async function timed(work: () => Promise<void>): Promise<Sample> {
  const cpu = process.cpuUsage();
  const at = performance.now();
  await work();
  const ms = performance.now() - at;
  const { user, system } = process.cpuUsage(cpu);
  return { ms, cpuMs: (user + system) / 1_000 };
}
