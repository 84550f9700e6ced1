import type { ExportedMemory, ExportedSession } from "../domain/export-format.js";
import type { MemorySource, RestorableMemory } from "../domain/memory.js";
import { normalised } from "../domain/normalised-text.js";

/**
 * An export's memories with what its own messages say of them: one whose quote stands in no user message of its session has no source. The
 * same for a change that waits. Pure.
 */
export function bornOut(memories: readonly ExportedMemory[], sessions: readonly ExportedSession[]): RestorableMemory[] {
  const said = new Map<string, NonNullable<RestorableMemory["said"]>>();
  for (const session of sessions) {
    let before: string | null = null;
    for (const { id, role, content } of session.messages) {
      if (role === "user") said.set(keyOf(session.id, id), { text: content, before });
      else if (role === "assistant") before = content;
    }
  }
  const saidOf = (source: MemorySource | null) => {
    const message = source === null ? undefined : said.get(keyOf(source.session_id, source.message_id));
    return source !== null && message !== undefined && isQuoted(source.quote, message.text) ? message : null;
  };
  return memories.map((memory) => {
    const { source, pending_change: change } = memory;
    const message = saidOf(source);
    const asks = change?.source ?? null;
    return {
      ...memory,
      source: message === null ? null : source,
      pending_change: change !== null && asks !== null && saidOf(asks) === null ? { ...change, source: null } : change,
      ...(message !== null && { said: message }),
    };
  });
}

function keyOf(sessionId: string, messageId: string): string {
  return JSON.stringify([sessionId, messageId]);
}

function isQuoted(quote: string, message: string): boolean {
  if (quote === "") return false;
  const words = normalised(quote);
  return message.includes(quote) || (words !== "" && normalised(message).includes(words));
}
