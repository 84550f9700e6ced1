import type { Commit, CommitResult } from "./engine.js";

/** Commits that a head remembers. */
const RECENT = 16;

/** What an engine keeps of a partition beside its entries: for engines that decide here, and not in their own language. */
export interface PartitionHead {
  readonly version: number;
  readonly epoch: number;
  readonly dueAtMs: number | null;
  /** Holds until `untilMs` by the engine's clock. */
  readonly claim: { readonly token: string; readonly untilMs: number } | null;
  /** Oldest first. */
  readonly recent: readonly { readonly id: string; readonly version: number; readonly epoch: number }[];
}

export const EMPTY_HEAD: PartitionHead = { version: 0, epoch: 0, dueAtMs: null, claim: null, recent: [] };

export interface Decision {
  readonly result: CommitResult;
  /** As it is after the commit; null: nothing is to be written, the commit was refused or had happened already. */
  readonly head: PartitionHead | null;
}

/** What becomes of a commit. `versionOf`: of an entry; null where there is none. `nowMs`: the engine's clock. */
export function decide(head: PartitionHead, commit: Commit, versionOf: (key: string) => number | null, nowMs: number): Decision {
  const known = head.recent.find(({ id }) => id === commit.id);
  if (known !== undefined) return { result: { ok: true, version: known.version, epoch: known.epoch }, head: null };
  const { version, epoch } = head;
  const refuse = (refused: "epoch" | "claim" | "version" | "checks", keys: readonly string[] = []): Decision => ({
    result: { ok: false, refused, keys, version, epoch },
    head: null,
  });
  if (commit.epoch !== undefined && commit.epoch !== epoch) return refuse("epoch");
  if (commit.claim !== undefined && !(isClaimed(head, nowMs) && head.claim?.token === commit.claim.token)) return refuse("claim");
  if (commit.version !== undefined && commit.version !== version) return refuse("version");
  const failed = (commit.checks ?? []).filter((check) => versionOf(check.key) !== check.version);
  if (failed.length > 0)
    return refuse(
      "checks",
      failed.map(({ key }) => key),
    );
  const after = { version: version + 1, epoch: commit.raisesEpoch === true ? epoch + 1 : epoch };
  return {
    result: { ok: true, ...after },
    head: {
      ...after,
      dueAtMs: alarmAfter(head.dueAtMs, commit),
      claim: claimAfter(head.claim, commit, nowMs),
      recent: [...head.recent.slice(1 - RECENT), { id: commit.id, ...after }],
    },
  };
}

export function isClaimed({ claim }: PartitionHead, nowMs: number): boolean {
  return claim !== null && claim.untilMs > nowMs;
}

/** The remembered commits stay: one that is asked for again must not happen again. */
export function erasedHead(head: PartitionHead): PartitionHead {
  return { ...head, version: head.version + 1, epoch: head.epoch + 1, dueAtMs: null, claim: null };
}

function alarmAfter(before: number | null, { dueAtMs, dueByMs }: Commit): number | null {
  const set = dueAtMs === undefined ? before : dueAtMs;
  if (dueByMs === undefined) return set;
  return set === null ? dueByMs : Math.min(set, dueByMs);
}

function claimAfter(before: PartitionHead["claim"], { claim }: Commit, nowMs: number): PartitionHead["claim"] {
  if (claim === undefined) return before;
  return claim.leaseMs > 0 ? { token: claim.token, untilMs: nowMs + claim.leaseMs } : null;
}
