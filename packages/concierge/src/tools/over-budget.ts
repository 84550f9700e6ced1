import type { Mention, RecalledMemory, Verdict } from "maitred";
import { numberIn } from "maitred/domain";
import { says } from "../phrases.js";
import { euros } from "../presentation.js";

/**
 * The verdict, and what the guest said a seat, or all of it, may cost, where this costs more: said with the quote, and a yes to that
 * books it. Of a limit that is kept nothing is said.
 */
export function withBudget(
  verdict: Verdict,
  known: readonly RecalledMemory[],
  { priceCents, quantity }: { readonly priceCents: number; readonly quantity: number },
): Verdict {
  const limits = known.flatMap(({ id, text, category, subject = "self" }) => {
    const limit = category === "budget" && subject === "self" ? numberIn(text) : null;
    return limit === null ? [] : [{ id, text, cents: limit * 100, cost: says(text, "total") ? priceCents * quantity : priceCents }];
  });
  const over = limits.filter(({ cents, cost }) => cost > cents);
  const told = over.map(({ id, text, cost }): Mention => ({ id, along: true, line: `You told me: “${text}”. This is ${euros(cost)}.` }));
  const others = verdict.mentions.filter(({ id }) => !limits.some((limit) => limit.id === id));
  return { ...verdict, mentions: [...others, ...told], checked: [...verdict.checked, ...limits.map(({ id }) => id)] };
}
