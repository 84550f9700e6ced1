import { AppError } from "../platform/errors.js";
import type { ToolContext } from "../ports/agent.js";
import type { LongTerm } from "./long-term.js";
import type { Stores } from "./stores.js";
import type { Wiring } from "./wiring.js";

/** Rounds before a message that are read with it: those that its write-back would read. */
const CONTEXT_ROUNDS = 3;

/**
 * Has the message of the turn itself read and remembered before a booking, with those that were left to be read; its write-back then
 * finds it read. A turn of which nothing may
 * be kept is not read. @throws SESSION_BUSY for an edit, whose earlier words only its write-back takes back
 */
export function readNowOf({ config }: Wiring, { store }: Stores, { longTerm }: LongTerm): (turn: ToolContext) => Promise<void> {
  return async ({ owner, sessionId, turn, userMessage, memory = "full", now, timeZone, signal }) => {
    if (!config.MEM0_ENABLED || memory !== "full") return;
    const { rounds, lastUserMessage } = await store.journal.window(owner, sessionId, { rounds: CONTEXT_ROUNDS, signal });
    const said = lastUserMessage?.id === userMessage.id ? lastUserMessage : null;
    if (said?.body.edit_of !== undefined) throw new AppError("SESSION_BUSY");
    const context = rounds.flatMap(({ user, assistant }) => [
      { role: "user" as const, content: user.body.content },
      { role: "assistant" as const, content: assistant.body.content },
    ]);
    await longTerm.remember(
      owner,
      {
        session_id: sessionId,
        turn,
        message_id: userMessage.id,
        text: userMessage.content,
        stated_at: said === null ? now : new Date(said.at),
        time_zone: said?.body.time_zone ?? timeZone,
        channel: said?.body.channel ?? "",
        context,
      },
      { now, signal },
    );
    // What was too much for one call, or was refused there.
    await longTerm.readLeft(owner, { now, signal });
  };
}
