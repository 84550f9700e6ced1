import type { About, Setting, Workload } from "./contestant.js";

/** One operation, or what it left to be done. */
export interface Sample {
  readonly ms: number;
  /** Of the whole process, its threads too. */
  readonly cpuMs: number;
}

/** What was measured in one go: `rests` has as many as `samples`, or none. */
export interface Slice {
  readonly samples: readonly Sample[];
  readonly rests: readonly Sample[];
}

/** At most so many operations, and none begun after so many milliseconds; but always one. */
export interface Amount {
  readonly most: number;
  readonly ms: number;
}

/** A contestant that was prepared for a workload, wherever it runs. */
export interface Running {
  readonly about: About;
  /** `from`: the number of the first operation; no number comes twice. */
  measure(from: number, amount: Amount): Promise<Slice>;
  close(): Promise<void>;
}

/** Who takes part, and how it is started. */
export interface Candidate {
  readonly name: string;
  readonly workloads: readonly Workload[];
  /** Why it can't take part here. */
  readonly missing?: string;
  start(workload: Workload, setting: Omit<Setting, "dir">): Promise<Running>;
  /** Whatever of it still runs. */
  close(): Promise<void>;
}

export interface Plan {
  readonly workloads: readonly Workload[];
  readonly setting: Omit<Setting, "dir">;
  readonly slices: number;
  readonly amount: Amount;
  /** Before anything is measured. */
  readonly warmUp: Amount;
}

/** How one contestant did on a workload: slices, or why there are none. */
export type Outcome =
  | { readonly name: string; readonly about: About; readonly slices: readonly Slice[] }
  | { readonly name: string; readonly absent: string };

export interface Result {
  readonly workload: Workload;
  /** In the order of the candidates. */
  readonly outcomes: readonly Outcome[];
}

export const NOTHING_OF_THE_KIND = "has none";

/**
 * All candidates on all workloads. They take turns, slice by slice, so that what else the machine does strikes them alike; one that
 * fails is left out of that workload, with its reason.
 */
export async function runField(
  candidates: readonly Candidate[],
  plan: Plan,
  onStep: (done: number, total: number, what: string) => void = () => {},
): Promise<Result[]> {
  const results: Result[] = [];
  const total = plan.workloads.length * candidates.length * (plan.slices + 1);
  for (const workload of plan.workloads) {
    let done = results.length * candidates.length * (plan.slices + 1);
    const next = (what: string) => onStep(++done, total, `${workload}: ${what}`);
    results.push({ workload, outcomes: await onWorkload(candidates, workload, plan, next) });
  }
  return results;
}

interface Entry {
  readonly name: string;
  running: Running | null;
  absent: string;
  from: number;
  readonly slices: Slice[];
}

async function onWorkload(
  candidates: readonly Candidate[],
  workload: Workload,
  { setting, slices, amount, warmUp }: Plan,
  next: (what: string) => void,
): Promise<Outcome[]> {
  const entries: Entry[] = [];
  try {
    for (const candidate of candidates) {
      const entry: Entry = { name: candidate.name, running: null, absent: "", from: 0, slices: [] };
      entries.push(entry);
      if (candidate.missing !== undefined) entry.absent = candidate.missing;
      else if (!candidate.workloads.includes(workload)) entry.absent = NOTHING_OF_THE_KIND;
      else
        await unlessItFails(entry, async () => {
          entry.running = await candidate.start(workload, setting);
          entry.from += (await entry.running.measure(0, warmUp)).samples.length;
        });
      next(candidate.name);
    }
    for (let slice = 0; slice < slices; slice++) {
      for (const entry of entries) {
        const { running } = entry;
        if (running !== null)
          await unlessItFails(entry, async () => {
            const measured = await running.measure(entry.from, amount);
            entry.from += measured.samples.length;
            entry.slices.push(measured);
          });
        next(entry.name);
      }
    }
    return entries.map(outcomeOf);
  } finally {
    for (const { running } of entries) await running?.close();
  }
}

async function unlessItFails(entry: Entry, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    entry.absent = `failed: ${error instanceof Error ? error.message : String(error)}`;
    await entry.running?.close();
    entry.running = null;
  }
}

function outcomeOf({ name, running, absent, slices }: Entry): Outcome {
  if (running === null) return { name, absent };
  return { name, about: running.about, slices };
}
