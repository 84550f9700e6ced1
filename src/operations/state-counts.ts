import { rowOf } from "../state/sessions/session-row.js";
import { sessionOf } from "./portable-entries.js";

export interface StateCounts {
  readonly users: number;
  readonly sessions: number;
  /** In the sessions' journals, also those that were taken back. */
  readonly messages: number;
  readonly images: number;
  readonly memory_log_entries: number;
  /** Owners, erased ones too, of whom a ledger is kept. */
  readonly ledgers: number;
  /** Others, by name. What only finds or orders others is not counted; it is compared, as all is. */
  readonly rows: Readonly<Record<string, number>>;
}

/** By what their keys begin with. */
const ROWS: Readonly<Record<string, string>> = {
  "record/quote/": "quotes",
  "record/booking/": "bookings",
  "record/happening/": "happenings",
  "receipt/": "receipts of bookings",
  "feed/": "events",
  "queue/": "events that wait",
  "dead/": "events given up",
  "job/": "jobs",
  "request/": "request keys",
  "count/": "tokens by day",
};
/** Ends the keys of all parts but the first of a value that is kept in several. */
const PART = /~\d{4}$/u;

export class StateTally {
  readonly #counts = { users: 0, sessions: 0, messages: 0, images: 0, memory_log_entries: 0, ledgers: 0 };
  readonly #rows = new Map<string, number>();

  /** Counts the entries of one partition, in which a ledger of many is one. */
  partition(): (key: string, value: string) => void {
    let hasLedger = false;
    return (key, value) => {
      const counts = this.#counts;
      if (sessionOf(key) !== null) {
        counts.sessions += 1;
        counts.messages += rowOf({ key, value }).messages;
      } else if (PART.test(key)) return;
      else if (key === "owner") counts.users += 1;
      else if (key.startsWith("image/")) counts.images += 1;
      else if (key.startsWith("memory-log/")) counts.memory_log_entries += 1;
      else if (key.startsWith("ledger/")) {
        counts.ledgers += hasLedger ? 0 : 1;
        hasLedger = true;
      } else this.#addRow(key);
    };
  }

  /** Of journals that are no rows. */
  addMessages(count: number): void {
    this.#counts.messages += count;
  }

  /** Rows that only the other store has are 0 in this one. */
  counts(): StateCounts {
    const rows = Object.values(ROWS).map((name) => [name, this.#rows.get(name) ?? 0] as const);
    return { ...this.#counts, rows: Object.fromEntries(rows) };
  }

  #addRow(key: string): void {
    const [, name] = Object.entries(ROWS).find(([prefix]) => key.startsWith(prefix)) ?? [];
    if (name !== undefined) this.#rows.set(name, (this.#rows.get(name) ?? 0) + 1);
  }
}
