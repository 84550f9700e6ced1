// Over 300 lines: the rules of one reconciliation, which stand on each other.

import { normalised } from "../domain/folded-text.js";
import type { PendingChange } from "../domain/memory.js";
import type { MemoryRecord } from "../domain/memory-record.js";
import { countOtherwise, sayOtherNumbers } from "../languages/numbers.js";
import { Companions, nameOf } from "./companions.js";
import type { ProposedChange } from "./proposed-change.js";
import type { Reconciled, ReconcileRules } from "./reconciled.js";
import { activated, ended, expiredWaiting, isBefore, isNewer, messageOf, overBefore, seenAgain, supersededBy } from "./record-changes.js";
import { isNamedNeed, isTurned, isTwin, restates, sameFrame, saySame, saysPlainly, standsBeside, tellsNeedOf } from "./same-memory.js";
import { isSingleValued } from "./spelling.js";
import { recordFrom } from "./statement-record.js";
import { wasForgotten } from "./unforgotten.js";

export type { Reconciled, ReconcileRules } from "./reconciled.js";

/** Sightings in different messages after which what was only inferred holds. */
const INFERRED_AFTER = 3;
/** Of a companion. */
const MAX_NAMES = 12;
export const MAX_WAITING_PER_MESSAGE = 5;
export const MAX_WAITING = 20;

/**
 * What changes make of an owner's memories. The model decides what replaces what: only a named target ends or is superseded. Two hard
 * constraints never merge or replace each other because they share a category or an aspect. Without a target only a soft memory of an
 * aspect that holds one value gives way, or a taste to its opposite, to one of the same person under the same condition. Pure; the same
 * changes again change nothing.
 */
export function reconcile(memories: Iterable<MemoryRecord>, changes: readonly ProposedChange[], rules: ReconcileRules): Reconciled {
  const work = new Reconciliation(memories, changes, rules);
  const ordered = [...changes].sort((a, b) => Date.parse(a.stated_at) - Date.parse(b.stated_at));
  for (const change of ordered) work.take(change);
  return work.outcome();
}

/** What follows from one record that was changed from outside: edited, approved. */
export function reconcileRecord(memories: Iterable<MemoryRecord>, record: MemoryRecord, rules: ReconcileRules): Reconciled {
  const work = new Reconciliation(memories, [], rules);
  work.put(record);
  return work.outcome();
}

/**
 * What another owner's records, oldest first, make of an owner's, where the two turned out to be one. They have the ids that they are to
 * have; `resolved` tells what stands for each. The same rules as for statements.
 */
export function reconcileAdopted(memories: Iterable<MemoryRecord>, adopted: readonly MemoryRecord[], rules: ReconcileRules): Reconciled {
  const work = new Reconciliation(memories, [], rules);
  for (const record of adopted) work.adopt(record);
  return work.outcome();
}

class Reconciliation {
  readonly #rules: ReconcileRules;
  readonly #before: ReadonlyMap<string, MemoryRecord>;
  readonly #records: Map<string, MemoryRecord>;
  readonly #companions: Companions;
  /** Messages that forget something themselves: what else they say is not what was forgotten. */
  readonly #forgetting: ReadonlySet<string>;
  readonly #resolved = new Map<string, string>();
  readonly #confirmed = new Set<string>();
  readonly #forgotten = new Set<string>();
  readonly #dropped: Record<string, number> = {};
  readonly #reasons = new Map<string, string>();
  /** The change that is being taken. */
  #taking: string | null = null;
  /** What each message has put to wait. */
  readonly #waiting = new Map<string, number>();

