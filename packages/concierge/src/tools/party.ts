import type { Judge, Party, ToolContext } from "maitred";
import { joined } from "maitred/domain";
import type { Quote } from "../booking-rows.js";

/** Who comes to what is quoted. */

interface Named {
  readonly companions?: readonly string[] | undefined;
  readonly not_coming?: readonly string[] | undefined;
}

/** By the quote that is answered or replaced and by the call, but for those who don't come; each person once, however they are called. */
export function partyOf(
  before: Quote | undefined,
  { companions = [], not_coming = [] }: Named,
  people: Judge["people"],
): Pick<Party, "companions" | "absent"> {
  const isOneOf = (name: string, names: readonly string[]) => names.some((each) => people.isSame(name, each));
  const absent = joined(before?.absent ?? [], not_coming).filter((name) => !isOneOf(name, companions));
  const named = joined(before?.companions ?? [], companions).filter((name) => !isOneOf(name, absent));
  return { companions: people.once(named), absent };
}

/** All who are spoken of. */
export function namedIn(before: Quote | undefined, { companions = [], not_coming = [] }: Named): readonly string[] {
  return [...(before?.companions ?? []), ...(before?.absent ?? []), ...companions, ...not_coming];
}

export function partyFor(
  { quantity }: { readonly quantity: number },
  who: Pick<Party, "companions" | "absent">,
  context: ToolContext,
): Party {
  const { sessionId, earlierMessages = [], userMessage } = context;
  return { ...who, size: quantity, said: [...earlierMessages, userMessage.content], sessionId };
}
