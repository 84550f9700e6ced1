import { z } from "zod";
import type { Step } from "./session.js";

/** Tools that take a memory away. */
const TAKES_AWAY: ReadonlySet<string> = new Set(["forget", "no_longer_true"]);
const offered = z.array(z.looseObject({ memory_id: z.string() })).default([]);
const asks = z.looseObject({ status: z.enum(["which_one", "ask_first", "waits"]), memories: offered, waits: offered });

/**
 * What a turn left to the guest: its last call to take a memory away ended in a question. `memoryIds`: what waits for a yes, and the one
 * that was offered alone; which of several an answer asked about, its own words tell. Null where it asked nothing.
 */
export function askedWhich(steps: readonly Step[]): { readonly memoryIds: readonly string[] } | null {
  const last = steps.findLast(({ name, error }) => TAKES_AWAY.has(name) && error === null);
  const asked = asks.safeParse(last?.output).data;
  if (asked === undefined) return null;
  const { memories, waits } = asked;
  return { memoryIds: [...(memories.length === 1 ? memories : []), ...waits].map(({ memory_id }) => memory_id) };
}