  constructor(memories: Iterable<MemoryRecord>, changes: readonly ProposedChange[], rules: ReconcileRules) {
    this.#rules = rules;
    this.#before = new Map([...memories].map((record) => [record.id, record]));
    this.#records = new Map(this.#before);
    for (const record of expiredWaiting(this.#before.values(), rules.now)) this.#records.set(record.id, record);
    this.#companions = new Companions(this.#before.values());
    this.#forgetting = new Set(changes.flatMap(({ op, source }) => (op === "forget" && source !== null ? [source.message_id] : [])));
  }

  take(change: ProposedChange): undefined {
    this.#taking = change.id;
    const target = change.target_id === null ? undefined : this.#records.get(change.target_id);
    switch (change.op) {
      case "add":
        return this.#add(change, undefined);
      case "supersede":
        // What waits itself can't be changed by a question: both are asked about.
        return target === undefined || target.status === "review" || change.waits === null
          ? this.#add(change, target)
          : this.#putToWait(change, target, "supersede");
      case "end":
        return change.waits === null ? this.#end(change, target) : this.#putToWait(change, target, "end");
      case "forget":
        return change.waits === null ? this.#forget(change, target) : this.#putToWait(change, target, "forget");
      case "confirm":
        return this.#confirm(change, target);
    }
  }

  put(record: MemoryRecord): void {
    this.#records.set(record.id, record);
    if (record.status === "active") this.#takePlace(record);
  }

  outcome(): Reconciled {
    const changed = [...this.#records.values()].filter((record) => this.#before.get(record.id) !== record);
    const past = changed.filter(({ id, status }) => status === "superseded" && this.#before.get(id)?.status !== "superseded");
    return {
      puts: changed,
      forgotten: [...this.#forgotten],
      resolved: this.#resolved,
      confirmed: [...this.#confirmed],
      superseded: past.filter(({ id }) => this.#before.has(id)).map(({ id }) => id),
      dropped: this.#dropped,
      reasons: this.#reasons,
    };
  }

  #add(change: ProposedChange, target: MemoryRecord | undefined): undefined {
    const { now, categories, minConfidence } = this.#rules;
    const { statement, source, waits } = change;
    if (statement === null) return this.#drop("nothing_said");
    const said = recordFrom({ id: change.id, statedAt: change.stated_at, source, statement, waits }, now, categories);
    this.#companions.learn(said);
    const record = this.#asKnownPerson(said);
    const stored = this.#records.get(record.id);
    if (stored !== undefined) {
      this.#resolved.set(change.id, stored.id);
      if (stored.status === "active") this.#replace(target, stored);
      return;
    }
    const taken = this.#takenUp(record);
    if (taken !== undefined) {
      this.#resolved.set(change.id, taken.id);
      this.#confirmed.add(taken.id);
      return;
    }
    if (record.valid_until !== null && Date.parse(record.valid_until) <= Date.parse(record.stated_at)) return this.#drop("over");
    if (record.strength === "soft" && record.confidence < minConfidence) return this.#drop("not_sure_enough");
    const rival = target === undefined && waits === null ? this.#inItsSlot(record) : undefined;
    if (rival !== undefined && !isMeant(record, rival)) return this.#putToWait({ ...change, waits: "unclear_change" }, rival, "supersede");
    return this.#place(change.id, record, target ?? rival, waits !== null);
  }

  /** What was known of somebody who turned out to be the owner. What is past stays so; what waits goes on waiting. */
  adopt(given: MemoryRecord): undefined {
    this.#companions.learn(given);
    const record = this.#asKnownPerson(given);
    const rival = this.#inItsSlot(record);
    const asked: MemoryRecord = rival === undefined ? record : { ...record, status: "review", reason: "unclear_change" };
    if (record.status !== "superseded") this.#place(record.id, asked, undefined, asked.status === "review");
    else if (wasForgotten(record, this.#rules, this.#forgetting)) this.#drop("forgotten");
    else this.#records.set(record.id, record);
    const same = this.#records.get(this.#resolved.get(record.id) ?? "");
    if (same === undefined || same.id === record.id) return;
    for (const messageId of record.confirmed_by) {
      const seen = this.#records.get(same.id) ?? same;
      this.#see(seen, record.last_confirmed_at, messageId, null, record.explicit);
    }
    const known = this.#records.get(same.id) ?? same;
    const { pending_change } = record;
    if (pending_change !== null && known.pending_change === null && known.status === "active" && this.#mayWait(messageOf(record)))
      this.#records.set(known.id, { ...known, pending_change });
  }

  /** @param id under which it was proposed */
  #place(id: string, record: MemoryRecord, target: MemoryRecord | undefined, waits: boolean): undefined {
    if (wasForgotten(record, this.#rules, this.#forgetting)) return this.#drop("forgotten");
    const same = this.#same(record);
    if (waits) return this.#addWaiting(id, record, same);
    const tellsMore =
      same !== undefined &&
      ((record.strength === "hard" && same.strength === "soft") || tellsNeedOf(record, same) || saysPlainly(record, same));
    if (same !== undefined && !tellsMore) {
      this.#resolved.set(id, same.id);
      this.#see(same, record.stated_at, messageOf(record), record.valid_until, record.explicit);
      this.#alsoNamed(same.id, record);
      if (target !== undefined && target.id !== same.id) this.#replace(target, this.#records.get(same.id) ?? same);
      return;
    }
    this.#resolved.set(id, record.id);
    this.#records.set(record.id, record);
    if (record.status !== "active") return;
    if (same !== undefined) this.#replace(same, record);
    for (const waiting of this.#before.values()) if (restates(record, waiting, this.#companions)) this.#replace(waiting, record);
    this.#replace(target, record);
    this.#takePlace(record);
  }

  /** A companion's need that is told again under another name of theirs: "it's Anna, not Ann". */
  #alsoNamed(id: string, { subject, entities }: MemoryRecord): void {
    const seen = this.#records.get(id);
    if (seen === undefined || subject === "self") return;
    const named = new Set([...seen.entities, ...entities]);
    if (named.size > seen.entities.length && named.size <= MAX_NAMES) this.#records.set(id, { ...seen, entities: [...named] });
  }

  #addWaiting(id: string, record: MemoryRecord, same: MemoryRecord | undefined): undefined {
    // What waits changes nothing that holds, and is not asked about twice.
    if (same !== undefined) {
      if (same.status === "review") this.#resolved.set(id, same.id);
      return this.#drop("known");
    }
    if (this.#wasDenied(record)) return this.#drop("denied");
    if (!this.#mayWait(messageOf(record))) return this.#drop("too_many_waiting");
    this.#resolved.set(id, record.id);
    this.#records.set(record.id, record);
  }

  /** The guest was asked just that in this conversation, and said no: it is not asked about twice. */
  #wasDenied(record: MemoryRecord): boolean {
    const session = record.source?.session_id;
    return [...this.#before.values()].some(
      (other) =>
        other.status === "superseded" &&
        other.superseded_by === null &&
        // What held has an end; what waited and was denied has none.
        other.valid_until === null &&
        session !== undefined &&
        other.source?.session_id === session &&
        other.id !== record.id &&
        normalised(other.text) === normalised(record.text) &&
        this.#companions.same(other.subject, record.subject),
    );
  }

  #putToWait(change: ProposedChange, target: MemoryRecord | undefined, op: PendingChange["op"]): undefined {
    if (change.op === "forget" && change.target_id === null) return this.#drop("unknown_target");
    if (change.waits === null || target === undefined || target.status !== "active") return this.#drop("no_target");
    if (isNewer(target, change.stated_at)) return this.#drop("older");
    const message = change.source?.message_id ?? "";
    const waiting = target.pending_change;
    // The same message again, or another that asks for the same.
    const isSameMessage = waiting?.source?.message_id === message;
    // "No longer vegetarian, I'm pescatarian" ends and replaces: it is asked about as one.
    const isMore = isSameMessage && waiting?.op === "end" && op === "supersede";
    // Who says again what is to be forgotten is asked again about all of it.
    const isAsked = isSameMessage || (waiting?.op === op && op !== "forget");
    if (waiting !== null && !isMore && isAsked) return this.#drop("known");
    // What is to be forgotten of somebody is one question, however much it is.
    if (waiting === null && !this.#mayWait(message, op === "forget" ? MAX_WAITING : MAX_WAITING_PER_MESSAGE))
      return this.#drop("too_many_waiting");
    const { statement, source, stated_at, waits: reason } = change;
    const pending_change: PendingChange = { op, statement: op === "supersede" ? statement : null, reason, source, stated_at, asked: 0 };
    this.#records.set(target.id, { ...target, pending_change, updated_at: this.#rules.now.toISOString() });
    if (op === "supersede") this.#resolved.set(change.id, target.id);
  }

  /** The guest said that it no longer holds, and nothing in its place. */
  #end(change: ProposedChange, target: MemoryRecord | undefined): undefined {
    if (target === undefined) return this.#drop("no_target");
    if (target.status === "superseded") return;
    if (isNewer(target, change.stated_at)) return this.#drop("older");
    this.#records.set(target.id, ended(target, change.stated_at, null, this.#rules.now));
  }

  #forget(change: ProposedChange, target: MemoryRecord | undefined): undefined {
    // Of what is to be forgotten nothing is known, or no more.
    if (target === undefined) return this.#drop(change.target_id === null ? "unknown_target" : "no_target");
    if (isNewer(target, change.stated_at)) return this.#drop("older");
    this.#records.delete(target.id);
    this.#forgotten.add(target.id);
  }

  #confirm(change: ProposedChange, target: MemoryRecord | undefined): undefined {
    const waits = target?.status === "review";
    if (target === undefined || (target.status !== "active" && !waits) || change.waits !== null) return this.#drop("no_target");
    // What waits is said again plainly only where the words name the thing itself.
    const about = normalised(target.about);
    const plainly = about !== "" && normalised(change.source?.quote ?? "").includes(about);
    if (waits && target.explicit && !plainly) return this.#drop("not_named");
    this.#see(target, change.stated_at, change.source?.message_id ?? `by-hand:${change.stated_at}`, null, waits && plainly);
  }

  /**
   * The same said again: counts once a message. What waits holds when it is said plainly; what was inferred also from the third
   * message on.
   */
  #see(record: MemoryRecord, statedAt: string, messageId: string, end: string | null, plainly: boolean): void {
    this.#confirmed.add(record.id);
    const { now } = this.#rules;
    const seen = seenAgain(record, messageId, statedAt, end, now);
    const oftenEnough = !seen.explicit && seen.seen_count >= INFERRED_AFTER && !this.#contradicted(seen);
    const holds = seen.status === "review" && seen !== record && (plainly || oftenEnough);
    const outcome: MemoryRecord = !holds
      ? seen
      : plainly
        ? activated(seen, statedAt, now)
        : { ...seen, status: "active", reason: null, updated_at: now.toISOString() };
    if (outcome === record) return;
    this.#records.set(record.id, outcome);
    if (outcome.status === "active") this.#takePlace(outcome);
  }

  /** A target that was named, or a weaker statement of the same, gives way to a statement that is no older. */
  #replace(target: MemoryRecord | undefined, record: MemoryRecord): void {
    const current = target === undefined ? undefined : this.#records.get(target.id);
    if (current === undefined || current.id === record.id || current.status === "superseded" || current.superseded_by === record.id) return;
    if (isNewer(current, record.last_confirmed_at) || (!record.explicit && current.explicit)) return;
    this.#records.set(current.id, supersededBy(current, record, this.#rules.now));
  }

  /** Of an aspect that holds one value, and of a taste and its opposite, the newest soft statement holds, in whatever order they arrive. */
  #takePlace(record: MemoryRecord): void {
    if (record.strength === "hard") return;
    const rivals = this.#rivals(record).filter(({ status }) => status === "active");
    for (const rival of rivals) {
      const [older, newer] = isBefore(record, rival) ? [record, rival] : [rival, record];
      const [loser, winner] = older.explicit && !newer.explicit ? [newer, older] : [older, newer];
      this.#records.set(loser.id, supersededBy(loser, winner, this.#rules.now));
      if (loser.id === record.id) return;
    }
  }

  #contradicted(record: MemoryRecord): boolean {
    return this.#rivals(record).some((other) => other.explicit && other.status === "active");
  }

  /** What holds of the same person in the slot of a need: another diet, another number of a limit, or of whatever a need counts. */
  #inItsSlot(record: MemoryRecord): MemoryRecord | undefined {
    if (!mayHoldSlot(record)) return undefined;
    const slotOf = ({ need }: MemoryRecord) => (need === null ? undefined : this.#rules.slotOf?.(need));
    const slot = slotOf(record);
    const excludes = (other: MemoryRecord) => {
      if (other.need !== record.need) return slot !== undefined && slotOf(other) === slot;
      return slot === undefined ? countOtherwise(other.text, record.text) : sayOtherNumbers(other.text, record.text);
    };
    return [...this.#records.values()].find(
      (other) =>
        other.id !== record.id &&
        mayHoldSlot(other) &&
        excludes(other) &&
        normalised(other.condition) === normalised(record.condition) &&
        this.#companions.same(other.subject, record.subject),
    );
  }

  /** Soft memories of the same person and condition that can't hold beside it: of the same aspect, or the opposite of a taste. */
  #rivals(record: MemoryRecord): MemoryRecord[] {
    const isSingle = isSingleValued(record, this.#rules.categories);
    return [...this.#records.values()].filter(
      (other) =>
        other.id !== record.id &&
        other.strength === "soft" &&
        other.category === record.category &&
        ((isSingle && normalised(other.aspect) === normalised(record.aspect)) || isTurned(other, record)) &&
        sameFrame(other, record, this.#companions),
    );
  }

  #same(record: MemoryRecord): MemoryRecord | undefined {
    const found = [...this.#records.values()].filter(
      (other) =>
        (other.status === "active" || other.status === "review") &&
        !overBefore(other, record) &&
        ((saySame(other, record, this.#companions) && !standsBeside(record, other)) ||
          (this.#before.has(other.id) && isTwin(other, record, this.#companions))),
    );
    return found.find(({ status }) => status === "active") ?? found[0];
  }

  /** The memory that this very message confirmed before, whatever became of it since: a replay. */
  #takenUp(record: MemoryRecord): MemoryRecord | undefined {
    const messageId = record.source?.message_id;
    if (messageId === undefined) return undefined;
    return [...this.#before.values()].find((other) => other.confirmed_by.includes(messageId) && saySame(other, record, this.#companions));
  }

  /** Under the subject by which the person is known; the name that was used now is kept among the entities. */
  #asKnownPerson(record: MemoryRecord): MemoryRecord {
    const subject = this.#companions.subjectOf(record.subject, this.#before.values());
    const name = nameOf(record.subject);
    if (subject === record.subject || name === null) return record;
    return { ...record, subject, entities: [...new Set([...record.entities, name])] };
  }

  #mayWait(messageId: string, most = MAX_WAITING_PER_MESSAGE): boolean {
    const ofMessage = this.#waiting.get(messageId) ?? 0;
    const all = [...this.#records.values()].filter(({ status, pending_change }) => status === "review" || pending_change !== null).length;
    if (ofMessage >= most || all >= MAX_WAITING) return false;
    this.#waiting.set(messageId, ofMessage + 1);
    return true;
  }

  #drop(why: string): undefined {
    this.#dropped[why] = (this.#dropped[why] ?? 0) + 1;
    if (this.#taking !== null) this.#reasons.set(this.#taking, why);
  }
}

function mayHoldSlot(record: MemoryRecord): boolean {
  return record.status === "active" && record.strength === "hard" && isNamedNeed(record);
}

/** What takes a need's place is said on purpose by hand, and where it is said again in another message. */
function isMeant({ need, source }: MemoryRecord, { pending_change: change }: MemoryRecord): boolean {
  if (source === null) return true;
  return change !== null && change.statement?.need === need && change.source?.message_id !== source.message_id;
}
