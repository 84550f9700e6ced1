import { mergedId, type Owner } from "../domain/owner.js";
import type { Clock } from "../platform/clock.js";
import { collected } from "../platform/collected.js";
import { AppError } from "../platform/errors.js";
import type { DomainRecords } from "../ports/agent.js";
import type { MergedMemories, MergedSessions, MergedUsers } from "../ports/identities.js";
import type { OwnerLedger } from "../ports/owner-ledger.js";
import type { PendingTurn } from "../ports/session-store.js";
import type { MergeRecord, MergeRecords } from "./merge-record.js";

/** Receipts of bookings, which go where the memories and conversations that they tell of do. */
export interface MergedReceipts {
  /** `standing`: as {@link MergedMemories.standing}. How many. Safe to repeat. */
  takeOver(users: MergedUsers, standing: ReadonlyMap<string, string>): Promise<number>;
  takeOut(users: MergedUsers): Promise<number>;
  /** Takes out what tells of these memories. How many. */
  withoutMemories(owner: Owner, ids: ReadonlySet<string>): Promise<number>;
  /** Takes out what tells of memories that are no more. How many. */
  forgotten(owner: Owner): Promise<number>;
  /** Takes out what tells of a conversation. How many. */
  detachSession(owner: Owner, sessionId: string): Promise<number>;
}

export interface MergeStepsParts {
  readonly records: MergeRecords;
  readonly ledger: OwnerLedger;
  readonly memories: MergedMemories;
  readonly sessions: MergedSessions;
  /** Of bookings. Default: none are kept. */
  readonly receipts?: MergedReceipts;
  /** Null when the domain keeps nothing of its users. */
  readonly domain: DomainRecords | null;
  readonly pendingOf: (owner: Owner) => Promise<readonly PendingTurn[]>;
  /** Refuses new work of the owner, ends what runs, waits for it, in every process; the result lets work in again. */
  readonly hold: (owner: Owner, signal: AbortSignal) => Promise<() => void>;
  /** The same in this process alone, for one whom the others keep out already. */
  readonly holdHere: (owner: Owner) => Promise<() => void>;
  /** No write-back of the owner in this process until the result is called. */
  readonly holdWriteBack: (owner: Owner) => Promise<() => void>;
  /** Told of a merge that is done, before the record says so: what it throws has it told again. Default: nobody is told. */
  readonly onMerged?: (record: MergeRecord) => Promise<unknown>;
  readonly clock: Clock;
}

/** What is done in which order. Each step can be done again, and the record says between them how far it came. */
export class MergeSteps {
  readonly #parts: MergeStepsParts;
  /** Users who are kept out of this process, because somebody else is them. */
  readonly #keptOut = new Map<Owner, () => void>();

  constructor(parts: MergeStepsParts) {
    this.#parts = parts;
  }

  /** Goes on from where the record stands, to the end. For one who holds both users' locks. */
  async finish(record: MergeRecord, signal: AbortSignal): Promise<MergeRecord> {
    switch (record.state) {
      case "merging":
        return this.#merge(record, signal);
      case "undoing":
        return this.#giveBack(await this.#lose(record, signal), signal);
      case "returning":
        return this.#giveBack(record, signal);
      default:
        return record;
    }
  }

