import { plain } from "../../platform/plain.js";
import type { ScriptCall } from "../../ports/offline-script.js";
import { CONCIERGE_WORDS } from "../words.js";

/** What is to be remembered, as the memory tool takes it: the guest's own sentence, filed by the words in it. */
export function rememberCall(said: string, quote: string): ScriptCall {
  const text = said.trim().replace(/[.!]+$/, "");
  const need = needIn(text);
  const category = categoryIn(text) ?? "other";
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

/** The category that the words speak of; undefined where they name none. */
export function categoryIn(text: string): string | undefined {
  const names = namedIn(text);
  return needIn(text)?.category ?? Object.entries(CONCIERGE_WORDS.categories).find(([, phrases]) => names(phrases))?.[0];
}

/** Whether a text names the same need as other words. Undefined where those name none. */
export function namesNeedOf(words: string, text: string): boolean | undefined {
  const wanted = namedIn(words);
  const needs = CONCIERGE_WORDS.needs.filter((each) => wanted(each.words)).map(({ need }) => need);
  const held = namedIn(text);
  return needs.length === 0 ? undefined : CONCIERGE_WORDS.needs.some((each) => needs.includes(each.need) && held(each.words));
}

/** Whether a text speaks of a need at all. */
export function speaksOfNeed(text: string): boolean {
  return needIn(text) !== undefined;
}

function needIn(text: string) {
  const names = namedIn(text);
  return CONCIERGE_WORDS.needs.find((each) => names(each.words));
}

function namedIn(text: string): (phrases: readonly string[]) => boolean {
  const words = ` ${singular(text)} `;
  return (phrases) => phrases.some((phrase) => words.includes(` ${singular(phrase)} `));
}

/** "Nut allergy" is about nuts. */
function singular(text: string): string {
  const words = plain(text).match(/[\p{L}\p{N}'-]+/gu) ?? [];
  return words.map((word) => (word.length > 3 ? word.replace(/s$/u, "") : word)).join(" ");
}
