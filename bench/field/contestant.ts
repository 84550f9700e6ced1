/** What a contestant is prepared for, one after the other. */
export const WORKLOADS = ["window", "append", "recall", "recallAmongMany", "history", "turn", "turnWithMemory"] as const;
export type Workload = (typeof WORKLOADS)[number];

export interface Sizes {
  /** Of the session that windows are read from, and that turns go on with. */
  readonly rounds: number;
  /** Of the user who asks. */
  readonly memories: number;
  /** Of all users together, where there are many. */
  readonly memoriesOfAll: number;
}

export interface Setting {
  /** A directory of its own; gone afterwards. */
  readonly dir: string;
  /** Of the stub model, an OpenAI-compatible endpoint. */
  readonly modelUrl: string;
  readonly sizes: Sizes;
  /** How long loading many memories may take, in milliseconds. What isn't loaded by then is left out, and told; ours are all loaded. */
  readonly loadMs: number;
}

/** What a power cut leaves of it: all, most, or nothing. */
export type Keeping = "synced" | "written" | "in memory";

/** What is told about a contestant's figures on a workload. */
export interface About {
  readonly keeps: Keeping;
  /** What a reader has to know about them. */
  readonly note?: string;
  /** Whether its documentation waits for what an operation leaves to be done, before the answer is given. Default false. */
  readonly restIsOfTheTurn?: boolean;
}

/** A workload's data, loaded, and the operation that is measured. */
export interface Prepared extends About {
  readonly operation: (n: number) => Promise<void>;
  /** What the operation leaves to be done. Done before the next one, and measured apart. */
  readonly rest?: (n: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** How each workload is prepared. Those that it has nothing for are absent. */
export type Contestant = Partial<Record<Workload, (setting: Setting) => Promise<Prepared>>>;
