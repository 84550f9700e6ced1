import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { Terminal } from "../src/cli/terminal.js";
import { fieldArguments } from "./field/arguments.js";
import { candidateOf } from "./field/contestant-process.js";
import { ENTRANTS } from "./field/contestants.js";
import { runField } from "./field/field.js";
import { openModelServer } from "./field/model-server.js";
import { nodePrograms } from "./field/node-programs.js";
import { report } from "./field/report.js";
import { linesOf, missed, rowsOf } from "./field/rows.js";

/**
 * Maitred beside the other ways to give an agent a memory, in one run, on the same data, with the same stub model and embedder: what a
 * window, an append, a search and a whole turn take. What needs a newer Node runs on that of NODE24, or on the PATH.
 *
 * `npm run bench:field -- [--quick] [--check] [--only window,recall] [--slices 5] [--load-seconds 40]`; all of it in full size writes
 * bench/RESULTS.md. With --check it ends with 1 when window or recall is under 5 times, or a whole turn under twice as fast as the best.
 */
const { sizes, workloads, slices, amount, warmUp, loadMs, check, write } = fieldArguments(process.argv.slice(2));
const FOLDER = new URL("./field/", import.meta.url);
const RESULTS = new URL("./RESULTS.md", import.meta.url);

const loadAtStart = loadavg()[0] ?? Number.NaN;
const model = await openModelServer();
const candidates = ENTRANTS.map((entrant) => candidateOf(entrant, nodePrograms()));
const progress = new Terminal(process, { colours: false, json: false }).progress("bench:field");
try {
  const plan = { workloads, setting: { modelUrl: model.url, sizes, loadMs }, slices, amount, warmUp };
  const results = await runField(candidates, plan, (done, total) => progress.update(done, total));
  progress.stop();
  const lines = linesOf(rowsOf(sizes), results);
  const text = report(lines, {
    date: new Date(),
    command: ["npm run bench:field --", ...process.argv.slice(2)].join(" ").replace(/ --$/, ""),
    machine: `${cpus().length} × ${cpus()[0]?.model ?? "unknown processor"}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    load: [loadAtStart, loadavg()[0] ?? Number.NaN],
    node: process.versions.node,
    versions: versions(),
    slices,
  });
  console.log(text);
  if (write) writeFileSync(RESULTS, text);
  if (check && missed(lines).length > 0) process.exitCode = 1;
} finally {
  progress.stop();
  for (const candidate of candidates) await candidate.close();
  await model.close();
}

/** As they are pinned: of the project, and of the folder. */
function versions(): string[] {
  const read = (url: URL) => JSON.parse(readFileSync(url, "utf8")) as Record<string, Record<string, string>>;
  const root = read(new URL("../package.json", import.meta.url));
  const known = { ...read(new URL("package.json", FOLDER)).devDependencies, ...root.dependencies };
  const named = ENTRANTS.flatMap(({ packages }) => packages);
  return [`maitred ${String(root.version)}`, ...named.map((name) => `${name} ${known[name] ?? "unknown"}`)];
}
