import { FORGOTTEN, ForgottenWords } from "../domain/forgotten-words.js";
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

/** The window without what tombstones hide: messages, answers that recite it, the calls of memory tools beside them. The journal stays. */
export function withoutForgotten(rounds: readonly Round[], tombstones: readonly Tombstone[]): readonly Round[] {
  if (tombstones.length === 0) return rounds;
  const forgotten = new ForgottenWords(tombstones);
  return rounds.map((round) => {
    const { user, steps, assistant } = round;
    const [isUserHidden, isAnswerHidden] = [user, assistant].map((message) => forgotten.hiding(message).length > 0);
    if (!isUserHidden && !isAnswerHidden && forgotten.givenTo(assistant).length === 0) return round;
    const recites = isAnswerHidden || forgotten.recitedBy(assistant, [user]).length > 0;
    return {
      ...round,
      user: isUserHidden ? withContent(user, FORGOTTEN) : user,
      steps: steps.filter((step) => !MEMORY_TOOLS.has(step.name)),
      assistant: recites ? withContent(assistant, FORGOTTEN) : assistant,
    };
  });
}

function withContent(message: MessageRecord, content: string): MessageRecord {
  return { ...message, body: { ...message.body, content } };
}
