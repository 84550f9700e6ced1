import { AppError } from "../../../src/platform/errors.js";
import type { Commit, StateEngine } from "../../../src/state/engine.js";
import { connected } from "./replicas.js";

/** An engine that does what it is asked, and whose reply to one write is lost. */
export interface Unanswering {
  readonly engine: StateEngine;
  /** The reply to the n-th write from now on, from 1, is lost as often as it is asked for, at most so many times. */
  lose(at: number, times: number): void;
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
    const result = await run();
    if (id !== chosen || left === 0) return result;
    left -= 1;
    throw new AppError("STORAGE_UNAVAILABLE", { retryAfterSeconds: 1 });
  });
  return {
    engine: through,
    lose(place, times) {
      seen.clear();
      [at, left, chosen, lost] = [place, times, null, ""];
    },
    get hasLost() {
      return chosen !== null;
    },
    get lost() {
      return lost;
    },
  };
}
