import type { Owner } from "../domain/owner.js";
import type { Round } from "../domain/session.js";
import type { Tombstone } from "../ports/owner-ledger.js";
import type { SessionStore, WindowRead } from "../ports/session-store.js";
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

/**
 * Whether rounds that were read before are there still. A conversation changes at its end alone (a message said again differently), as a
 * whole (an emptied session), or from its beginning (a merge that was undone): so they are while the first and the last is. `now`: its end.
 */
export async function areLeft(
  journal: Pick<SessionStore["journal"], "read">,
  owner: Owner,
  sessionId: string,
  rounds: readonly Round[],
  now: Pick<WindowRead, "rounds">,
): Promise<boolean> {
  const [first, last] = [rounds[0], rounds.at(-1)];
  if (first === undefined || !now.rounds.some((round) => round.assistant.id === last?.assistant.id)) return false;
  for await (const { id } of journal.read(owner, sessionId, { fromSeq: first.user.seq })) return id === first.user.id;
  return false;
}
