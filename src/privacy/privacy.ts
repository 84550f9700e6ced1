import type { BookingReceipt } from "../domain/booking-receipt.js";
import { erasedEvent } from "../domain/event.js";
import type { Owner } from "../domain/owner.js";
import type { JsonValue } from "../domain/session.js";
import type { Privacy } from "../ports/application.js";
import type { EventLog } from "../ports/events.js";
import type { ConversationHistory } from "../ports/history.js";
import type { MemoryAdministration } from "../ports/memories.js";
import type { ErasureReceipt } from "../ports/resources.js";
import { type ErasedKeys, Erasure, type ErasureParts, type ErasureWait } from "./erasure.js";
import { type ExportCounts, type ExportParts, exportDocument } from "./export.js";
import { domainStore, type ErasableStore, erasable, erasableStores } from "./residue.js";

/** Records that are listed at once. */
const MAX_LISTED = 500;

export { type ErasableStore, erasable } from "./residue.js";

export interface PrivacyParts
  extends ExportParts,
    Pick<ErasureParts, "hold" | "locks" | "merges" | "clock" | "logger">,
    Partial<Pick<ErasureParts, "compact" | "keepsDeleted">> {
  readonly history: ConversationHistory;
  /** Also when long-term memory is off: the store of before, where there is one, must still be reached by erasure. */
  readonly longTerm: ExportParts["longTerm"] & Pick<MemoryAdministration, "erase" | "residue">;
  /** Caches and whatever else keeps something of a user. */
  readonly others?: readonly ErasableStore[];
  /** Erased with everything else, and told of the erasure. Default: there are none. */
  readonly events?: Pick<EventLog, "add" | "erase" | "residue">;
  /** Told of an erasure that is done, once or more. Must not throw. Default: nobody is. */
  readonly onErased?: (owner: Owner) => void;
  /** What everything of a user is encrypted under, and what is left under destroyed ones. Default: nothing is encrypted. */
  readonly encryption?: { readonly keys: ErasedKeys; readonly left: ErasableStore } | undefined;
}

/** Export and erasure of one user, across every store, with an audit entry for each. */
export class PrivacyService implements Privacy {
  readonly #parts: PrivacyParts;
  readonly #erasure: Erasure;

  constructor(parts: PrivacyParts) {
    const { ledger, hold, locks, compact = async () => {}, keepsDeleted = [], events, merges, encryption, records, clock, logger } = parts;
    this.#parts = parts;
    const others = [...(parts.others ?? []), ...(events === undefined ? [] : [erasable("events", "events", events)])];
    const stores = erasableStores({ ...parts, others, last: encryption === undefined ? [] : [encryption.left] });
    const onErased = async (owner: Owner, { receipt_id, completed_at }: ErasureReceipt) => {
      await events?.add(owner, [erasedEvent(owner, receipt_id, completed_at)]);
      parts.onErased?.(owner);
    };
    const keys = encryption && { keys: encryption.keys, shared: records && domainStore(records) };
    const erasing = { stores, ledger, hold, locks, compact, keepsDeleted, onErased, clock, logger };
    this.#erasure = new Erasure({ ...erasing, ...keys, ...(merges && { merges }) });
  }

  async records(owner: Owner): Promise<readonly JsonValue[]> {
    const listed: JsonValue[] = [];
    for await (const record of this.#parts.records?.export(owner) ?? []) {
      listed.push(record);
      if (listed.length > MAX_LISTED) listed.shift();
    }
    return listed;
  }

  receipts(owner: Owner): Promise<readonly BookingReceipt[]> {
    return this.#parts.receipts?.list(owner, MAX_LISTED) ?? Promise.resolve([]);
  }

  /** What an export of the user holds, for work that gives it to nobody. */
  document(owner: Owner): AsyncIterable<string> {
    return exportDocument(this.#parts, owner, this.#parts.clock.now(), { sessions: 0, messages: 0, memories: 0, records: 0 });
  }

  /** The audit entry follows the last piece: an export that was broken off is none. */
  async *export(asked: Owner, options: { readonly by: string }): AsyncIterable<string> {
    const { clock, ledger } = this.#parts;
    const owner = await this.#knownAs(asked);
    const counts: ExportCounts = { sessions: 0, messages: 0, memories: 0, records: 0 };
    yield* exportDocument(this.#parts, owner, clock.now(), counts);
    await ledger.audit(owner, { at: clock.now().toISOString(), action: "export", by: options.by, receiptId: null, counts: { ...counts } });
  }

  async erase(owner: Owner, { by, ...wait }: { readonly by: string } & ErasureWait): Promise<ErasureReceipt> {
    return this.#erasure.receiptWithin(await this.#knownAs(owner), by, wait);
  }

  /** What a merge left dormant. `keep`: jobs whose progress stays in the ledger. */
  expire(owner: Owner, keep: readonly string[]): Promise<ErasureReceipt> {
    return this.#erasure.run(owner, "retention", keep);
  }

  resume(): Promise<number> {
    return this.#erasure.resume();
  }

  /** Ends the erasures that run; they stay open. */
  stop(): Promise<void> {
    return this.#erasure.stop();
  }

  /** A receipt must hold for a name of before, too: what lies dormant under it is not all there is of its user. */
  async #knownAs(owner: Owner): Promise<Owner> {
    return (await this.#parts.merges?.knownAs(owner)) ?? owner;
  }
}