  /** Nobody works as this owner in this process any more. */
  async keepOut(owner: Owner): Promise<void> {
    if (!this.#keptOut.has(owner)) this.#keptOut.set(owner, await this.#parts.holdHere(owner));
  }

  letIn(owner: Owner): void {
    this.#keptOut.get(owner)?.();
    this.#keptOut.delete(owner);
  }

  async #merge(begun: MergeRecord, signal: AbortSignal): Promise<MergeRecord> {
    const { records, memories, sessions, domain, pendingOf, holdWriteBack, clock } = this.#parts;
    const { from, to } = begun;
    await this.#fence(begun, signal);
    const release = await holdWriteBack(to);
    try {
      const pending = (await pendingOf(from)).map(({ sessionId, turn }) => ({ session_id: sessionId, turn }));
      const copied = await sessions.copy(begun, signal);
      this.#goOn(signal);
      const taken = await memories.takeOver(begun, pending, clock.now());
      this.#goOn(signal);
      const receipts = (await this.#parts.receipts?.takeOver(begun, await memories.standing(begun))) ?? 0;
      const ids = (await domain?.handOver?.ids(from)) ?? [];
      // Known before they go, lest a crash in between forgets whose they were.
      const record = await records.put({ ...begun, records: [...new Set([...begun.records, ...ids])] });
      await this.#handOver(record, "there");
      await this.#audit(record, "merge", { ...copied, ...taken, ...(receipts > 0 && { booking_receipts: receipts }) });
      await this.#parts.onMerged?.(record);
      await records.carryNames(from, to);
      return await records.put({ ...record, state: "merged" });
    } finally {
      release();
    }
  }

  /** What `to` has lost since, `from` loses too: behind the fence. */
  async #lose(record: MergeRecord, signal: AbortSignal): Promise<MergeRecord> {
    const { records, memories, sessions, clock } = this.#parts;
    await this.#fence(record, signal);
    const { purged, deleted } = await sessions.survey(record);
    this.#goOn(signal);
    await memories.forgottenSince(record, purged, clock.now());
    await sessions.loseWhatIsGone(record);
    const { receipts } = this.#parts;
    for (const sessionId of purged) await receipts?.detachSession(record.from, sessionId);
    await receipts?.forgotten(record.from);
    return records.put({ ...record, deleted: [...deleted], state: "returning" });
  }

  async #giveBack(record: MergeRecord, signal: AbortSignal): Promise<MergeRecord> {
    const { memories, sessions, ledger, holdWriteBack, clock } = this.#parts;
    const { from, to } = record;
    const release = await holdWriteBack(to);
    try {
      const { said } = await sessions.survey(record);
      await memories.takeOut(record, said, clock.now());
      this.#goOn(signal);
      await this.#handOver(record, "back");
      const given = await memories.given(record);
      await this.#parts.receipts?.takeOut(record);
      await this.#parts.receipts?.withoutMemories(to, given);
      await sessions.takeOut(record, given, signal);
      await ledger.withdrawErasure(from);
      await sessions.delete(record, record.deleted, clock.now());
      await this.#audit(record, "unmerge", {});
      await this.#parts.records.carryNames(from, to, "back");
      const undone = await this.#parts.records.put({ ...record, state: "undone" });
      this.letIn(from);
      return undone;
    } finally {
      release();
    }
  }

  /** As an erasure begins: whatever is written before is there to be copied, and nothing is written behind it. */
  async #fence({ from, at }: MergeRecord, signal: AbortSignal): Promise<void> {
    await this.#parts.ledger.fence(from, at);
    const before = this.#keptOut.get(from);
    this.#keptOut.set(from, await this.#parts.hold(from, signal));
    before?.();
  }

  async #handOver(record: MergeRecord, way: "there" | "back"): Promise<void> {
    const { domain, sessions } = this.#parts;
    const { from, to } = record;
    if (domain === null) return;
    if (domain.handOver === undefined) {
      if (way === "there") await domain.restore(to, await collected(domain.export(from)));
      return;
    }
    const ids = await sessions.ids(record);
    const there = new Map(ids.map((id) => [id, mergedId("session", to, record.id, id)]));
    if (way === "there") await domain.handOver.run(from, to, { ids: record.records, sessions: there });
    else
      await domain.handOver.run(to, from, { ids: record.records, sessions: new Map([...there].map(([before, after]) => [after, before])) });
  }

  /** Of both: each can tell who they were. Once, also where a crash came behind it. */
  async #audit({ from, to, id }: MergeRecord, action: "merge" | "unmerge", counts: Readonly<Record<string, number>>): Promise<void> {
    const { ledger, clock } = this.#parts;
    for (const owner of [from, to]) {
      const there = (await ledger.auditTrail(owner)).some((entry) => entry.action === action && entry.receiptId === id);
      if (!there) await ledger.audit(owner, { at: clock.now().toISOString(), action, by: "backend", receiptId: id, counts });
    }
  }

  #goOn(signal: AbortSignal): void {
    if (signal.aborted) throw new AppError("OWNER_ERASED", { cause: signal.reason, retryAfterSeconds: 5 });
  }
}
