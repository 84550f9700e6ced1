import type { AppliedOperations, MemoryOperation } from "../long-term.js";
import type { Tombstone } from "../owner-ledger.js";
import type { Category } from "./categories.js";
import { type Claim, recordFrom } from "./claim.js";
import { MAX_CONFIRMATIONS, type MemoryRecord } from "./record.js";
import { aspectsAgree, contained, normalised, overlap, sameSubject, saySame } from "./same-statement.js";
import { ended, settle, slotOf, supersededBy, withEvent } from "./slots.js";

/**
 * The rules of long-term memory, as a pure function: (memories, operations, now) → changes. Repeating it on its own
 * outcome changes nothing, so that a plan can be replayed after any crash.
 */
export interface ReconcileOptions {
  readonly now: Date;
  /** Statements below it are dropped. */
  readonly minConfidence: number;
  readonly tombstones: readonly Tombstone[];
  /** What tombstones keep of a text. */
  readonly hash: (text: string) => string;
  readonly categories: readonly Category[];
}

export interface Changes {
  readonly created: readonly MemoryRecord[];
  /** As they are after the change. */
  readonly updated: readonly MemoryRecord[];
  readonly forgotten: readonly string[];
  readonly outcome: AppliedOperations;
  /** Claim id → id of the memory that stands for it: itself, or the one that it confirmed. */
  readonly resolved: ReadonlyMap<string, string>;
}

/** Sightings in different messages after which what was only inferred holds. */
const INFERRED_AFTER = 3;

type Step = { readonly statedAt: string; readonly messageId: string } & (
  | { readonly kind: "claim"; readonly claim: Claim }
  | { readonly kind: "end" | "confirm" | "forget"; readonly target: string }
);

export function reconcile(memories: readonly MemoryRecord[], operations: readonly MemoryOperation[], options: ReconcileOptions): Changes {
  return reconcileSteps(memories, operations.map(stepOf), options);
}

/** Statements that no extractor proposed: what the user adds by hand. */
export function reconcileClaims(memories: readonly MemoryRecord[], claims: readonly Claim[], options: ReconcileOptions): Changes {
  const steps = claims.map(
    (claim): Step => ({ kind: "claim", claim, statedAt: claim.statedAt, messageId: claim.source?.message_id ?? "" }),
  );
  return reconcileSteps(memories, steps, options);
}

/** The slots of records that were changed from outside (approved, restored), settled. */
export function resettle(memories: readonly MemoryRecord[], changed: readonly MemoryRecord[], options: ReconcileOptions): Changes {
  const work = new Reconciliation(memories, options, new Set());
  for (const record of changed) work.put(record);
  return work.changes();
}

function reconcileSteps(memories: readonly MemoryRecord[], steps: readonly Step[], options: ReconcileOptions): Changes {
  const forgetting = new Set(steps.flatMap((step) => (step.kind === "forget" ? [step.messageId] : [])));
  const work = new Reconciliation(memories, options, forgetting);
  const ordered = [...steps].sort(
    (a, b) => Date.parse(a.statedAt) - Date.parse(b.statedAt) || (a.messageId < b.messageId ? -1 : a.messageId > b.messageId ? 1 : 0),
  );
  for (const step of ordered) {
    if (step.kind === "claim") work.claim(step.claim);
    else work[step.kind](step.target, step.statedAt, step.messageId);
  }
  return work.changes();
}

function stepOf(operation: MemoryOperation): Step {
  const { stated_at: statedAt, source } = operation;
  const at = { statedAt, messageId: source.message_id };
  if (operation.op === "confirm" || operation.op === "forget") return { ...at, kind: operation.op, target: operation.target_id };
  const { statement } = operation;
  if (statement === null) return { ...at, kind: "end", target: operation.op === "supersede" ? operation.target_id : "" };
  const replaces = operation.op === "supersede" ? operation.target_id : null;
  const review = operation.op === "add" && operation.review;
  return { ...at, kind: "claim", claim: { id: operation.memory_id, statedAt, source, statement, review, replaces } };
}

