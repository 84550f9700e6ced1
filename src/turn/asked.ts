import type { Round, Step } from "../domain/session.js";
import type { ToConfirm } from "../domain/to-confirm.js";
import { ASKED_EVERYTHING } from "../ports/agent.js";
import type { RememberedTurn } from "../ports/memories.js";
import type { WindowRead } from "../ports/session-store.js";

/** What an answer asked the user, and what the next message settled of it: by the turn's own records, never by what a text says. */

/** What the message that is about to be answered may settle: what the answer right before it asked. `messageId`: of that message. */
export function askedBefore({ rounds, lastUserMessage }: WindowRead, messageId: string): readonly string[] {
  const last = rounds.at(-1);
  // Another message, which got no answer, came between: what was asked is settled by the next message alone.
  if (last === undefined || (lastUserMessage !== null && lastUserMessage.id !== last.user.id && lastUserMessage.id !== messageId))
    return [];
  return [...(last.assistant.body.asked ?? []), ...(asksForgetAll(last) ? [ASKED_EVERYTHING] : [])];
}

/** What still waits after a turn: without what its tools settled. */
export function stillWaiting(waiting: readonly ToConfirm[], steps: readonly Step[]): readonly ToConfirm[] {
  const settled = new Set(steps.flatMap(settledIn));
  return waiting.filter(({ id }) => !settled.has(id));
}

/**
 * One line that says what became of the message before; the empty string where nothing of it was kept, waits or was left out.
 * What must hold and was taken out at the user's word is named among what waits.
 */
export function accountOf(before: RememberedTurn | null): string {
  if (before === null) return "";
  const kept = before.memories.filter(({ status }) => status === "active").map(({ text }) => text);
  const waiting = before.to_confirm.map(({ text }) => text);
  const dropped = Object.entries(before.dropped).filter(([, count]) => count > 0);
  const parts = [
    kept.length > 0 && `Remembered: ${kept.join("; ")}.`,
    waiting.length > 0 && `Waits for the user's word: ${waiting.join("; ")}.`,
    before.forgotten.length > 0 && `Forgotten: ${before.forgotten.length}.`,
    dropped.length > 0 && `Not kept: ${dropped.map(([code, count]) => `${count} (${code.replaceAll("_", " ")})`).join(", ")}.`,
    before.off_record === "this" && "The user asked that it is not kept: it is out of history and memory, but for what waits.",
    before.off_record === "previous" &&
      "The user asked that the one before it is not kept: it is out of history and memory, but for what waits.",
  ];
  return parts.filter((part) => part !== false).join(" ");
}

/** Whether something was forgotten in a turn. */
export function forgetsIn(steps: readonly Step[]): boolean {
  return steps.some((step) => step.name === "forget" && step.error === null && fieldOf(step.output, "status") === "forgotten");
}

function asksForgetAll({ steps }: Round): boolean {
  return steps.some((step) => step.name === "forget" && step.error === null && fieldOf(step.output, "status") === "ask_first");
}

function settledIn(step: Step): readonly string[] {
  const settled = step.error === null ? fieldOf(step.output, "settled") : undefined;
  return Array.isArray(settled) ? settled.flatMap((each) => (typeof each?.memory_id === "string" ? [each.memory_id] : [])) : [];
}

// biome-ignore lint/suspicious/noExplicitAny: JSON of a tool, looked at field by field
function fieldOf(output: unknown, name: string): any {
  return output !== null && typeof output === "object" ? (output as Record<string, unknown>)[name] : undefined;
}
