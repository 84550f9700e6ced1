import type { Sessions } from "../application.js";
import { isAppError } from "../errors.js";
import type { Memory } from "../long-term.js";
import type { Owner } from "../owner.js";

/**
 * The user's own words that a memory comes from, byte for byte from the journal, also where the message was said again differently;
 * null when they are purged (the session is gone, or the memory's quote was taken out with it).
 */
export async function wordsBehind(
  sessions: Pick<Sessions, "message">,
  owner: Owner,
  source: NonNullable<Memory["source"]>,
): Promise<string | null> {
  try {
    return (await sessions.message(owner, source.session_id, source.message_id))?.content ?? null;
  } catch (error) {
    if (isAppError(error, "SESSION_NOT_FOUND")) return null;
    throw error;
  }
}
