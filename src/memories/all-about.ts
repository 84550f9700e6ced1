import type { WaitingReason } from "../domain/memory.js";
import type { MemoryRecord } from "../domain/memory-record.js";
import type { AllAbout } from "./checked-operation.js";
import { isNamedIn } from "./checks/named-thing.js";
import { SaidWords } from "./checks/said-words.js";
import { Companions, nameOf } from "./companions.js";

interface Forgetting {
  readonly target_id: string;
  /** Null: at once. */
  readonly waits: WaitingReason | null;
}

/**
 * The forgettings that "forget what you know about my mum" comes to. Soft memories of a person's own go at once, and so does the only one
 * that names a thing. Where one of them must hold, or merely names the person, all of them wait: the guest hears first which they are, and
 * what was gone already could not be told with them. What must hold and waits already is left to that question. `waits`: why all of it
 * does, else null.
 */
export function forgettingsOf(about: AllAbout, waits: WaitingReason | null, records: ReadonlyMap<string, MemoryRecord>): Forgetting[] {
  const { theirs, naming } = memoriesAbout(about, records);
  const all = [...theirs, ...naming];
  const isPlain = naming.length === 0 || all.length === 1;
  const goes = waits === null && isPlain && all.every(({ strength, status }) => strength === "soft" || status === "superseded");
  if (goes) return all.map(({ id }) => ({ target_id: id, waits: null }));
  return all.filter(({ status }) => status === "active").map(({ id }) => ({ target_id: id, waits: waits ?? "unclear_change" }));
}

/** Those of the person, and others that name them or the thing; what must hold first, as only so many may wait. */
function memoriesAbout(
  { subject, thing }: AllAbout,
  records: ReadonlyMap<string, MemoryRecord>,
): { readonly theirs: readonly MemoryRecord[]; readonly naming: readonly MemoryRecord[] } {
  const companions = new Companions(records.values());
  const names = [thing, nameOf(subject) ?? ""].filter((name) => name.trim() !== "");
  const all = [...records.values()].sort((a, b) => rank(a) - rank(b));
  const theirs = all.filter((record) => subject !== "self" && mayBeForgotten(record) && companions.same(record.subject, subject));
  const naming = all.filter((record) => {
    if (record.status !== "active" || theirs.includes(record)) return false;
    const said = new SaidWords([record.text, record.about, ...record.entities].join(" "));
    return names.some((name) => isNamedIn(name, said));
  });
  return { theirs, naming };
}

/** An older version goes with the newest one. */
function mayBeForgotten({ status, strength, superseded_by }: MemoryRecord): boolean {
  return status === "review" ? strength === "soft" : status !== "superseded" || superseded_by === null;
}

function rank({ strength }: MemoryRecord): number {
  return strength === "hard" ? 0 : 1;
}
