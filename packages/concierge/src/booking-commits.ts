import { setTimeout as pause } from "node:timers/promises";
import type { Commit, StateEngine } from "maitred";
import { committed, MaitredError } from "maitred/domain";

/** Looks and commits of one change, before it is given up: each one that is refused was overtaken by another that went through. */
const TRIES = 100;
/** From the fourth try on, in milliseconds, at random up to this. */
const MAX_PAUSE_MS = 20;

/** Looks again and again until the change is made on what is there. `attempt` answers null where it was overtaken. */
export async function untilKept<Result>(attempt: () => Promise<Result | null>): Promise<Result> {
  for (let tries = 1; tries <= TRIES; tries++) {
    const result = await attempt();
    if (result !== null) return result;
    if (tries > 3) await pause(Math.random() * MAX_PAUSE_MS);
  }
  throw new MaitredError("STORAGE_UNAVAILABLE", { detail: "Too many change the same bookings at once." });
}

/** Whether it went through. @throws OWNER_ERASED where the partition was erased since `epoch` */
export async function kept(engine: StateEngine, partition: string, commit: Omit<Commit, "id">): Promise<boolean> {
  const result = await committed(engine, partition, commit);
  if (!result.ok && result.refused === "epoch") throw new MaitredError("OWNER_ERASED");
  return result.ok;
}
