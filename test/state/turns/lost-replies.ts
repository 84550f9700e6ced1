import { AppError } from "../../../src/platform/errors.js";
import type { Commit, StateEngine } from "../../../src/state/engine.js";
import { connected } from "./replicas.js";

/** `lost reply`: the write is done. `refusal`: it is not. Who writes is told neither. */
export type Fault = "lost reply" | "refusal";

/** An engine one of whose writes is not answered. */
export interface Unanswering {
  readonly engine: StateEngine;
  /** The n-th write from now on, from 1, is not answered as often as it is asked for, at most so many times. */
  lose(at: number, times: number, fault?: Fault): void;
  /** Whether there was such a write since. */
  readonly hasLost: boolean;
  /** Partition and keys of that write. */
  readonly lost: string;
}

export function unanswering(engine: StateEngine): Unanswering {
  const seen = new Set<unknown>();
  let at = 0;
  let left = 0;
  let chosen: unknown = null;
  let lost = "";
  let fault: Fault = "lost reply";
  const through = connected(engine, async (run, call, partition, given) => {
    if (call !== "commit" && call !== "erase") return run();
    const { id, puts = [], deletes = [] } = call === "commit" ? (given as Commit) : { id: {} };
    if (!seen.has(id)) {
      seen.add(id);
      if (seen.size === at) {
        chosen = id;
        lost = [call, partition, ...puts.map(({ key }) => key), ...deletes.map((key) => `-${key}`)].join(" ");
      }
    }
    if (id !== chosen || left === 0) return run();
    left -= 1;
    if (fault === "lost reply") await run();
    throw new AppError("STORAGE_UNAVAILABLE", { retryAfterSeconds: 1 });
  });
  return {
    engine: through,
    lose(place, times, how = "lost reply") {
      seen.clear();
      [at, left, chosen, lost, fault] = [place, times, null, "", how];
    },
    get hasLost() {
      return chosen !== null;
    },
    get lost() {
      return lost;
    },
  };
}
