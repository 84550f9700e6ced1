import type { DomainWords, MessageToRead, Need, ProposedOperation } from "maitred";
import { needsNamedIn, proposedOperationSchema, readableName } from "maitred/stand-in";
import { isUnread } from "./language.js";

const MAX_QUOTE_CHARS = 200;
const ASKS = /[?？؟]/u;

/**
 * Of a message in a language that nobody here reads: the needs whose words stand in it. Who has them, and whether at all, can't be told, so
 * that the guest is asked; lost they must not be.
 */
export function foreignNeeds(own: string, { known }: MessageToRead, needs: readonly Need[], words: DomainWords): ProposedOperation[] {
  if (!isUnread(own) || ASKS.test(own)) return [];
  const held = new Set(known.filter(({ strength }) => strength === "hard").map(({ need }) => need));
  const quote = own.trim().slice(0, MAX_QUOTE_CHARS).trim();
  return [...needsNamedIn(own, needs)]
    .filter((need) => !held.has(need))
    .map((need) => {
      const category = words.needs.find((each) => each.need === need)?.category ?? "other";
      return proposedOperationSchema.parse({
        op: "add",
        quote,
        text: readableName(need),
        category,
        need,
        strength: "hard",
        stance: "unsure",
      });
    });
}
