import type { Owner } from "../../domain/owner.js";
import type { JournalRecord } from "../../domain/session.js";
import type { ReadableJournals } from "../../ports/transfer.js";

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
