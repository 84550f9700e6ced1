import { AppError } from "../errors.js";
import type { Owner } from "../owner.js";
import { isId } from "../platform/ids.js";
import { isBlankFailure, type JournalRecord, type NewRecord } from "../session.js";
import type { AppendOptions, JournalCheck, ReadOptions, ShortTermMemory, WindowRead } from "../session-store.js";
import { encodeLine, numbered, ownerMark } from "./journal-codec.js";
import { throwIfAborted } from "./selected-records.js";
import { type RewindMark, standing } from "./standing.js";
import { windowOfRecords } from "./window-of-records.js";

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
    checkId(sessionId);
    if (this.#journals.has(sessionId)) throw new AppError("SESSION_CHANGED");
    const kept = numberAll(owner, records, 0);
    const [first] = kept;
    if (first?.type !== "session" || first.body.owner !== owner || kept.some(({ type }) => type === "rewind"))
      throw new AppError("INVALID_REQUEST", {
        detail: "A journal starts with the session record of its owner, and with nothing to rewind.",
      });
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
    const kept = numberAll(owner, records, journal.lastSeq);
    if (kept.some((record) => record.type === "rewind" && record.body.to_seq > journal.lastSeq))
      throw new AppError("INVALID_REQUEST", { detail: "A rewind goes back to a record that was there before it was asked for." });
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
    checkId(sessionId);
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
    checkId(sessionId);
    const journal = this.#journals.get(sessionId);
    if (journal?.owner !== owner) throw new AppError("SESSION_NOT_FOUND");
    return journal;
  }
}

function checkId(sessionId: string): void {
  if (!isId(sessionId)) throw new AppError("INVALID_SESSION_ID");
}

/** Encodes each record too, so that one that is too large for a file is refused here as well. */
function numberAll(owner: Owner, records: readonly NewRecord[], lastSeq: number): JournalRecord[] {
  return records.map((record, index) => {
    const kept = numbered(structuredClone(record), lastSeq + index + 1);
    encodeLine(kept, { owner: ownerMark(owner), last_turn: kept.turn, summary_at: null });
    return kept;
  });
}

function highestTurn(records: readonly JournalRecord[]): number {
  return records.reduce((highest, { turn }) => Math.max(highest, turn), 0);
}

function rewindsIn(records: readonly JournalRecord[]): RewindMark[] {
  return records.flatMap((record) => (record.type === "rewind" ? [{ seq: record.seq, toSeq: record.body.to_seq }] : []));
}
