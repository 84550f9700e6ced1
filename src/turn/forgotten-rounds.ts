import { FORGOTTEN, sharesWord } from "../domain/forgotten-words.js";
import type { MessageRecord, Round } from "../domain/session.js";
import type { Tombstone } from "../ports/owner-ledger.js";

/** Their results tell of memories; those of other tools (what was found, what was booked) stay. */
const MEMORY_TOOLS: ReadonlySet<string> = new Set([
  "remember",
  "forget",
  "no_longer_true",
  "list_memories",
  "search_memories",
  "settle_memory",
  "search_history",
]);

/**
 * The window without the messages that tombstones hide; the journal keeps what was said. An answer goes with them where it repeats a
 * telling word of its message, or of a forgotten memory that it was given; so do the calls of memory tools of that round.
 */
export function withoutForgotten(rounds: readonly Round[], tombstones: readonly Tombstone[]): readonly Round[] {
  if (tombstones.length === 0) return rounds;
  const hidden = new Set(tombstones.flatMap((tombstone) => tombstone.messageIds));
  const memories = new Set(tombstones.map((tombstone) => tombstone.memoryId));
  return rounds.map((round) => {
    const { user, steps, assistant } = round;
    const told = [user, assistant].filter(({ id, body }) => hidden.has(id) || hidden.has(body.origin_id ?? ""));
    const known = (assistant.body.memory?.recalled ?? []).filter(({ id }) => memories.has(id));
    if (told.length === 0 && known.length === 0) return round;
    const forgotten = [...told.map(({ body }) => body.content), ...known.map(({ text }) => text)];
    const repeats = told.includes(assistant) || sharesWord(assistant.body.content, forgotten);
    return {
      ...round,
      user: told.includes(user) ? withContent(user, FORGOTTEN) : user,
      steps: steps.filter((step) => !MEMORY_TOOLS.has(step.name)),
      assistant: repeats ? withContent(assistant, FORGOTTEN) : assistant,
    };
  });
}

function withContent(message: MessageRecord, content: string): MessageRecord {
  return { ...message, body: { ...message.body, content } };
}
