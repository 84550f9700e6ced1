import { z } from "zod";
import type { JsonObject } from "../../domain/session.js";
import { toConfirmOf } from "../../domain/to-confirm.js";
import { isAppError } from "../../platform/errors.js";
import { ASKED_EVERYTHING, type Tool } from "../../ports/agent.js";
import type { Settlement } from "../../ports/memories.js";
import { type MemoryToolParts, mustRead, quoteField } from "./tool-turn.js";

const NOT_ASKED =
  "Your answer before did not ask about this. What the user's message says plainly is kept without it; else ask now: " +
  "the next message settles it.";

const input = z.strictObject({
  answers: z
    .array(
      z.object({
        memory_id: z.string().min(1).max(64),
        answer: z.enum(["yes", "no"]),
        quote: quoteField,
      }),
    )
    .min(1)
    .max(20),
});

/**
 * `settle_memory`: the guest's yes or no to what the answer before asked about. Only what that answer's record lists, only by words that
 * are the guest's own and stand in the message that follows it.
 */
export function settleMemoryTool({ turns, inOwnWords }: MemoryToolParts): Tool<z.infer<typeof input>> {
  return {
    name: "settle_memory",
    description: "Keeps or drops what waits under `To confirm:`, when the user's message answers what your answer before asked about it.",
    parameters: input,
    maxCallsPerTurn: 3,
    run: async ({ answers }, context) => {
      mustRead(context);
      const asked = (context.asked ?? []).filter((id) => id !== ASKED_EVERYTHING);
      const { owner, sessionId: session_id, turn, userMessage, now } = context;
      // Told as it was asked: of a change that is what a yes makes true.
      const told = new Map((await turns.toConfirm(owner, { talk: false })).map((memory) => [memory.id, toConfirmOf(memory)?.text]));
      const settled: JsonObject[] = [];
      const refused: JsonObject[] = [];
      const settle = async ({ memory_id, answer, quote }: Settlement) => {
        if (!asked.includes(memory_id)) return NOT_ASKED;
        if (!inOwnWords(quote, userMessage.content)) return "The quote is not in the user's own words of this message.";
        const source = { session_id, turn, message_id: userMessage.id };
        const [memory] = await turns.settle(owner, [{ memory_id, answer, quote }], { asked, source, text: userMessage.content, now });
        settled.push({
          memory_id,
          answer,
          text: told.get(memory_id) ?? memory?.text ?? "",
          status: answer === "yes" ? "settled as true" : "dropped",
        });
        return null;
      };
      // One by one: what is refused of one answer takes no other along.
      for (const each of answers) {
        const reason = await settle(each).catch((error: unknown) => {
          if (isAppError(error, "INVALID_REQUEST") || isAppError(error, "MEMORY_NOT_FOUND")) return error.message;
          throw error;
        });
        if (reason !== null) refused.push({ memory_id: each.memory_id, reason });
      }
      return { output: { settled, ...(refused.length > 0 && { refused, note: "What was refused still waits." }) } };
    },
  };
}
