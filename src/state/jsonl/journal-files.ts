import { LRUCache } from "lru-cache";
import type { Owner } from "../../domain/owner.js";
import type { JournalRecord } from "../../domain/session.js";
import type { ReadableJournals } from "../../ports/transfer.js";
import type { JournalFile } from "./journal-file.js";

/** Journals kept open while nobody uses them. */
const IDLE_JOURNALS = 128;

/**
 * The open journals, so that a session that is talked to is not opened for every turn, and open files stay flat.
 * Whoever retains a journal releases it; a journal that is forgotten is closed when its last user is gone.
 */
export class JournalFiles {
  readonly #used = new Map<string, { readonly file: JournalFile; users: number }>();
  /** Replaced or removed while somebody still reads them. */
  readonly #forgotten = new Map<JournalFile, number>();
  readonly #idle: LRUCache<string, JournalFile>;

  constructor(options: { readonly maxIdle?: number; readonly onCloseError: (error: unknown) => void }) {
    this.#idle = new LRUCache({
      max: options.maxIdle ?? IDLE_JOURNALS,
      dispose: (file, _id, reason) => {
        if (reason === "evict") file.log.close().catch(options.onCloseError);
      },
    });
  }

  /** The journal if it is open; the caller must release it. */
  retain(sessionId: string): JournalFile | null {
    const used = this.#used.get(sessionId);
    if (used !== undefined) {
      used.users += 1;
      return used.file;
    }
    const idle = this.#idle.get(sessionId);
    if (idle === undefined) return null;
    this.#idle.delete(sessionId);
    this.#used.set(sessionId, { file: idle, users: 1 });
    return idle;
  }

  /** Takes a journal in that was just opened; its opener is its first user. */
  add(file: JournalFile): JournalFile {
    this.#used.set(file.sessionId, { file, users: 1 });
    return file;
  }

  async release(file: JournalFile): Promise<void> {
    const forgotten = this.#forgotten.get(file);
    if (forgotten !== undefined) {
      if (forgotten > 1) this.#forgotten.set(file, forgotten - 1);
      else {
        this.#forgotten.delete(file);
        await file.log.close();
      }
      return;
    }
    const used = this.#used.get(file.sessionId);
    if (used === undefined) return;
    used.users -= 1;
    // One that waits for its repair knows what the file does not: it stays.
    if (used.users > 0 || file.log.needsRepair) return;
    this.#used.delete(file.sessionId);
    this.#idle.set(file.sessionId, file);
  }

  /** Its file is replaced or gone: nobody gets this one any more. */
  async forget(sessionId: string): Promise<void> {
    const used = this.#used.get(sessionId);
    const idle = this.#idle.get(sessionId);
    this.#used.delete(sessionId);
    this.#idle.delete(sessionId);
    if (used !== undefined && used.users > 0) this.#forgotten.set(used.file, used.users);
    else await (used?.file ?? idle)?.log.close();
  }

  /** Open files right now. */
  get size(): number {
    return this.#used.size + this.#idle.size + this.#forgotten.size;
  }

  async close(): Promise<void> {
    const files = [...this.#used.values()].map(({ file }) => file);
    files.push(...this.#forgotten.keys(), ...this.#idle.values());
    this.#used.clear();
    this.#forgotten.clear();
    this.#idle.clear();
    await Promise.all(files.map((file) => file.log.close()));
  }
}

/** Beyond so many nothing is said of them any more. */
const MAX_JOURNALS = 100_000;

interface WrittenJournal {
  readonly sessionId: string;
  /** Null where the journal's first line is damaged. */
  readonly owner: Owner | null;
  readonly lastSeq: number;
}

/** The journals that a process has written since its start, each with the seq that it ends with. */
export class WrittenJournals {
  readonly #journals = new Map<string, WrittenJournal>();
  #tooMany = false;
  #writes = 0;

  note(sessionId: string, owner: Owner | null, lastSeq: number): void {
    this.#writes += 1;
    if (this.#journals.size >= MAX_JOURNALS && !this.#journals.has(sessionId)) this.#tooMany = true;
    else this.#journals.set(sessionId, { sessionId, owner, lastSeq });
  }

  drop(sessionId: string): void {
    this.#journals.delete(sessionId);
  }

  /** Grows with each write: where it hasn't, {@link entries} still says the same. */
  get writes(): number {
    return this.#writes;
  }

  /** Null where there were more than are remembered. */
  entries(): readonly WrittenJournal[] | null {
    return this.#tooMany ? null : [...this.#journals.values()];
  }
}

type Journals = ReadableJournals["store"];

/** Journals up to a record each, of files that another process goes on writing to. `endOf`: seq of that record; 0: there is none. */
export function journalsAsOf(journals: Journals, endOf: (owner: Owner, sessionId: string) => Promise<number>): Journals {
  async function* read(owner: Owner, sessionId: string, options: Parameters<Journals["read"]>[2] = {}): AsyncGenerator<JournalRecord> {
    const end = await endOf(owner, sessionId);
    for await (const record of journals.read(owner, sessionId, options)) {
      if (record.seq > end) return;
      yield record;
    }
  }
  return {
    read,
    list: () => journals.list(),
    check: () => journals.check(),
    async window(owner, sessionId, options) {
      const window = await journals.window(owner, sessionId, options);
      const lastSeq = await endOf(owner, sessionId);
      if (window.lastSeq <= lastSeq) return window;
      let lastTurn = 0;
      for await (const { turn } of read(owner, sessionId, { includeRewound: true, includeTorn: true })) lastTurn = Math.max(lastTurn, turn);
      return { ...window, lastSeq, lastTurn };
    },
  };
}
