import type { Memory, MemorySource } from "../domain/memory.js";
import { madeOf } from "../domain/memory-record.js";
import type { Owner } from "../domain/owner.js";
import { insteadOf } from "../platform/errors.js";
import type { Sessions } from "../ports/application.js";
import type { Memories } from "../ports/memories.js";
import type { Why } from "../ports/resources.js";

/** Memories that are named as those which another was made of. */
const MAX_BEHIND = 50;

/** @throws MEMORY_NOT_FOUND */
export async function whyOf(
  { memories, sessions }: { readonly memories: Pick<Memories, "get">; readonly sessions: Pick<Sessions, "message"> },
  owner: Owner,
  id: string,
  signal?: AbortSignal,
): Promise<Why> {
  const cancel = signal === undefined ? {} : { signal };
  const memory = await memories.get(owner, id, cancel);
  const source = memory.source && { ...memory.source, message: await wordsBehind(sessions, owner, memory.source) };
  const because: Memory[] = [];
  for (const behind of madeOf(memory).slice(0, MAX_BEHIND)) {
    const found = await memories.get(owner, behind, cancel).catch(insteadOf("MEMORY_NOT_FOUND", null));
    if (found !== null) because.push(found);
  }
  return { memory, source, because };
}

/**
 * The user's own words that a memory comes from, byte for byte from the journal, also where the message was said again differently;
 * null when they are purged (the session is gone, or the memory's quote was taken out with it).
 */
async function wordsBehind(sessions: Pick<Sessions, "message">, owner: Owner, source: MemorySource): Promise<string | null> {
  const message = await sessions.message(owner, source.session_id, source.message_id).catch(insteadOf("SESSION_NOT_FOUND", null));
  return message?.content ?? null;
}
