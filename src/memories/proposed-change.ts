import type { MemorySource, Statement, WaitingReason } from "../domain/memory.js";
import type { MemoryRecord } from "../domain/memory-record.js";
import { memoryIdOf, type Owner } from "../domain/owner.js";
import type { AllAbout, CheckedOperation } from "./checked-operation.js";
import { isNamedIn, SaidWords } from "./checks/said-words.js";
import { Companions, nameOf } from "./companions.js";

/** One operation on its way to be reconciled, whoever proposed it. */
export interface ProposedChange {
  readonly op: CheckedOperation["op"];
  /** The id of the memory to be; unused where none comes of it. */
  readonly id: string;
  readonly target_id: string | null;
  readonly statement: Statement | null;
  /** Null: it takes effect at once. */
  readonly waits: WaitingReason | null;
  /** ISO 8601. */
  readonly stated_at: string;
  /** Null when the guest states it by hand. */
  readonly source: MemorySource | null;
}

/**
 * What a message gives, as changes, with the ids that its memories will have whenever they are carried out. `records`: what is known, of
 * which all that is about somebody is forgotten; default nothing.
 */
export function changesOf(
  owner: Owner,
  said: {
    readonly session_id: string;
    readonly turn: number;
    readonly message_id: string;
    readonly stated_at: Date;
    readonly channel: string;
  },
  operations: readonly CheckedOperation[],
  records: ReadonlyMap<string, MemoryRecord> = new Map(),
): ProposedChange[] {
  const { session_id, turn, message_id } = said;
  const changeOf = (operation: CheckedOperation): ProposedChange => ({
    op: operation.op,
    id: memoryIdOf(owner, session_id, message_id, operation.index),
    target_id: operation.target_id,
    statement:
      operation.statement === null
        ? null
        : { ...operation.statement, channel: operation.statement.channel === "" ? said.channel : operation.statement.channel },
    waits: operation.waits === null || !operation.brought_along ? operation.waits : "brought_along",
    stated_at: said.stated_at.toISOString(),
    source: { session_id, turn, message_id, quote: operation.quote },
  });
  return operations.flatMap((operation) => {
    const change = changeOf(operation);
    const forgotten = operation.all_about === undefined ? [] : forgettingsOf(operation.all_about, operation.waits, records);
    return forgotten.length === 0 ? [change] : forgotten.map((each) => ({ ...change, ...each }));
  });
}

const TAKES_AWAY: ReadonlySet<ProposedChange["op"]> = new Set(["end", "forget"]);

/** What would take something away waits: the guest was asked what they mean. */
export function waitingForAnswer(changes: readonly ProposedChange[]): ProposedChange[] {
  return changes.map((change) => (TAKES_AWAY.has(change.op) ? { ...change, waits: change.waits ?? "unclear_change" } : change));
}

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
function forgettingsOf(about: AllAbout, waits: WaitingReason | null, records: ReadonlyMap<string, MemoryRecord>): Forgetting[] {
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
