import { z } from "zod";
import { type Memory, statementSchema } from "../../domain/memory.js";
import { isAppError } from "../../platform/errors.js";
import type { Tool } from "../../ports/agent.js";
import { type ProposedOperation, proposedOperationSchema } from "../../ports/extraction.js";
import type { RememberedTurn } from "../../ports/memories.js";
import { leftOpen, type MemoryToolParts, mustRead, mustStandInMessage, quoteField, turnOf } from "./tool-turn.js";

const OTHER = "other";

const fields = z.strictObject({
  quote: quoteField,
  text: statementSchema.shape.text.describe('third person, no subject: "Prefers aisle seats"'),
  // In the model's own word: one that is unknown becomes the nearest.
  category: statementSchema.shape.category,
  about: z.string().max(200).optional().describe("the thing itself, in the quote's words"),
  condition: z.string().max(120).optional().describe('where not always: "for opera"'),
  need: z.string().max(64).nullish(),
  strength: z.enum(["hard", "soft"]).optional().describe("hard: must hold"),
  subject: z.string().max(74).optional().describe("default self; companion:<name>"),
  valid_until: z.string().max(40).optional().describe("ISO 8601"),
});

type Input = z.infer<typeof fields>;

/** With the domain's needs by name: what must hold names one of them, so that a booking can be compared with it. */
function inputNaming({ needs, needMeant }: Pick<MemoryToolParts, "needs" | "needMeant">): z.ZodType<Input> {
  if (needs.length === 0) return fields;
  const names = [...needs.map(({ name }) => name), OTHER];
  const meant = (said: unknown) => (typeof said === "string" ? (needMeant(said) ?? said) : said);
  const need = z.preprocess(meant, z.enum(names).nullish().describe("given whenever strength is hard"));
  return fields.extend({ need }).refine(({ strength, need: named }) => strength !== "hard" || (named ?? null) !== null, {
    path: ["need"],
    message: `what is hard names its need: ${names.join(", ")}`,
  });
}

/** Reading a message takes a model call. */
const TIMEOUT_MS = 30_000;

/** What the tool itself was given to keep is kept all the same; the rest of the message is read after the answer. */
function unlessUnreadable(error: unknown): RememberedTurn {
  if (!isAppError(error, "EXTRACTION_FAILED")) throw error;
  return { memories: [], to_confirm: [], forgotten: [], off_record: null, dropped: {} };
}

/**
 * `remember`: keeps at once what the guest asks to be remembered. The message is read now instead of after the answer, once; only what that
 * reading left out of the words meant is taken from the call itself, by the same checks.
 */
export function rememberTool({ turns, needs, needMeant, inOwnWords }: MemoryToolParts): Tool<Input> {
  return {
    name: "remember",
    description: "Keeps what the user asks to be remembered. What they say in passing is kept without it.",
    parameters: inputNaming({ needs, needMeant }),
    maxCallsPerTurn: 5,
    timeoutMs: TIMEOUT_MS,
    run: async (said, context) => {
      mustRead(context);
      mustStandInMessage(said.quote, context, inOwnWords);
      const options = { now: context.now, signal: context.signal };
      const read = await turns.remember(context.owner, turnOf(context), options).catch(unlessUnreadable);
      const meant = ({ source }: Memory) =>
        source?.message_id === context.userMessage.id && (inOwnWords(source.quote, said.quote) || inOwnWords(said.quote, source.quote));
      const operation: ProposedOperation = proposedOperationSchema.parse({ op: "add", ...said });
      const isRead = [...read.memories, ...read.to_confirm].some(meant);
      const given = isRead ? read : await turns.propose(context.owner, turnOf(context), [operation], options);
      const kept = given.memories.filter(({ status }) => status === "active").map(({ text }) => text);
      const status = kept.length > 0 ? "remembered" : given.to_confirm.length > 0 ? "waits" : "not_kept";
      return { output: { status, ...(kept.length > 0 && { remembered: kept }), ...leftOpen(given) } };
    },
  };
}
