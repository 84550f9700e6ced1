import { Cron } from "croner";
import type { Logger } from "../platform/logger.js";
import type { JobKind } from "../ports/operator.js";
import type { InstallationJobs } from "./jobs.js";

const HOUR_MS = 3_600_000;

export interface JobSchedule {
  readonly kind: JobKind;
  readonly everyHours: number;
  readonly jobs: Pick<InstallationJobs, "startScheduled">;
  readonly logger: Logger;
}

/**
 * Begins a job at every full hour that is at least `everyHours` after the one before, whichever process began that, a stop and a start
 * between them included. Never throws.
 */
export function scheduleJob({ kind, everyHours, jobs, logger }: JobSchedule): {
  stop(): void;
  /** Begins one now, if it is its time. */
  trigger(): Promise<void>;
} {
  // Clocks of several processes, and timers, don't meet the hour exactly.
  const notWithinMs = (everyHours - 0.5) * HOUR_MS;
  const trigger = async () => {
    await jobs.startScheduled(kind, notWithinMs).catch((error: unknown) => {
      logger.error({ kind, err: error }, "a scheduled job could not begin; the next full hour tries again");
    });
  };
  const cron = new Cron("0 0 * * * *", { unref: true, protect: true }, trigger);
  return { stop: () => cron.stop(), trigger };
}
