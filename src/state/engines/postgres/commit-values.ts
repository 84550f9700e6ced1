import type { Commit } from "../../engine.js";
import { toStored } from "./stored-text.js";

/** The arguments of `sql/commit.sql`, in their order. */
export function commitValues(partition: string, commit: Commit): readonly unknown[] {
  const { checks = [], puts = [], deletes = [] } = commit;
  // Of a key that is put twice the last counts.
  const last = new Map(puts.map(({ key, value }) => [key, toStored(value)]));
  return [
    partition,
    commit.id,
    commit.epoch ?? null,
    commit.version ?? null,
    commit.claim?.token ?? null,
    whole(commit.claim?.leaseMs),
    commit.raisesEpoch ?? false,
    filled(checks.map(({ key }) => key)),
    filled(checks.map(({ version }) => version)),
    filled([...last.keys()]),
    filled([...last.values()]),
    filled(deletes),
    commit.dueAtMs !== undefined,
    whole(commit.dueAtMs),
    whole(commit.dueByMs),
  ];
}

/** Null where there is nothing: what is null is passed over without a statement. */
function filled<T>(values: readonly T[]): readonly T[] | null {
  return values.length === 0 ? null : values;
}

/** Of a time in milliseconds. */
function whole(ms: number | null | undefined): number | null {
  return ms === undefined || ms === null ? null : Math.ceil(ms);
}
