import type { Owner } from "../../domain/owner.js";
import type { Session } from "../../domain/session.js";
import { isId } from "../../platform/ids.js";
import { prefixRange, type StateEngine } from "../engine.js";
import type { SessionState } from "../journal/session-fold.js";
import { ownerPartition } from "../partition.js";
import { jobsOf, sessionRange } from "./keys.js";
import { headOf } from "./session-row.js";
import { type StoredJob, storedJob } from "./turn-job.js";

/** Sessions read in one step: two ranges each. */
const TOGETHER = 50;

export interface ReadSession {
  readonly session: Session;
  readonly state: SessionState;
}

/** Null where the owner has no such session. */
export async function readSession(engine: StateEngine, owner: Owner, sessionId: string): Promise<Session | null> {
  const [found] = await readSessions(engine, owner, [sessionId]);
  return found?.session ?? null;
}

/** Those that the owner has, in the order of the ids. */
export async function readSessions(engine: StateEngine, owner: Owner, ids: readonly string[]): Promise<readonly ReadSession[]> {
  const found: ReadSession[] = [];
  const valid = ids.filter(isId);
  for (let at = 0; at < valid.length; at += TOGETHER) {
    const batch = valid.slice(at, at + TOGETHER);
    const query = batch.flatMap((id) => [sessionRange(id), prefixRange(jobsOf(id))]);
    const { ranges } = await engine.read(ownerPartition(owner), { ranges: query });
    for (let place = 0; place < batch.length; place++) {
      const state = headOf(owner, ranges[2 * place] ?? [])?.state ?? null;
      if (state !== null) found.push({ session: sessionWith(state, (ranges[2 * place + 1] ?? []).map(storedJob)), state });
    }
  }
  return found;
}

function sessionWith({ session, statusSince }: SessionState, jobs: readonly StoredJob[]): Session {
  const failed = jobs.filter(({ job }) => job.state === "failed").length;
  return { ...session, status_since: statusSince, write_back: { pending_turns: jobs.length - failed, failed_turns: failed } };
}
