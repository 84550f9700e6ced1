import type { PendingTurn, SessionStore } from "../ports/session-store.js";

/**
 * What a message that was said again differently replaces: the user messages, also those that were edited before, and what of it can be
 * searched. A summary that was taken back with it goes too: nobody else knows it any more. One that was written since stays.
 */
export async function replacedMessages(
  journal: Pick<SessionStore["journal"], "read">,
  { owner, sessionId }: Pick<PendingTurn, "owner" | "sessionId">,
  editOf: string | undefined,
  signal: AbortSignal,
): Promise<{ readonly messages: readonly string[]; readonly searchable: readonly string[] }> {
  if (editOf === undefined) return { messages: [], searchable: [] };
  const editedBefore = new Map<string, string>();
  const searchable: string[] = [];
  let replaced: number | null = null;
  let rewound = false;
  for await (const record of journal.read(owner, sessionId, { includeRewound: true, signal })) {
    if (record.id === editOf) replaced = record.turn;
    rewound ||= replaced !== null && record.type === "rewind";
    if (record.type === "message" && record.body.edit_of !== undefined) editedBefore.set(record.id, record.body.edit_of);
    if (record.type === "summary" && replaced !== null && !rewound) searchable.push(record.id);
    if (record.turn === replaced && record.type === "message") searchable.push(record.id);
  }
  const messages = new Set<string>();
  for (let id: string | undefined = editOf; id !== undefined && !messages.has(id); id = editedBefore.get(id)) messages.add(id);
  return { messages: [...messages], searchable };
}
