import { isAppError } from "../platform/errors.js";
import type { Sessions } from "../ports/application.js";
import type { KeptEvent } from "../ports/event-log.js";
import type { ToldEvent } from "../ports/events.js";
import type { Memories } from "../ports/memories.js";

/**
 * The words that events tell of, looked up when they are told and kept with none: what was forgotten or erased meanwhile is in no event.
 * Null where they are gone; nothing for an event of something that has no words.
 */
export function contentOfEvents({
  memories,
  sessions,
}: {
  readonly memories: Pick<Memories, "get">;
  readonly sessions: Pick<Sessions, "message">;
}): (kept: KeptEvent) => Promise<ToldEvent["content"]> {
  return async ({ owner, event: { type, data } }) => {
    const { memory_id, session_id, message_id } = data;
    try {
      if (memory_id !== undefined) return { text: (await memories.get(owner, memory_id)).text };
      if (type !== "turn.completed" || session_id === undefined || message_id === undefined) return undefined;
      const message = await sessions.message(owner, session_id, message_id);
      return message === null ? null : { text: message.content };
    } catch (error) {
      if (isAppError(error) && (error.status === 404 || error.code === "LONG_TERM_MEMORY_DISABLED")) return null;
      throw error;
    }
  };
}
