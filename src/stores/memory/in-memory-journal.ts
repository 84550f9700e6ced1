import { isBlankFailure } from "../../domain/message-kinds.js";
import type { Owner } from "../../domain/owner.js";
import type { JournalRecord, NewRecord } from "../../domain/session.js";
import { AppError } from "../../platform/errors.js";
import type {
  AppendOptions,
  JournalCheck,
  NewestFirstOptions,
  ReadOptions,
  ShortTermMemory,
  WindowRead,
} from "../../ports/session-store.js";
import { checkFirst, checkRewinds, checkSessionId, highestTurn, numberedAll } from "../journal/new-records.js";
import { outsideRewinds, type RewindMark, standing } from "../journal/rewound-records.js";
import { throwIfAborted } from "../journal/selected-records.js";
import { windowOfRecords } from "../journal/window-of-records.js";

interface Journal {
  readonly owner: Owner;
  records: JournalRecord[];
  lastSeq: number;
  lastTurn: number;
  fence: number;
}

/** Short-term memory that is gone with the process: the same contract, durability aside. For tests, and for trying things out. */
export class InMemoryJournal implements ShortTermMemory {
  readonly #journals = new Map<string, Journal>();

  async create(owner: Owner, sessionId: string, records: readonly NewRecord[]): Promise<readonly JournalRecord[]> {
    checkSessionId(sessionId);
    if (this.#journals.has(sessionId)) throw new AppError("SESSION_CHANGED");
    const kept = numberedAll(owner, records, 0);
    checkFirst(owner, kept);
    this.#journals.set(sessionId, { owner, records: kept, lastSeq: kept.length, lastTurn: highestTurn(kept), fence: 0 });
    return structuredClone(kept);
  }

  async append(
    owner: Owner,
    sessionId: string,
    records: readonly NewRecord[],
    options: AppendOptions = {},
  ): Promise<readonly JournalRecord[]> {
    const journal = this.#journal(owner, sessionId);
    if (options.expectedSeq !== undefined && options.expectedSeq !== journal.lastSeq) throw new AppError("SESSION_CHANGED");
    if (options.fence !== undefined && options.fence < journal.fence) throw new AppError("FENCED");
    const kept = numberedAll(owner, records, journal.lastSeq);
    checkRewinds(kept, journal.lastSeq);
    journal.records.push(...kept);
    journal.lastSeq += kept.length;
    journal.lastTurn = Math.max(journal.lastTurn, highestTurn(kept));
    journal.fence = options.fence ?? journal.fence;
    return structuredClone(kept);
  }

  async window(owner: Owner, sessionId: string, options: { readonly rounds: number; readonly signal?: AbortSignal }): Promise<WindowRead> {
    throwIfAborted(options.signal);
    const { records, lastSeq, lastTurn } = this.#journal(owner, sessionId);
    const stands = standing(rewindsIn(records));
    return { ...structuredClone(windowOfRecords(records.filter(stands), options.rounds)), lastSeq, lastTurn, bytesRead: 0 };
  }

  async *read(owner: Owner, sessionId: string, options: ReadOptions = {}): AsyncGenerator<JournalRecord> {
    const records = [...this.#journal(owner, sessionId).records];
    const stands = options.includeRewound === true ? () => true : standing(rewindsIn(records));
    for (const record of records) {
      throwIfAborted(options.signal);
      if (record.seq >= (options.fromSeq ?? 1) && stands(record)) yield structuredClone(record);
    }
  }

  async *newestFirst(owner: Owner, sessionId: string, options: NewestFirstOptions = {}): AsyncGenerator<JournalRecord> {
    const { beforeSeq = Number.POSITIVE_INFINITY, signal } = options;
    const before = this.#journal(owner, sessionId).records.filter(({ seq }) => seq < beforeSeq);
    for await (const record of outsideRewinds(before.reverse())) {
      throwIfAborted(signal);
      yield structuredClone(record);
    }
  }

  async rewrite(owner: Owner, sessionId: string, change: (record: JournalRecord) => JournalRecord | null): Promise<void> {
    const journal = this.#journal(owner, sessionId);
    journal.records = journal.records.flatMap((record) => {
      const changed = change(structuredClone(record)) ?? (record.type === "session" ? record : null);
      return changed === null ? [] : [{ ...changed, seq: record.seq }];
    });
  }

  async compress(owner: Owner, sessionId: string): Promise<void> {
    this.#journal(owner, sessionId);
  }

  async remove(owner: Owner, sessionId: string): Promise<boolean> {
    checkSessionId(sessionId);
    return this.#journals.get(sessionId)?.owner === owner && this.#journals.delete(sessionId);
  }

  async *list(): AsyncGenerator<{ readonly owner: Owner; readonly sessionId: string; readonly lastSeq: number }> {
    for (const [sessionId, { owner, lastSeq }] of [...this.#journals]) yield { owner, sessionId, lastSeq };
  }

  async *check(): AsyncGenerator<JournalCheck> {
    for (const [sessionId, { records }] of [...this.#journals])
      yield { sessionId, path: null, records: records.length, damagedLines: [], tornBytes: 0 };
  }

  async erase(owner: Owner): Promise<{ readonly sessions: number; readonly messages: number }> {
    let sessions = 0;
    let messages = 0;
    for (const [sessionId, journal] of [...this.#journals]) {
      if (journal.owner !== owner) continue;
      messages += journal.records.filter((record) => record.type === "message" && !isBlankFailure(record)).length;
      sessions += 1;
      this.#journals.delete(sessionId);
    }
    return { sessions, messages };
  }

  async residue(owner: Owner): Promise<number> {
    return [...this.#journals.values()].filter((journal) => journal.owner === owner).length;
  }

  #journal(owner: Owner, sessionId: string): Journal {
    checkSessionId(sessionId);
    const journal = this.#journals.get(sessionId);
    if (journal?.owner !== owner) throw new AppError("SESSION_NOT_FOUND");
    return journal;
  }
}

function rewindsIn(records: readonly JournalRecord[]): RewindMark[] {
  return records.flatMap((record) => (record.type === "rewind" ? [{ seq: record.seq, toSeq: record.body.to_seq }] : []));
}
