/** The point at which a process kills itself, and which time it comes by there, from 1. */
export interface Armed {
  readonly point: FaultPoint;
  readonly hit: number;
}

const APPENDS = ["message", "edit", "answer", "done", "summary", "patch"] as const;
export type AppendKind = (typeof APPENDS)[number];

/** Calls of ports that change something. */
export type Call =
  | `journal.append.${AppendKind}`
  | `index.apply.${AppendKind | "session"}`
  | `vectors.${"upsert" | "delete"}.${"history" | "memory"}`
  | `journal.${"create" | "rewrite" | "erase"}`
  | `index.${"remove" | "erase"}`
  | `longTerm.${"remember" | "forget" | "detachSession" | "erase"}`
  | `history.${"addEvents" | "removeMessages" | "removeSession" | "erase"}`
  | `disk.${"write" | "datasync" | "rename" | "unlink" | "syncDirectory"}`
  | "memoryLog.append"
  | "memoryStore.project"
  | "vectors.setPayload"
  | "engine.commit"
  | "answer";

/** Before a call is made, or after it ended well. `model:streaming`: with a part of the answer out; `disk.write:half`: with half of the bytes written. */
export type FaultPoint = `${Call}:${"before" | "after"}` | "model:before" | "model:streaming" | "disk.write:half";

const both = (...calls: readonly Call[]): FaultPoint[] => calls.flatMap((call) => [`${call}:before` as const, `${call}:after` as const]);

const everyTurn: readonly FaultPoint[] = [
  ...both("journal.append.message", "index.apply.message", "disk.write", "disk.datasync"),
  "model:before",
  "model:streaming",
  ...both("journal.append.answer", "index.apply.answer", "answer"),
];

/** By what comes by there: a turn, its write-back, a message said again differently, forgetting and emptying, an erasure. */
export const POINTS = {
  everyTurn,
  turn: [...both("journal.create", "index.apply.session", "disk.rename", "disk.syncDirectory"), ...everyTurn],
  writeBack: [
    ...both("history.addEvents", "vectors.upsert.history", "memoryLog.append", "memoryStore.project"),
    ...both("longTerm.remember", "vectors.upsert.memory", "vectors.setPayload", "journal.append.done", "index.apply.done"),
    ...both("journal.append.patch", "index.apply.patch", "journal.append.summary", "index.apply.summary"),
  ],
  edit: both("journal.append.edit", "index.apply.edit", "longTerm.remember", "vectors.delete.memory", "history.removeMessages"),
  takeAway: [
    ...both("history.removeSession", "vectors.delete.history", "longTerm.detachSession"),
    ...both("journal.rewrite", "index.remove", "index.apply.session"),
  ],
  erasure: both("longTerm.erase", "history.erase", "journal.erase", "index.erase", "disk.unlink"),
} satisfies Record<string, readonly FaultPoint[]>;

/** Counts how often the armed point is come by, and kills the process where it was told to. */
export class FaultPoints {
  readonly #armed: Armed | null;
  #hits = 0;

  constructor(armed: Armed | null) {
    this.#armed = armed;
  }

  reach(point: FaultPoint): void {
    if (this.halfway(point)) die();
  }

  /** True when the caller is to do half of its work and {@link die}. */
  halfway(point: FaultPoint): boolean {
    if (this.#armed?.point !== point) return false;
    this.#hits += 1;
    return this.#hits === this.#armed.hit;
  }

  async around<T>(call: Call, work: () => Promise<T>): Promise<T> {
    this.reach(`${call}:before`);
    const result = await work();
    this.reach(`${call}:after`);
    return result;
  }
}

/** Nothing of this process runs after it: not a handler, not a flush. */
export function die(): never {
  process.kill(process.pid, "SIGKILL");
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}
