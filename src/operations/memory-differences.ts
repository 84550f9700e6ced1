import type { Memory } from "../domain/memory.js";
import { normalised } from "../domain/normalised-text.js";

/** What of a memory two readings of the same messages are compared by. */
export type ComparedMemory = Pick<Memory, "text" | "category" | "need" | "subject" | "strength" | "stated_at"> & {
  /** `review`: it waits for the guest's word. */
  readonly status: "active" | "review";
  readonly quote: string | null;
};

export interface MemoryDifferences {
  readonly same: number;
  readonly added: readonly ComparedMemory[];
  readonly lost: readonly ComparedMemory[];
  readonly changed: readonly { readonly before: ComparedMemory; readonly after: ComparedMemory }[];
  /** What must hold and is lost, or is soft now; those are among the lost and the changed, too. */
  readonly needs_lost: readonly ComparedMemory[];
}

/**
 * Pairs memories of before with those of now: those that say the same of the same person, then those of one need, then those of one message
 * and category. What is left over was lost, or added.
 */
export function memoryDifferences(before: readonly ComparedMemory[], after: readonly ComparedMemory[]): MemoryDifferences {
  const left = new Set(after);
  const pairs: { readonly before: ComparedMemory; readonly after: ComparedMemory }[] = [];
  let unpaired = [...before];
  for (const keyOf of KEYS) {
    const byKey = new Map<string | null, ComparedMemory[]>();
    for (const each of left) byKey.set(keyOf(each), [...(byKey.get(keyOf(each)) ?? []), each]);
    unpaired = unpaired.filter((each) => {
      const key = keyOf(each);
      const pair = key === null ? undefined : byKey.get(key)?.shift();
      if (pair === undefined) return true;
      left.delete(pair);
      pairs.push({ before: each, after: pair });
      return false;
    });
  }
  const changed = pairs.filter((pair) => !isSame(pair.before, pair.after));
  const softened = changed.filter((pair) => pair.before.strength === "hard" && pair.after.strength === "soft");
  return {
    same: pairs.length - changed.length,
    added: [...left],
    lost: unpaired,
    changed,
    needs_lost: [...unpaired.filter(({ strength }) => strength === "hard"), ...softened.map((pair) => pair.before)],
  };
}

const KEYS: readonly ((memory: ComparedMemory) => string | null)[] = [
  ({ subject, text }) => JSON.stringify([subject, normalised(text)]),
  ({ subject, need }) => need && JSON.stringify([subject, need]),
  ({ subject, category, stated_at }) => JSON.stringify([subject, category, Date.parse(stated_at)]),
];

function isSame(a: ComparedMemory, b: ComparedMemory): boolean {
  return normalised(a.text) === normalised(b.text) && a.strength === b.strength && a.status === b.status;
}
