import { isCurrent } from "../domain/summary.js";
import { blockOf, windowStart } from "../domain/window.js";
import type { Tombstone } from "../ports/owner-ledger.js";
import type { WindowRead } from "../ports/session-store.js";

/** Rounds to read so that a window of `rounds` can slide in blocks and wait for a summary. */
export function roundsToRead(rounds: number): number {
  return rounds + 2 * blockOf(rounds) - 1;
}

/**
 * What a turn goes on from, of what was read: at least the newest `rounds`, and less than a block more. A block leaves when the summary
 * has taken it in, so that no round is in neither, with what the summary took in beyond it; for a summary that doesn't come it waits one
 * block long. Of no rounds, the newest: what it asked may be answered now.
 */
export function shownWindow(read: WindowRead, rounds: number): WindowRead {
  if (rounds === 0) return { ...read, rounds: read.rounds.slice(-1) };
  const block = blockOf(rounds);
  const turns = read.rounds.map(({ turn }) => turn);
  const start = windowStart(turns, rounds, block);
  const behind = (read.summary?.body.to_turn ?? 0) + 1;
  const isWithin = behind <= Math.max(start, turns.at(-rounds) ?? start);
  const from = isWithin ? Math.max(behind, start - block) : start;
  return { ...read, rounds: read.rounds.filter(({ turn }) => turn >= from) };
}

/**
 * The rounds to keep of those that fit into the budget, oldest first: it begins with a turn that the next turns begin with too, and keeps
 * more than half.
 */
export function inBlocks<T extends { readonly turn: number }>(fitting: readonly T[]): readonly T[] {
  const [oldest] = fitting;
  if (oldest === undefined || fitting.length < 4) return fitting;
  const step = 2 ** Math.floor(Math.log2(fitting.length / 2));
  const start = Math.ceil((oldest.turn - 1) / step) * step + 1;
  return fitting.filter(({ turn }) => turn >= start);
}

/** The summary's text; null for one that may still tell what was forgotten since. */
export function currentSummary({ summary }: WindowRead, tombstones: readonly Tombstone[]): string | null {
  return summary !== null && isCurrent(summary, tombstones) ? summary.body.text : null;
}
