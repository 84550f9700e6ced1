import type { Owner } from "../domain/owner.js";
import type { MessageRecord } from "../domain/session.js";
import type { ShortTermMemory } from "../ports/session-store.js";

/** Records that are read for each message that is wanted, at first: what was made of it stands there too. */
const RECORDS_EACH = 4;

/** The newest so many messages that stand, oldest first: from the journal's end, as far back as it takes. @throws SESSION_NOT_FOUND */
export async function newestMessages(
  journal: Pick<ShortTermMemory, "window" | "read">,
  owner: Owner,
  sessionId: string,
  limit: number,
): Promise<MessageRecord[]> {
  const { lastSeq } = await journal.window(owner, sessionId, { rounds: 0 });
  for (let records = (limit + 1) * RECORDS_EACH; ; records *= 4) {
    const fromSeq = Math.max(1, lastSeq - records + 1);
    const messages = await messagesFrom(journal, owner, sessionId, fromSeq);
    if (messages.length >= limit || fromSeq === 1) return messages.slice(Math.max(0, messages.length - limit));
  }
}

/** @throws SESSION_NOT_FOUND */
export async function messagesFrom(
  journal: Pick<ShortTermMemory, "read">,
  owner: Owner,
  sessionId: string,
  fromSeq: number,
): Promise<MessageRecord[]> {
  const messages: MessageRecord[] = [];
  for await (const record of journal.read(owner, sessionId, { fromSeq })) if (record.type === "message") messages.push(record);
  return messages;
}
