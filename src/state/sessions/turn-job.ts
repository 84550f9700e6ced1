import type { Owner } from "../../domain/owner.js";
import type { PendingTurn } from "../../ports/session-store.js";
import type { StoredEntry } from "../engine.js";
import type { PendingPut } from "../journal/session-changes.js";
import { jsonOf } from "../stored-rows.js";
import { TURN_JOBS } from "./keys.js";

/** A turn whose write-back is not done, as a job. */
export interface TurnJob extends Readonly<Omit<PendingPut, "turn">> {
  readonly v: 1;
  /** By the clock of whoever tries it. */
  readonly dueAtMs: number;
  /** Of the worker that has it, until then by the engine's clock. */
  readonly claim?: string;
  readonly claimedUntilMs?: number;
}

/** A job and where it lies. */
export interface StoredJob {
  readonly key: string;
  readonly version: number;
  readonly sessionId: string;
  readonly turn: number;
  readonly job: TurnJob;
}

/** Alarm of a partition in which all jobs were given up: it is found, and never due. */
export const NEVER_DUE_MS = 8_640_000_000_000_000;

export function storedJob(row: StoredEntry): StoredJob {
  const { key, version } = row;
  const [sessionId = "", turn = ""] = key.slice(TURN_JOBS.length).split("/");
  return { key, version, sessionId, turn: Number(turn), job: jsonOf<TurnJob>(row) };
}

export function isClaimed({ claimedUntilMs = 0 }: TurnJob, engineNowMs: number): boolean {
  return claimedUntilMs >= engineNowMs;
}

export function unclaimedJob({ claim: _, claimedUntilMs: _until, ...job }: TurnJob): TurnJob {
  return job;
}

/** When the job is to be looked at next. One that somebody has counts until its claim ends: whoever has it may be killed. */
export function alarmOf({ state, dueAtMs, claimedUntilMs }: TurnJob, engineNowMs: number): number {
  if (state === "failed") return NEVER_DUE_MS;
  return claimedUntilMs !== undefined && claimedUntilMs >= engineNowMs ? claimedUntilMs : dueAtMs;
}

export function pendingTurn(owner: Owner, { sessionId, turn, job }: Omit<StoredJob, "key" | "version">): PendingTurn {
  const { state, attempts, dueAtMs, errorCode, fromSeq } = job;
  return { owner, sessionId, turn, state, attempts, dueAtMs, errorCode, fromSeq };
}
