import type { Round } from "../domain/session.js";
import type { Tombstone } from "../ports/owner-ledger.js";
import type { SummaryRound } from "./extractive-summary.js";

/**
 * A round whose sentence was forgotten goes whole: its answer may repeat it. So does any answer that was given with the forgotten
 * memory.
 */
export function withoutForgotten(rounds: readonly Round[], tombstones: readonly Tombstone[]): SummaryRound[] {
  const hidden = new Set(tombstones.flatMap((tombstone) => tombstone.messageIds));
  const memories = new Set(tombstones.map((tombstone) => tombstone.memoryId));
  const gone = (message: Round["user"]) => hidden.has(message.id) || hidden.has(message.body.origin_id ?? "");
  return rounds.map(({ turn, user, steps, assistant }) => {
    if (gone(user)) return { turn, user: null, assistant: null, acted: false };
    const repeats = gone(assistant) || (assistant.body.memory?.recalled.some((memory) => memories.has(memory.id)) ?? false);
    return { turn, user: user.body.content, assistant: repeats ? null : assistant.body.content, acted: steps.length > 0 };
  });
}
