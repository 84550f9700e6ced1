import type { ExportedMemory, ExportedSession } from "../domain/export-format.js";
import type { MemorySource } from "../domain/memory.js";
import { normalised } from "../domain/normalised-text.js";

/**
 * An export's memories as its own messages bear them out: one whose quote stands in no user message of its session is what a statement by
 * hand would be, without a source. The same for a change that waits. Pure.
 */
export function bornOut(memories: readonly ExportedMemory[], sessions: readonly ExportedSession[]): ExportedMemory[] {
  const said = new Map<string, string>();
  for (const session of sessions)
    for (const { id, role, content } of session.messages) if (role === "user") said.set(keyOf(session.id, id), content);
  const stands = ({ session_id, message_id, quote }: MemorySource) => isQuoted(quote, said.get(keyOf(session_id, message_id)) ?? "");
  return memories.map((memory) => {
    const { source, pending_change: change } = memory;
    const asks = change?.source ?? null;
    return {
      ...memory,
      source: source !== null && stands(source) ? source : null,
      pending_change: change !== null && asks !== null && !stands(asks) ? { ...change, source: null } : change,
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
