import { z } from "zod";
import { type Memory, WAITING_REASONS } from "./memory.js";

/** At most this many are told at once, hard ones first. */
export const MAX_TO_CONFIRM = 5;

/** What waits for the guest's word, as an answer tells it: a memory, or a change of one. */
export const toConfirmSchema = z.object({
  id: z.string(),
  /**
   * Of a change: "No longer: Is allergic to nuts", "Forget: Is allergic to nuts",
   * "Prefers box seats (instead of: Prefers aisle seats)".
   */
  text: z.string().meta({ description: "What a yes makes true." }),
  category: z.string(),
  strength: z.enum(["hard", "soft"]),
  /** `self` or `companion:<name>`. */
  subject: z.string().default("self"),
  reason: z.enum(WAITING_REASONS),
  /** The guest's words that it comes from, where they were said in this session: those of another are not copied into its journal. */
  quote: z.string(),
  change: z.enum(["end", "supersede", "forget"]).optional().meta({ description: "Set where the memory holds and a change of it waits." }),
});
export type ToConfirm = z.infer<typeof toConfirmSchema>;

/** Null for a memory of which nothing waits. */
export function toConfirmOf(memory: Memory): ToConfirm | null {
  const { id, category, strength, subject, pending_change: change } = memory;
  if (change !== null) {
    const taken = `${change.op === "forget" ? "Forget" : "No longer"}: ${memory.text}`;
    const text = change.statement === null ? taken : `${change.statement.text} (instead of: ${memory.text})`;
    return { id, text, category, strength, subject, reason: change.reason, quote: change.source?.quote ?? "", change: change.op };
  }
  if (memory.status !== "review") return null;
  return { id, text: memory.text, category, strength, subject, reason: memory.reason ?? "unsure", quote: memory.source?.quote ?? "" };
}

/** What of these is told in a session: hard ones first, else in the order given. */
export function toldToConfirm(waiting: readonly Memory[], sessionId: string): readonly ToConfirm[] {
  const all = waiting.flatMap((memory): ToConfirm[] => {
    const told = toConfirmOf(memory);
    if (told === null) return [];
    const source = memory.pending_change === null ? memory.source : memory.pending_change.source;
    return [source?.session_id === sessionId ? told : { ...told, quote: "" }];
  });
  const hard = all.filter(({ strength }) => strength === "hard");
  return [...hard, ...all.filter(({ strength }) => strength !== "hard")].slice(0, MAX_TO_CONFIRM);
}
