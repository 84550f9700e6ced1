import type { ScriptCall } from "../../ports/offline-script.js";
import { plain } from "../vocabulary.js";
import { CONCIERGE_WORDS } from "../words.js";

/** What is to be remembered, as the memory tool takes it: the guest's own sentence, filed by the words in it. */
export function rememberCall(said: string, quote: string): ScriptCall {
  const text = said.trim().replace(/[.!]+$/, "");
  const words = ` ${(plain(text).match(/[\p{L}\p{N}'-]+/gu) ?? []).join(" ")} `;
  const names = (phrases: readonly string[]) => phrases.some((phrase) => words.includes(` ${plain(phrase)} `));
  const need = CONCIERGE_WORDS.needs.find((each) => names(each.words));
  const category = need?.category ?? Object.entries(CONCIERGE_WORDS.categories).find(([, phrases]) => names(phrases))?.[0] ?? "other";
  return {
    name: "remember",
    arguments: {
      quote,
      text: text.charAt(0).toUpperCase() + text.slice(1),
      category,
      ...(need !== undefined && { need: need.need }),
      strength: need !== undefined ? "hard" : "soft",
    },
  };
}
