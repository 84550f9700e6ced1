import type { Owner } from "../domain/owner.js";
import { insteadOf } from "../platform/errors.js";
import type { DomainRecords } from "../ports/agent.js";
import type { ConversationHistory } from "../ports/history.js";
import type { MemoryAdministration } from "../ports/memories.js";
import type { SessionStore } from "../ports/session-store.js";

/** A store that holds something of a user. Erasing is idempotent; looking afterwards reads the medium, not a cache. */
export interface ErasableStore {
  /** As a receipt names it. */
  readonly name: string;
  /** How much went, by what it is. */
  erase(owner: Owner): Promise<Readonly<Record<string, number>>>;
  /** How much is left. */
  residue(owner: Owner): Promise<number>;
}

/**
 * Every store that holds a user's words, in the order in which they are erased: what is made from the journal before the journal, so
 * that nothing is made from it again; the list of sessions last.
 */
export function erasableStores(parts: {
  readonly store: Pick<SessionStore, "journal" | "index" | "images">;
  readonly history: ConversationHistory;
  readonly longTerm: Pick<MemoryAdministration, "erase" | "residue">;
  readonly records: DomainRecords | null;
  /** Caches and whatever else is kept of a user. */
  readonly others: readonly ErasableStore[];
  /** What is left when the rest has gone. */
  readonly last: readonly ErasableStore[];
}): readonly ErasableStore[] {
  const { store, history, longTerm, records, others, last } = parts;
  const stores: ErasableStore[] = [
    {
      name: "memories",
      erase: async (owner) => {
        const { memories, history_entries } = await longTerm.erase(owner);
        return { memories, memory_history_entries: history_entries };
      },
      residue: (owner) => longTerm.residue(owner),
    },
    erasable("history", "history_entries", history),
    ...(records === null ? [] : [domainStore(records)]),
    ...others,
    erasable("images", "images", store.images),
    {
      name: "journal",
      erase: async (owner) => ({ ...(await store.journal.erase(owner)) }),
      residue: (owner) => store.journal.residue(owner),
    },
    {
      name: "index",
      // The sessions are counted where they are kept, in the journal.
      erase: async (owner) => {
        const { idempotencyKeys, pendingTurns } = await store.index.erase(owner);
        return { idempotency_keys: idempotencyKeys, pending_write_backs: pendingTurns };
      },
      residue: (owner) => store.index.residue(owner),
    },
    ...last,
  ];
  return stores.map(unlessAbsent);
}

export function domainStore(records: DomainRecords): ErasableStore {
  return erasable(records.name, records.name, records);
}

/** A store of one kind of things, as receipts count them. */
export function erasable(
  name: string,
  counted: string,
  store: { erase(owner: Owner): Promise<number>; residue(owner: Owner): Promise<number> },
): ErasableStore {
  return { name, erase: async (owner) => ({ [counted]: await store.erase(owner) }), residue: (owner) => store.residue(owner) };
}

const OFF = ["LONG_TERM_MEMORY_DISABLED", "HISTORY_DISABLED"] as const;

/** A store that is switched off and has nothing of before to reach says so, and holds nothing. */
function unlessAbsent(store: ErasableStore): ErasableStore {
  return {
    name: store.name,
    erase: (owner) => store.erase(owner).catch(insteadOf(OFF, {})),
    residue: (owner) => store.residue(owner).catch(insteadOf(OFF, 0)),
  };
}

/** Looks into every store; what is left of the owner, by store. Empty where nothing is. */
export async function residueOf(stores: readonly ErasableStore[], owner: Owner): Promise<Readonly<Record<string, number>>> {
  const left: Record<string, number> = {};
  for (const store of stores) {
    const count = await store.residue(owner);
    if (count > 0) left[store.name] = count;
  }
  return left;
}
