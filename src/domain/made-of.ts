import { isId } from "../platform/ids.js";
import type { Memory } from "./memory.js";

/** Ids of the memories that one was made of: a habit's bookings, what a narrative tells. Empty for what a message stated. */
export function madeOf({ type, tags, entities }: Pick<Memory, "type" | "tags" | "entities">): readonly string[] {
  return type === "narrative" || tags.includes(HABIT) ? entities.filter(isId) : [];
}

/** Stands among the tags of what the guest did, and of what doing so again and again amounts to. */
export const HAPPENED = "happened";
export const HABIT = "habit";
