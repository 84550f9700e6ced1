import { median } from "../quantile.js";
import type { Sizes, Workload } from "./contestant.js";
import type { Outcome, Result, Slice } from "./field.js";

/** A line of the table: a figure that is read from a workload. */
export interface Row {
  readonly title: string;
  readonly workload: Workload;
  readonly figure: "operation" | "rest" | "both";
  /** How many times ours the best of the field has to take, where that is asked for. */
  readonly least?: number;
  /** Why ours takes longer, where it does. */
  readonly whySlower: string;
}

export function rowsOf({ rounds, memories, memoriesOfAll }: Sizes): readonly Row[] {
  const count = (n: number) => n.toLocaleString("en");
  return [
    {
      title: `window: the last 10 rounds of a session with ${count(rounds)}`,
      workload: "window",
      figure: "operation",
      least: 5,
      whySlower: "Maitred reads the window from the journal on the disk, and checks every record of it.",
    },
    {
      title: "append: one round",
      workload: "append",
      figure: "operation",
      whySlower:
        "Maitred syncs to the disk before it goes on, and keeps an index beside the journal; nobody else here syncs a conversation.",
    },
    {
      title: `recall: the nearest 5 of ${count(memories)} memories of one user`,
      workload: "recall",
      figure: "operation",
      least: 5,
      whySlower: "Maitred searches by words beside the vectors, through Mem0, in another thread and from a file.",
    },
    {
      title: `recall, with ${count(memoriesOfAll)} memories of all users`,
      workload: "recallAmongMany",
      figure: "operation",
      least: 5,
      whySlower: "Maitred searches by words beside the vectors, through Mem0, in another thread and from a file.",
    },
    {
      title: `history search in ${count(rounds * 2)} messages`,
      workload: "history",
      figure: "operation",
      whySlower: "Maitred searches by words and by meaning, and ranks both by when it was said and by what stands around it.",
    },
    {
      title: "whole turn, no long-term memory",
      workload: "turn",
      figure: "operation",
      least: 2,
      whySlower:
        "Maitred's turn is two synced writes, one before the model is called, under a lock, with the concierge's tools and prompt.",
    },
    {
      title: "whole turn with long-term memory",
      workload: "turnWithMemory",
      figure: "operation",
      least: 2,
      whySlower: "Maitred's recall is four reads: needs, standing preferences, what is nearest, what waits to be confirmed.",
    },
    {
      title: "write-back: what the turn leaves to be done",
      workload: "turnWithMemory",
      figure: "rest",
      whySlower:
        "Maitred's write-back checks the model's proposals, logs them durably, reads them back, and takes the messages into history.",
    },
    {
      title: "whole turn, until all of it is written back",
      workload: "turnWithMemory",
      figure: "both",
      whySlower: "Only Maitred and Mem0 make memories of what was said by a model call; the others store the messages as they are.",
    },
  ];
}

/** Milliseconds at the median. */
export interface Figure {
  readonly ms: number;
  readonly cpuMs: number;
}

/** One contestant's figure for a row; null where it has none. */
export function figureOf({ figure }: Row, outcome: Outcome): Figure | null {
  if ("absent" in outcome) return null;
  const { restIsOfTheTurn = false } = outcome.about;
  const samples = outcome.slices.flatMap((slice) => samplesOf(slice, figure === "operation" && restIsOfTheTurn ? "both" : figure));
  if (samples.length === 0) return null;
  return { ms: median(samples.map(({ ms }) => ms)), cpuMs: median(samples.map(({ cpuMs }) => cpuMs)) };
}

function samplesOf({ samples, rests }: Slice, figure: Row["figure"]) {
  if (figure === "operation") return samples;
  if (figure === "rest") return rests;
  return samples.map((sample, index) => {
    const rest = rests[index];
    return rest === undefined ? sample : { ms: sample.ms + rest.ms, cpuMs: sample.cpuMs + rest.cpuMs };
  });
}

/** What stands in one line of the table. */
export interface Line {
  readonly row: Row;
  /** In the order of the candidates: ours first. */
  readonly cells: readonly { readonly outcome: Outcome; readonly figure: Figure | null }[];
  /** The quickest of the others that answer from where they keep it; what is in memory alone is not compared. Null where there is none. */
  readonly best: { readonly name: string; readonly ratio: number; readonly cpuRatio: number } | null;
}

export function linesOf(rows: readonly Row[], results: readonly Result[]): readonly Line[] {
  return rows.flatMap((row) => {
    const result = results.find(({ workload }) => workload === row.workload);
    if (result === undefined) return [];
    const cells = result.outcomes.map((outcome) => ({ outcome, figure: figureOf(row, outcome) }));
    return [{ row, cells, best: bestOf(cells) }];
  });
}

function bestOf([ours, ...others]: Line["cells"]): Line["best"] {
  const own = ours?.figure;
  if (own === null || own === undefined) return null;
  const kept = others.flatMap(({ outcome, figure }) =>
    figure === null || "absent" in outcome || outcome.about.keeps === "in memory" ? [] : [{ name: outcome.name, figure }],
  );
  const [best] = kept.toSorted((a, b) => a.figure.ms - b.figure.ms);
  if (best === undefined) return null;
  return { name: best.name, ratio: best.figure.ms / own.ms, cpuRatio: best.figure.cpuMs / own.cpuMs };
}

/** Rows that miss what is asked of them; with nothing to compare with, there is nothing to miss. */
export function missed(lines: readonly Line[]): readonly Line[] {
  return lines.filter(({ row: { least }, cells: [ours], best }) => {
    if (least === undefined) return false;
    return ours?.figure === null || (best !== null && best.ratio < least);
  });
}