class Reconciliation {
  readonly #options: ReconcileOptions;
  readonly #before: ReadonlyMap<string, MemoryRecord>;
  readonly #records: Map<string, MemoryRecord>;
  /** Messages that forget something themselves: what else they say is not what was forgotten. */
  readonly #forgetting: ReadonlySet<string>;
  readonly #resolved = new Map<string, string>();
  readonly #confirmed = new Set<string>();
  readonly #forgotten = new Set<string>();
  #dropped = 0;

  constructor(memories: readonly MemoryRecord[], options: ReconcileOptions, forgetting: ReadonlySet<string>) {
    this.#options = options;
    this.#before = new Map(memories.map((record) => [record.id, record]));
    this.#records = new Map(this.#before);
    this.#forgetting = forgetting;
  }

  claim(claim: Claim): void {
    const { now, categories, minConfidence } = this.#options;
    const record = recordFrom(claim, now, categories);
    const stored = this.#records.get(claim.id);
    if (stored !== undefined) {
      this.#resolved.set(claim.id, claim.id);
      if (stored.status === "active") this.#takePlace(stored, claim.replaces);
      return;
    }
    const taken = this.#takenUp(record);
    if (taken !== undefined) {
      this.#resolved.set(claim.id, taken.id);
      this.#confirmed.add(taken.id);
      return;
    }
    const over = record.valid_until !== null && Date.parse(record.valid_until) <= Date.parse(record.stated_at);
    if (over || claim.statement.confidence < minConfidence || this.#wasForgotten(record)) {
      this.#dropped += 1;
      return;
    }

    const same = this.#same(record, claim);
    if (same !== undefined && this.#merge(same, record, claim)) return;
    this.#resolved.set(record.id, record.id);
    this.#records.set(record.id, record);
    if (record.status === "active") {
      if (same !== undefined) this.#supersede(same, record);
      this.#takePlace(record, claim.replaces);
    }
  }

  /** The user said that it no longer holds, and nothing in its place. */
  end(target: string, statedAt: string): void {
    const record = this.#records.get(target);
    if (record === undefined || isNewer(record, statedAt)) {
      this.#dropped += 1;
      return;
    }
    if (record.status === "superseded") return;
    this.#records.set(target, ended(record, new Date(statedAt).toISOString(), null, this.#options.now));
  }

  confirm(target: string, statedAt: string, messageId: string): void {
    const record = this.#records.get(target);
    if (record === undefined || (record.status !== "active" && record.explicit)) {
      this.#dropped += 1;
      return;
    }
    this.#see(record, new Date(statedAt).toISOString(), messageId, null);
  }

  forget(target: string, statedAt: string): void {
    const record = this.#records.get(target);
    if (record === undefined || isNewer(record, statedAt)) {
      this.#dropped += 1;
      return;
    }
    this.#records.delete(target);
    this.#forgotten.add(target);
  }

  /** Takes a record as it is and settles what stands beside it. */
  put(record: MemoryRecord): void {
    this.#records.set(record.id, record);
    this.#settle(record);
  }

  changes(): Changes {
    const created: MemoryRecord[] = [];
    const updated: MemoryRecord[] = [];
    const superseded: string[] = [];
    for (const [id, record] of this.#records) {
      const before = this.#before.get(id);
      if (before === undefined) created.push(record);
      else if (before !== record) updated.push(record);
      if (before !== undefined && before !== record && record.status === "superseded" && before.status !== "superseded")
        superseded.push(id);
    }
    const stored = [...this.#resolved].filter(([claim, memory]) => claim === memory).map(([claim]) => claim);
    return {
      created,
      updated,
      forgotten: [...this.#forgotten],
      outcome: { stored, confirmed: [...this.#confirmed], superseded, forgotten: [...this.#forgotten], dropped: this.#dropped },
      resolved: this.#resolved,
    };
  }

  /** What was forgotten stays so for everything said before: by its id, by its words, and by the message that it came from. */
  #wasForgotten(record: MemoryRecord): boolean {
    const hash = this.#options.hash(record.text);
    const messageId = record.source?.message_id;
    return this.#options.tombstones.some((tombstone) => {
      if (tombstone.memoryId === record.id) return true;
      if (Date.parse(record.stated_at) > Date.parse(tombstone.at)) return false;
      const asks = messageId !== undefined && (this.#forgetting.has(messageId) || tombstone.askedIn?.includes(messageId) === true);
      const hidden = messageId !== undefined && !asks && tombstone.messageIds.includes(messageId);
      return hidden || tombstone.textHash === hash;
    });
  }

  /** The memory that this very message confirmed before, whatever became of it since: a replay. */
  #takenUp(record: MemoryRecord): MemoryRecord | undefined {
    const messageId = record.source?.message_id;
    if (messageId === undefined) return undefined;
    return [...this.#records.values()].find((other) => other.confirmed_by.includes(messageId) && saySame(other, record));
  }

  /** A memory that says the same already. */
  #same(record: MemoryRecord, claim: Claim): MemoryRecord | undefined {
    const found = [...this.#records.values()].filter(
      (other) =>
        (other.status === "active" || other.status === "review") &&
        isTemporary(other) === isTemporary(record) &&
        (other.type === "episodic") === (record.type === "episodic") &&
        !overBefore(other, record) &&
        (saySame(other, record) || isTwin(other, record)) &&
        (record.type !== "episodic" || sameOccasion(other, record)),
    );
    return (
      found.find((other) => other.status === "active") ?? found.find((other) => !other.explicit) ?? (claim.review ? found[0] : undefined)
    );
  }

  /** True when the claim is taken up by a memory that is there. */
  #merge(same: MemoryRecord, record: MemoryRecord, claim: Claim): boolean {
    // What waits for approval changes nothing that holds.
    if (claim.review) {
      if (same.status === "review") this.#resolved.set(claim.id, same.id);
      this.#dropped += 1;
      return true;
    }
    if (record.explicit && record.strength === "hard" && same.strength === "soft") return false;
    this.#resolved.set(claim.id, same.id);
    const standing = record.explicit && !same.explicit ? { ...same, explicit: true, status: "active" as const } : same;
    this.#see(standing, record.stated_at, record.source?.message_id ?? `by-hand:${record.stated_at}`, record.valid_until);
    if (claim.replaces !== null && claim.replaces !== same.id) this.#takePlace(this.#records.get(same.id) ?? same, claim.replaces);
    return true;
  }

  /** The same said again: counts once a message. What was inferred holds from the third message on, unless something explicit speaks against it. */
  #see(record: MemoryRecord, statedAt: string, messageId: string, end: string | null): void {
    this.#confirmed.add(record.id);
    const { now } = this.#options;
    const again = record.source?.message_id === messageId || record.confirmed_by.includes(messageId);
    const seen: MemoryRecord = again
      ? record
      : {
          ...record,
          seen_count: record.seen_count + 1,
          confidence: record.confidence + (1 - record.confidence) / 2,
          last_confirmed_at: statedAt > record.last_confirmed_at ? statedAt : record.last_confirmed_at,
          valid_until: record.valid_until === null || end === null || end < record.valid_until ? record.valid_until : end,
          confirmed_by: [...record.confirmed_by, messageId].slice(-MAX_CONFIRMATIONS),
          events: withEvent(record, now, "confirmed"),
          updated_at: now.toISOString(),
        };
    const holds = !seen.explicit && seen.status === "review" && seen.seen_count >= INFERRED_AFTER && !this.#contradicted(seen);
    const outcome: MemoryRecord = holds ? { ...seen, status: "active" } : seen;
    if (outcome === this.#records.get(record.id)) return;
    this.#records.set(record.id, outcome);
    if (outcome.status === "active") this.#settle(outcome);
  }

  #contradicted(record: MemoryRecord): boolean {
    const slot = slotOf(record, isTemporary(record));
    return slot !== null && this.#slotMembers(slot).some((other) => other.explicit && other.status === "active");
  }

