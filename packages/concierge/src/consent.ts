import { createHash } from "node:crypto";
import { standsIn } from "maitred/domain";
import type { Quote } from "./booking-rows.js";

/**
 * The guest's consent, as structure: words that stand in their own message, to something that an earlier answer showed and that has not
 * changed since. What the words mean is the model's to judge; the code holds where they come from and what they are about.
 */

/** What stood against a booking when the guest was told. */
export interface Obstacle {
  readonly eventId: string;
  readonly section: string;
  /** Memories that it would break, in any order. */
  readonly memoryIds: readonly string[];
  /** Whether what must hold could not be read, or not all of it. */
  readonly unchecked: boolean;
}

/** Stands for an obstacle as it was shown: another event, another section or other memories have another token. 16 characters. */
export function tokenOf({ eventId, section, memoryIds, unchecked }: Obstacle): string {
  return hashOf([eventId, section, [...new Set(memoryIds)].sort(), unchecked]);
}

/** What of a quote a guest agrees to. */
export type Quoted = Pick<Quote, "id" | "section" | "quantity" | "totalCents" | "companions" | "mentioned">;

/** Stands for a quote as it was shown, with nothing against it. 16 characters. */
export function tokenOfQuote({ id, section, quantity, totalCents, companions, mentioned }: Quoted): string {
  return hashOf([id, section, quantity, totalCents, companions, mentioned]);
}

function hashOf(what: unknown): string {
  return createHash("sha256").update(JSON.stringify(what)).digest("hex").slice(0, 16);
}

export interface Answer {
  readonly agreed?: string | undefined;
  readonly override?: { readonly token: string; readonly quote: string } | undefined;
}

/**
 * Why an answer to what stands against a quote is none, for the model to mend it; null where there is no answer.
 * `asked`: what of it the guest was told before.
 */
export function whyRefused({ agreed, override }: Answer, asked: Quote["stop"], message: string): string | null {
  if (agreed === undefined && override === undefined) return null;
  if (asked === null) return "Tell the guest first: only a later message of theirs can answer this.";
  if (override === undefined)
    return "`agreed` passes over nothing: where the guest's words say to book it all the same, call again with override.";
  if (override.token !== asked.token) return "override.token is not that of what the guest was asked about.";
  if (!standsIn(override.quote, message)) return "override.quote does not stand in the guest's message, word for word.";
  return "override.memory_ids must be those of all the conflicts, and no others.";
}
