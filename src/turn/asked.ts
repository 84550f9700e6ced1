import { askedWhich } from "../domain/asked-which.js";
import type { Memory } from "../domain/memory.js";
import type { Round, Step } from "../domain/session.js";
import { type ToConfirm, toConfirmOf } from "../domain/to-confirm.js";
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
  const offered = askedWhich(last.steps)?.memoryIds ?? [];
  return [...new Set([...(last.assistant.body.asked ?? []), ...offered]), ...(asksForgetAll(last) ? [ASKED_EVERYTHING] : [])];
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
  const waits = new Set(before.to_confirm.map(({ id }) => id));
  // Of what holds while its end waits, that end was said: told as remembered, it would read as the opposite.
  const kept = before.memories.filter(({ id, status }) => status === "active" && !waits.has(id)).map(({ text }) => text);
  const waiting = before.to_confirm.filter((memory) => !isMerelyInferred(memory)).map((memory) => toConfirmOf(memory)?.text ?? memory.text);
  const dropped = Object.entries(before.dropped).filter(([code, count]) => count > 0 && !NOTHING_LOST.has(code));
  const but = waiting.length > 0 ? ", but for what waits" : "";
  const parts = [
    kept.length > 0 && `Remembered: ${kept.join("; ")}.`,
    waiting.length > 0 && `Waits for the user's word: ${waiting.join("; ")}.`,
    before.forgotten.length > 0 && `Forgotten: ${before.forgotten.length}.`,
    dropped.length > 0 && `Not kept: ${dropped.map(([code, count]) => `${count} (${code.replaceAll("_", " ")})`).join(", ")}.`,
    before.off_record === "this" && `As the user asked, it is not kept: it is out of history and memory${but}. ${WORDS_STAY}`,
    before.off_record === "previous" &&
      `As the user asked, the message before that one is not kept: it is out of history and memory${but}. ${WORDS_STAY}`,
  ];
  return parts.filter((part) => part !== false).join(" ");
}

/** Nobody is to believe that their words are gone: an erasure takes them, this doesn't. */
const WORDS_STAY = "The words stay in this conversation and in exports of it.";

/** Of these nothing that the user said is missing: it was said twice, or what it was to end is gone already. */
const NOTHING_LOST: ReadonlySet<string> = new Set(["repeated", "unknown_target"]);

/** A taste that nobody stated is not asked about in talk, and what isn't asked about can't be answered. */
function isMerelyInferred({ strength, reason, pending_change }: Memory): boolean {
  return strength === "soft" && reason === "inferred" && pending_change === null;
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