  #takePlace(record: MemoryRecord, target: string | null): void {
    const replaced = target === null || target === record.id ? undefined : this.#records.get(target);
    if (replaced !== undefined && mayReplace(record, replaced)) this.#supersede(replaced, record);
    this.#settle(record);
  }

  #supersede(record: MemoryRecord, successor: MemoryRecord): void {
    if (record.status === "superseded") return;
    this.#records.set(record.id, supersededBy(record, successor, this.#options.now));
  }

  #settle(record: MemoryRecord): void {
    const slot = slotOf(record, isTemporary(record));
    if (slot === null) return;
    for (const changed of settle(this.#slotMembers(slot), this.#options.now)) this.#records.set(changed.id, changed);
  }

  /** The active ones of a slot, and the past that leads to them. */
  #slotMembers(slot: Slot): MemoryRecord[] {
    const inSlot = [...this.#records.values()].filter((record) => slotOf(record, isTemporary(record)) === slot);
    const ids = new Set(inSlot.map((record) => record.id));
    return inSlot.filter(
      (record) =>
        record.status === "active" || (record.status === "superseded" && record.superseded_by !== null && ids.has(record.superseded_by)),
    );
  }
}

type Slot = string;

/** For this trip, or with an end of its own. A superseded memory has an end too: its own was none while `scope` is standing. */
function isTemporary(record: MemoryRecord): boolean {
  return record.scope === "trip" || (record.valid_until !== null && record.status !== "superseded");
}

