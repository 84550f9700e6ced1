import type { JournalRecord, MessageRecord, Round, Step } from "../domain/session.js";

/** Whether a message by itself can wait to be read, behind what the assistant said before it; null: nothing. */
export type JudgeOfWaiting = (text: string, answer: string | null) => boolean;

/** What of a round tells whether it asked something. */
export type RoundBefore = Pick<Round, "assistant" | "steps">;

/**
 * Whether a message can wait to be read: by what it can hold, and never where it may settle what was to be confirmed or what a tool had
 * the model ask. `before`: the round that was answered last before it; null where there is none.
 */
export function mayWait(judge: JudgeOfWaiting, text: string, before: RoundBefore | null): boolean {
  if (before !== null && ((before.assistant.body.asked?.length ?? 0) > 0 || before.steps.some(({ output }) => asksByTool(output))))
    return false;
  return judge(text, before?.assistant.body.content ?? null);
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
