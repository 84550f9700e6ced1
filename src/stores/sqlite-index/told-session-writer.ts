import type { Owner } from "../../domain/owner.js";
import type { JournalRecord, NewRecord } from "../../domain/session.js";
import { sessionEvents } from "../../domain/session-events.js";
import type { EventLog } from "../../ports/event-log.js";
import type { AppendOptions, CreateOptions } from "../../ports/session-store.js";
import type { SessionWriter } from "../../ports/session-writer.js";

/** Tells what is written to sessions whose store tells nothing by itself. */
export class ToldSessionWriter implements SessionWriter {
  readonly #writer: SessionWriter;
  readonly #events: EventLog;

  constructor(writer: SessionWriter, events: EventLog) {
    this.#writer = writer;
    this.#events = events;
  }

  async create(owner: Owner, sessionId: string, records: readonly NewRecord[], options?: CreateOptions): Promise<readonly JournalRecord[]> {
    return this.#told(owner, sessionId, await this.#writer.create(owner, sessionId, records, options));
  }

  async append(owner: Owner, sessionId: string, records: readonly NewRecord[], options?: AppendOptions): Promise<readonly JournalRecord[]> {
    return this.#told(owner, sessionId, await this.#writer.append(owner, sessionId, records, options));
  }

  async #told(owner: Owner, sessionId: string, written: readonly JournalRecord[]): Promise<readonly JournalRecord[]> {
    await this.#events.add(owner, sessionEvents(owner, sessionId, written));
    return written;
  }
}