/** A newer statement; a hard constraint only by an explicit one about the same thing. */
function mayReplace(record: MemoryRecord, replaced: MemoryRecord): boolean {
  if (replaced.status === "superseded" || compareTime(record, replaced) < 0) return false;
  if (!record.explicit && replaced.explicit) return false;
  if (replaced.strength === "soft") return true;
  return (
    sameSubject(record, replaced) && record.category === replaced.category && normalised(record.aspect) === normalised(replaced.aspect)
  );
}

function compareTime(a: MemoryRecord, b: MemoryRecord): number {
  return Date.parse(a.last_confirmed_at) - Date.parse(b.last_confirmed_at);
}

function isNewer(record: MemoryRecord, statedAt: string): boolean {
  return Date.parse(record.last_confirmed_at) > Date.parse(statedAt);
}

function overBefore(record: MemoryRecord, other: MemoryRecord): boolean {
  return record.valid_until !== null && Date.parse(record.valid_until) <= Date.parse(other.stated_at);
}

/** Two accounts of one message, such as the tool's that remembered it and the extractor's: overlapping quotes about the same thing. */
function isTwin(a: MemoryRecord, b: MemoryRecord): boolean {
  if (a.source === null || b.source === null || a.source.message_id !== b.source.message_id) return false;
  if (!sameSubject(a, b) || !quotesOverlap(a.source.quote, b.source.quote)) return false;
  if (a.category === b.category && !aspectsAgree(a, b)) return false;
  const oneUnnamed = (a.aspect === "") !== (b.aspect === "");
  return (
    (a.category === b.category && a.aspect !== "" && normalised(a.aspect) === normalised(b.aspect)) ||
    contained(a.text, b.text) >= 0.5 ||
    (oneUnnamed && overlap(a.text, b.text))
  );
}

function quotesOverlap(a: string, b: string): boolean {
  const [left, right] = [normalised(a), normalised(b)];
  return left.includes(right) || right.includes(left);
}

/** What happened is told again on the same day; on another day it is another event. */
function sameOccasion(a: MemoryRecord, b: MemoryRecord): boolean {
  return Math.abs(Date.parse(a.stated_at) - Date.parse(b.stated_at)) < 86_400_000;
}
