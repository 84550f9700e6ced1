import { NOTHING_OF_THE_KIND, type Outcome } from "./field.js";
import { type Figure, type Line, missed } from "./rows.js";

/** What the figures were taken with. */
export interface Circumstances {
  readonly date: Date;
  readonly command: string;
  readonly machine: string;
  /** Of the machine, over a minute, at the start and at the end. */
  readonly load: readonly [number, number];
  readonly node: string;
  readonly versions: readonly string[];
  readonly slices: number;
}

/** The results as Markdown: two tables, what to know about them, and how they were taken. */
export function report(lines: readonly Line[], circumstances: Circumstances): string {
  return [
    "# Maitred against the field",
    "",
    "The same data, the same stub model over loopback, the same embedder in the process; each as its documentation shows. Milliseconds at",
    "the median. `×` is how many times ours the best of the others takes: of those that answer from where they keep what they are given.",
    "What is answered out of the process's memory alone stands in brackets, and is not compared.",
    "",
    ...tableOf(lines, "Wall clock", ({ ms }) => ms, "ratio"),
    "",
    "Processor time of the whole process, its threads too: it depends less on what else runs, and leaves out waiting for the disk.",
    "",
    ...tableOf(lines, "Processor", ({ cpuMs }) => cpuMs, "cpuRatio"),
    "",
    "## What is asked for",
    "",
    ...asked(lines),
    "",
    "## What to know",
    "",
    ...remarks(lines),
    "",
    "## How it was taken",
    "",
    ...taken(circumstances),
    "",
  ].join("\n");
}

function tableOf(lines: readonly Line[], title: string, of: (figure: Figure) => number, ratio: "ratio" | "cpuRatio"): string[] {
  const names = lines[0]?.cells.map(({ outcome }) => outcome.name) ?? [];
  const rowOf = ({ row, cells, best }: Line) => [
    row.title,
    ...cells.map(({ outcome, figure }) => cellOf(outcome, figure === null ? null : of(figure))),
    best === null ? "" : `**${times(best[ratio])}** (${best.name})`,
  ];
  return [[title, ...names, "×"], ["---", ...names.map(() => "--:"), "---"], ...lines.map(rowOf)].map(
    (cells) => `| ${cells.join(" | ")} |`,
  );
}

function cellOf(outcome: Outcome, value: number | null): string {
  if ("absent" in outcome) return outcome.absent === NOTHING_OF_THE_KIND ? "–" : "missing";
  if (value === null) return "–";
  return outcome.about.keeps === "in memory" ? `(${milliseconds(value)})` : milliseconds(value);
}

function asked(lines: readonly Line[]): string[] {
  const short = missed(lines);
  return lines.flatMap((line) => {
    const { row, best } = line;
    if (row.least === undefined) return [];
    const reached = short.includes(line) ? "**not reached**" : "reached";
    return [`- ${row.title}: at least ${row.least} ×; ${best === null ? "nobody to compare with" : `${times(best.ratio)}, ${reached}`}.`];
  });
}

/** Why ours is slower where it is, what the figures of others hold or lack, and who is missing. */
function remarks(lines: readonly Line[]): string[] {
  return lines.flatMap(({ row, cells: [ours, ...others] }) => {
    const own = ours?.figure?.ms ?? Number.NaN;
    const quicker = others.filter(({ figure }) => figure !== null && figure.ms < own).map(({ outcome }) => nameOf(outcome));
    const slower = quicker.length === 0 ? [] : [`- ${row.title}: ${quicker.join(", ")} quicker than Maitred. ${row.whySlower}`];
    const notes = [ours, ...others].flatMap((cell) => {
      if (cell === undefined || row.figure === "rest" || row.figure === "both") return [];
      const { outcome } = cell;
      if ("absent" in outcome)
        return outcome.absent === NOTHING_OF_THE_KIND ? [] : [`- ${row.title}: ${outcome.name} is missing: ${firstLine(outcome.absent)}.`];
      return outcome.about.note === undefined ? [] : [`- ${row.title}: ${outcome.name}: ${outcome.about.note}.`];
    });
    return [...slower, ...notes];
  });
}

function nameOf(outcome: Outcome): string {
  return !("absent" in outcome) && outcome.about.keeps === "in memory" ? `${outcome.name} (out of memory)` : outcome.name;
}

function taken({ date, command, machine, load, node, versions, slices }: Circumstances): string[] {
  return [
    `- ${date.toISOString().slice(0, 16).replace("T", " ")} UTC, \`${command}\``,
    `- ${machine}; load average ${load.map((each) => each.toFixed(1)).join(" at the start, ")} at the end`,
    "- with other work on the machine, which a load average over the number of processors shows, ratios hold better than figures;",
    "  what has threads of its own, as Maitred's vectors have, then waits at every change of thread",
    `- Node ${node}, but where a column says another; every contestant in a process of its own, one at work at a time`,
    `- after a warm-up, ${slices} slices of each, in turn, so that what else the machine does strikes all alike`,
    "- Maitred's conversation is synced to the disk before a call returns, Mem0's memories too; Mastra, LangGraph's checkpoints and",
    "  LangChain's file leave that to the operating system; the OpenAI SDK's session and LangGraph's store are in memory",
    `- ${versions.join(", ")}`,
  ];
}

function firstLine(text: string): string {
  return text.split("\n")[0] ?? "";
}

function times(ratio: number): string {
  return `${ratio >= 10 ? Math.round(ratio).toLocaleString("en") : ratio.toFixed(ratio < 1 ? 2 : 1)} ×`;
}

function milliseconds(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en") : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
