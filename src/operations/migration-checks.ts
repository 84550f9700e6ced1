import { setTimeout as pause } from "node:timers/promises";
import { AppError } from "../platform/errors.js";
import type { MovableState, ReadableJournals } from "../ports/transfer.js";
import { prefixRange, type StateEngine } from "../state/engine.js";
import { LOCKS } from "../state/sessions/keys.js";
import { LOCKS_PARTITION } from "./portable-entries.js";

const LOOK_AGAIN_MS = 250;

/**
 * The leases of `s:locks` that are held now, by the engine's clock: when each ends, by key. `except`: the key of the caller's own, as its
 * lock has it.
 */
export async function leasesIn(engine: StateEngine, except: string | null = null): Promise<ReadonlyMap<string, number>> {
  const { nowMs, ranges } = await engine.read(LOCKS_PARTITION, { ranges: [prefixRange(LOCKS)] });
  const held = new Map<string, number>();
  for (const { key, value } of ranges[0] ?? []) {
    const { untilMs } = JSON.parse(value) as { readonly untilMs?: unknown };
    if (typeof untilMs === "number" && untilMs >= nowMs && key !== except) held.set(key, untilMs);
  }
  return held;
}

/**
 * Waits for the leases of processes that were killed, which end by themselves; one that is renewed, or new, is of a process that runs.
 * @throws STORAGE_IN_USE
 */
export async function requireUnused(state: Pick<MovableState, "name" | "leases">, signal: AbortSignal): Promise<void> {
  const first = await state.leases();
  for (let held = first; held.size > 0; held = await state.leases()) {
    for (const [key, until] of held) {
      if (until === first.get(key)) continue;
      throw new AppError("STORAGE_IN_USE", {
        detail: `Another Maitred uses ${state.name}: ${held.size === 1 ? "a lease" : `${held.size} leases`} there is renewed.`,
        hint: "Stop every server and command that uses it, and run this again.",
      });
    }
    await pause(LOOK_AGAIN_MS, undefined, { signal });
  }
}

export interface JournalDamage {
  readonly records: number;
  readonly journals: number;
}

/** Counts what a move would leave behind: damaged records, and journals that nobody can tell the owner of. */
export async function damageIn({ keptIn, store }: ReadableJournals): Promise<JournalDamage> {
  if (keptIn === "rows") return { records: 0, journals: 0 };
  const listed = new Set<string>();
  for await (const { sessionId } of store.list()) listed.add(sessionId);
  let records = 0;
  let journals = 0;
  for await (const { sessionId, damagedLines } of store.check()) {
    records += damagedLines.length;
    if (!listed.has(sessionId)) journals += 1;
  }
  return { records, journals };
}
