import type { JournalRecord, MessageRecord, Round, Step } from "../domain/session.js";

/** Words of a message that is not worth a call of its own. */
const FEW_WORDS = 3;
/** One "word" may be a link. */
const FEW_CHARS = 80;
/** In any script. */
const QUESTION_MARK = /[?？؟՞\u037e⸮፧]/u;

const words = new Intl.Segmenter(undefined, { granularity: "word" });

/** What of a round tells whether it asked something. */
export type RoundBefore = Pick<Round, "assistant" | "steps">;

/**
 * Whether a message is too short to be read by a call of its own: up to three words, and nothing was asked before it, so that they are no
 * answer. "Nut allergy!" is as short as "Thanks": it is read all the same, along with the next message, or before a booking.
 * `before`: the round that was answered last before it; null where there is none.
 */
export function isShortAside(text: string, before: RoundBefore | null): boolean {
  return text.length <= FEW_CHARS && wordsIn(text) <= FEW_WORDS && (before === null || !asks(before));
}

/** Up to one more than matters. */
function wordsIn(text: string): number {
  let count = 0;
  for (const { isWordLike } of words.segment(text)) if (isWordLike && ++count > FEW_WORDS) break;
  return count;
}

/** By what stands in the records: a question mark, a memory that was to be confirmed, a tool that had the model ask. */
function asks({ assistant: { body }, steps }: RoundBefore): boolean {
  return QUESTION_MARK.test(body.content) || (body.asked?.length ?? 0) > 0 || steps.some(({ output }) => asksByTool(output));
}

function asksByTool(output: Step["output"]): boolean {
  if (output === null || typeof output !== "object" || Array.isArray(output)) return false;
  return output.ask !== undefined || output.status === "needs_confirmation";
}

/** The completed round before a turn, from the records of its session in their order. */
export function roundBefore(records: readonly JournalRecord[], turn: number): RoundBefore | null {
  const assistant = records.findLast(
    (record): record is MessageRecord =>
      record.type === "message" && record.turn < turn && record.body.role === "assistant" && record.body.outcome === "completed",
  );
  if (assistant === undefined) return null;
  const steps = records.flatMap((record) => (record.type === "step" && record.turn === assistant.turn ? [record.body] : []));
  return { assistant, steps };
}
