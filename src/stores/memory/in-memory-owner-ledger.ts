import type { Owner } from "../../domain/owner.js";
import type { AuditEntry, ErasureReceipt, OwnerLedger, Tombstone, UserRecord } from "../../ports/owner-ledger.js";
import {
  afterSeen,
  EMPTY_LEDGER,
  erasedEntries,
  foldLedger,
  type LedgerEntry,
  type LedgerState,
  receiptIdOf,
  type Sighting,
  tombstoneEntry,
} from "../journal/ledger-entries.js";

/** A ledger that is gone with the process: the same contract, durability aside. */
export class InMemoryOwnerLedger implements OwnerLedger {
  readonly #ledgers = new Map<Owner, LedgerState>();

  async tombstones(owner: Owner): Promise<readonly Tombstone[]> {
    return this.#state(owner).tombstones;
  }

  async addTombstone(owner: Owner, tombstone: Tombstone): Promise<void> {
    this.#add(owner, tombstoneEntry(tombstone));
  }

  async addTombstones(owner: Owner, tombstones: readonly Tombstone[]): Promise<void> {
    for (const tombstone of tombstones) this.#add(owner, tombstoneEntry(tombstone));
  }

  async user(owner: Owner): Promise<UserRecord | null> {
    return this.#state(owner).user;
  }

  async seen(owner: Owner, seen: Sighting): Promise<void> {
    const user = afterSeen(this.#state(owner).user, seen);
    if (user !== null) this.#add(owner, { v: 1, type: "user", user });
  }

  async audit(owner: Owner, entry: AuditEntry): Promise<void> {
    this.#add(owner, { v: 1, type: "audit", entry: { ...entry } });
  }

  async auditTrail(owner: Owner): Promise<readonly AuditEntry[]> {
    return this.#state(owner).audit;
  }

  async epoch(owner: Owner): Promise<number> {
    return this.#state(owner).epoch;
  }

  async beginErasure(owner: Owner, at: string): Promise<{ readonly receiptId: string; readonly epoch: number }> {
    const state = this.#state(owner);
    const epoch = state.open?.epoch ?? state.epoch + 1;
    if (state.open === null) this.#add(owner, { v: 1, type: "erasure_begun", owner, at, epoch });
    return { receiptId: receiptIdOf(owner, epoch), epoch };
  }

  async completeErasure(owner: Owner, receipt: ErasureReceipt, keep?: readonly string[]): Promise<void> {
    this.#ledgers.set(owner, erasedEntries(this.#state(owner), receipt, keep).reduce(foldLedger, EMPTY_LEDGER));
  }

  async withdrawErasure(owner: Owner): Promise<void> {
    const { open, epoch } = this.#state(owner);
    if (open !== null) this.#add(owner, { v: 1, type: "erasure_withdrawn", epoch });
  }

  async receipts(owner: Owner): Promise<readonly ErasureReceipt[]> {
    return this.#state(owner).receipts;
  }

  async openErasures(): Promise<readonly { readonly owner: Owner; readonly receiptId: string }[]> {
    return [...this.#ledgers.values()].flatMap(({ open }) =>
      open === null ? [] : [{ owner: open.owner, receiptId: receiptIdOf(open.owner, open.epoch) }],
    );
  }

  async progress(owner: Owner, job: string): Promise<string | null> {
    return this.#state(owner).progress.get(job) ?? null;
  }

  async setProgress(owner: Owner, job: string, cursor: string): Promise<void> {
    this.#add(owner, { v: 1, type: "progress", job, cursor });
  }

  async close(): Promise<void> {}

  #state(owner: Owner): LedgerState {
    return this.#ledgers.get(owner) ?? EMPTY_LEDGER;
  }

  #add(owner: Owner, entry: LedgerEntry): void {
    this.#ledgers.set(owner, foldLedger(this.#state(owner), entry));
  }
}
