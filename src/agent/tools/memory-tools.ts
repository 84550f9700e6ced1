import { z } from "zod";
import { normalised } from "../../domain/folded-text.js";
import { type Memory, statementSchema } from "../../domain/memory.js";
import { only, shorterList } from "../../domain/recap.js";
import type { JsonObject, JsonValue } from "../../domain/session.js";
import { toConfirmOf } from "../../domain/to-confirm.js";
import { isAppError } from "../../platform/errors.js";
import { type AnyTool, ASKED_EVERYTHING, type Tool, WRITE_BACK_WAIT_MS } from "../../ports/agent.js";
import { type ProposedOperation, proposedOperationSchema } from "../../ports/extraction.js";
import type { RememberedTurn, Settlement } from "../../ports/memories.js";
import { forgetTool, noLongerTrueTool } from "./forget-tools.js";
import { leftOpen, type MemoryToolParts, memoryLine, mustRead, mustStandInMessage, quoteField, turnOf } from "./tool-turn.js";

/**
 * What the model does with memory at the guest's word. What the guest means is the model's to understand, in any language; the tools hold
 * what is structural: a quote from the guest's own message, the checks that all memories pass, and questions that were really asked. Each
 * result tells what was stored, so that an answer claims no more.
 */
export function memoryTools(parts: MemoryToolParts): readonly AnyTool[] {
  return [
    rememberTool(parts),
    forgetTool(parts),
    noLongerTrueTool(parts),
    searchMemoriesTool(parts),
    listMemoriesTool(parts),
    settleMemoryTool(parts),
  ];
}

const LISTED = 100;
const FOUND = 20;

const named = (memory: JsonValue) => only(memory, "memory_id", "text");

const listInput = z.strictObject({ category: z.string().max(64).optional() });

/** `list_memories`: all that holds, and what waits for the guest's word. */
function listMemoriesTool({ memories, turns, writtenBack = async () => true }: MemoryToolParts): Tool<z.infer<typeof listInput>> {
  return {
    name: "list_memories",
    description: "All that is remembered about the user, and what waits for their word.",
    parameters: listInput,
    recap: (output) => shorterList(output, "memories", named),
    run: async ({ category }, context) => {
      mustRead(context);
      const { owner, signal } = context;
      const isWritten = await writtenBack(owner, AbortSignal.any([signal, AbortSignal.timeout(WRITE_BACK_WAIT_MS)]));
      signal.throwIfAborted();
      const filter = category === undefined ? {} : { category };
      const [page, waiting] = await Promise.all([
        memories.list(owner, { limit: LISTED, status: "active", signal, ...filter }),
        turns.toConfirm(owner, { talk: false, signal }),
      ]);
      const shown = waiting.filter(
        (memory) => memory.status === "review" && (category === undefined || normalised(memory.category) === normalised(category)),
      );
      return {
        output: {
          memories: page.data.map(memoryLine),
          more: page.nextCursor !== null,
          ...(!isWritten && { still_reading: "what they said last" }),
          ...(shown.length > 0 && { not_confirmed_yet: shown.map(memoryLine) }),
        },
        used: [...page.data, ...shown].map(({ id }) => id),
      };
    },
  };
}

const searchInput = z.strictObject({
  query: z.string().min(1).max(500),
  category: z.string().max(64).optional(),
});

/** `search_memories`: what is remembered about one thing, best first. */
function searchMemoriesTool({ memories }: MemoryToolParts): Tool<z.infer<typeof searchInput>> {
  return {
    name: "search_memories",
    description: "Finds what is remembered about the user, by meaning.",
    parameters: searchInput,
    recap: (output) => shorterList(output, "memories", named),
    run: async ({ query, category }, context) => {
      mustRead(context);
      const found = await memories.search(context.owner, {
        text: query,
        limit: FOUND,
        status: "active",
        signal: context.signal,
        ...(category !== undefined && { category }),
      });
      return { output: { memories: found.map(memoryLine) }, used: found.map(({ id }) => id) };
    },
  };
}

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
function rememberTool({ turns, needs, needMeant, inOwnWords }: MemoryToolParts): Tool<Input> {
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
function settleMemoryTool({ turns, inOwnWords }: MemoryToolParts): Tool<z.infer<typeof input>> {
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
