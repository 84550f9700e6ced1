import type { RecalledMemory } from "../domain/session.js";
import { renderUserContext, volatileBlocks } from "./context-blocks.js";

/** Pieces of what a model was given, by name, made again from what is kept of the turn; those that can't be are left out. Pure. */
export function rebuiltBlocks(from: {
  readonly prompt: string;
  readonly question: string;
  readonly pageContext: string | null;
  readonly recalled: readonly RecalledMemory[];
  readonly now: Date;
  readonly timeZone: string;
}): Readonly<Record<string, string>> {
  const { prompt, question, recalled, now, timeZone } = from;
  const volatile = volatileBlocks({ ...from, history: [] }, renderUserContext(recalled, now, timeZone).text);
  return { prompt, question, ...Object.fromEntries(volatile.map(({ name, text }) => [name, text])) };
}
