import { setTimeout as pause } from "node:timers/promises";
import { AppError, type AppErrorOptions, isAppError } from "../platform/errors.js";
import { newId } from "../platform/ids.js";
import type { Commit, CommitResult, StateEngine } from "./engine.js";

/** Waits before a commit is asked about again, in milliseconds. */
const ASK_AGAIN_MS = [20, 100, 400];
const TRY_AGAIN_MS = 1_000;

/** Thrown by an engine that knows that nothing came of a commit. */
export class NotCommitted extends AppError {
  constructor(options: AppErrorOptions) {
    super("STORAGE_UNAVAILABLE", options);
  }
}

/**
 * A commit whose outcome is known: where the reply was lost it is asked for again by the same id, which changes nothing if it happened.
 * @throws STORAGE_UNAVAILABLE where the engine did not answer four times, or answered that nothing came of it
 */
export async function committed(engine: StateEngine, partition: string, commit: Omit<Commit, "id">): Promise<CommitResult> {
  const identified = { ...commit, id: newId() };
  for (const waitMs of ASK_AGAIN_MS) {
    try {
      return await engine.commit(partition, identified);
    } catch (error) {
      if (!isAppError(error, "STORAGE_UNAVAILABLE") || error instanceof NotCommitted) throw error;
      await pause(waitMs);
    }
  }
  return engine.commit(partition, identified);
}

/** What is tried each second until the engine answers, or the time is over, by `performance.now()`. Never rejects, and keeps no process. */
export async function onceAnswered(until: number, work: () => Promise<void>): Promise<void> {
  while (performance.now() < until) {
    await pause(TRY_AGAIN_MS, undefined, { ref: false });
    try {
      return await work();
    } catch (error) {
      if (!isAppError(error, "STORAGE_UNAVAILABLE")) return;
    }
  }
}
