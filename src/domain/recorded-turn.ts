import type { JournalRecord, MessageRecord, Step } from "./session.js";

/** How the journal tells a turn: its user message, and how its last attempt ended. */
export interface RecordedTurn {
  readonly user: MessageRecord;
  readonly steps: readonly Step[];
  /** Null while it runs, or when the process died before it ended. */
  readonly assistant: MessageRecord | null;
}

export type CompletedTurn = RecordedTurn & { readonly assistant: MessageRecord };

/**
 * Puts a turn together from its records; steps of an attempt that failed are left out, and so is what ends without an answer behind one.
 * Null where there is no such turn.
 */
export function recordedTurn(records: Iterable<JournalRecord>, turn: number): RecordedTurn | null {
  let user: MessageRecord | null = null;
  let steps: Step[] = [];
  let assistant: MessageRecord | null = null;
  for (const record of records) {
    if (record.turn !== turn) continue;
    if (record.type === "step") steps.push(record.body);
    if (record.type !== "message") continue;
    if (record.body.role === "user") user = record;
    if (record.body.role !== "assistant") continue;
    if (assistant?.body.outcome === "completed" && hasNoAnswer(record)) continue;
    assistant = record;
    if (record.body.outcome !== "completed") steps = [];
  }
  return user && { user, steps, assistant };
}

/** Whether what the user said counts as said: their turn has ended, with an answer or without one, or an agent elsewhere sees to that. */
export function isSaid(turn: RecordedTurn): boolean {
  return turn.assistant?.body.outcome !== undefined || turn.user.body.ingested === true;
}

/** Whether it ended without an answer, so far: it failed, was interrupted, or waits for its caller's tools. */
export function isUnanswered(turn: RecordedTurn | null): boolean {
  const { outcome = "completed" } = turn?.assistant?.body ?? {};
  return outcome !== "completed";
}

export function isCompleted(turn: RecordedTurn): turn is CompletedTurn {
  return turn.assistant?.body.outcome === "completed";
}

/** The mark of a failed turn that never came to a word: journalled, but nothing that was said, and no message to a client. */
export function isBlankFailure({ body }: Pick<MessageRecord, "body">): boolean {
  return hasNoAnswer({ body }) && body.content === "";
}

/** Whether an assistant's message tells that its turn failed, was interrupted, or waits for its caller's tools. */
export function hasNoAnswer({ body }: Pick<MessageRecord, "body">): boolean {
  return body.role === "assistant" && (body.outcome ?? "completed") !== "completed";
}

/** Whether an assistant's message answers its turn: not one that failed, nor one on the way to the answer. */
export function isAnswer({ body }: MessageRecord): boolean {
  return body.role === "assistant" && (body.outcome ?? "completed") === "completed" && body.interim !== true;
}
