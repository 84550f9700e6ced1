import { median, quantile } from "../quantile.js";

/** What was seen of one workload on one engine, with so many clients at once. */
export interface Seen {
  /** Of single operations, in milliseconds. */
  readonly taken: number[];
  /** Operations a second, slice by slice. */
  readonly rates: number[];
  /** Of this process, for one operation, slice by slice, in milliseconds. An engine's own is not in it. */
  readonly processor: number[];
}

export function seenNothing(): Seen {
  return { taken: [], rates: [], processor: [] };
}

/** One line of the table: a workload, and how each engine did, files first. */
export interface Line {
  readonly name: string;
  readonly clients: number;
  readonly seen: readonly Seen[];
}

const NAME_WIDTH = 56;
const CELL_WIDTH = 51;

export function table(engines: readonly string[], lines: readonly Line[]): string {
  const head = `${"".padEnd(NAME_WIDTH)}${engines.map((name) => name.padStart(CELL_WIDTH)).join("")}`;
  const columns = engines.map((_, index) => cells("p50", "p95", "processor", "a second", index === 0 ? "" : "to file")).join("");
  return [head, `${"at once".padStart(NAME_WIDTH)}${columns}`, ...lines.map(lineOf)].join("\n");
}

/** How many operations a second an engine does for each that files do: the median of the slices that were next to each other. */
export function ratioToFile(files: Seen, engine: Seen): number {
  return median(engine.rates.map((rate, slice) => rate / (files.rates[slice] ?? Number.NaN)));
}

/** How much of this process's time an operation takes, for each that it takes on files. */
export function costToFile(files: Seen, engine: Seen): number {
  return median(engine.processor.map((used, slice) => used / (files.processor[slice] ?? Number.NaN)));
}

function lineOf({ name, clients, seen }: Line): string {
  const [files] = seen;
  const each = seen.map((engine, index) => {
    const ratio = index === 0 || files === undefined ? "" : ratioToFile(files, engine).toFixed(2);
    const [p50, p95, processor] = [quantile(engine.taken, 0.5), quantile(engine.taken, 0.95), quantile(engine.processor, 0.5)].map(
      milliseconds,
    );
    return cells(p50, p95, processor, whole(median(engine.rates)), ratio);
  });
  return `${name.padEnd(NAME_WIDTH - 8)}${String(clients).padStart(8)}${each.join("")}`;
}

function cells(p50 = "", p95 = "", processor = "", rate = "", ratio = ""): string {
  return `${p50.padStart(12)}${p95.padStart(12)}${processor.padStart(10)}${rate.padStart(9)}${ratio.padStart(8)}`;
}

function milliseconds(value: number): string {
  return Number.isNaN(value) ? "" : `${value.toFixed(2)} ms`;
}

function whole(rate: number): string {
  return Math.round(rate).toLocaleString("en");
}
