import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Conversation, conversationsIn } from "../../src/operations/evaluation-set.js";

/** Conversations that strangers wrote as guests type them. */
const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const SETS = {
  /** Outside of the repository; not everybody has it. */
  dev: path("../../../shared/data/guests-dev.jsonl"),
  seen: path("../guests/seen.jsonl"),
  /** Written before the rules were looked at, half to work with and half put aside at first; all of it has been read since. */
  strangers: path("../guests/strangers.jsonl"),
  "put-aside": path("../guests/put-aside.jsonl"),
  "held-out": path("../guests/held-out.jsonl"),
  /** Looked at by nobody who wrote the rules or the checks when its first figures were taken; its losses have been read since. */
  unseen: path("../guests/unseen.jsonl"),
  /** By another hand: the first half was worked with; the losses of the other have been read since its first figures. */
  "passers-by": path("../guests/passers-by.jsonl"),
  newcomers: path("../guests/newcomers.jsonl"),
  /** By one more: no rule was tuned on it, thresholds were. */
  regulars: path("../guests/regulars.jsonl"),
  /** Half of them nothing to remember: the first half was worked with, of the other only what it asks not to keep. */
  callers: path("../guests/callers.jsonl"),
  "walk-ins": path("../guests/walk-ins.jsonl"),
  /** Each by one hand more, half of them nothing to remember, with much that looks as if it were: learnt of. */
  commuters: path("../guests/commuters.jsonl"),
  homebodies: path("../guests/homebodies.jsonl"),
  "night-owls": path("../guests/night-owls.jsonl"),
  "long-weekenders": path("../guests/long-weekenders.jsonl"),
  /** Like them, and looked at by nobody when its first figures were taken. */
  "first-timers": path("../guests/first-timers.jsonl"),
  /** By one more, after what the others showed was mended; the same. */
  "drop-ins": path("../guests/drop-ins.jsonl"),
  /** Short messages, by one more; what was true once is forbidden. Worked with. */
  "day-trippers": path("../guests/day-trippers.jsonl"),
};

export interface ConversationSet {
  readonly name: string;
  readonly conversations: readonly Conversation[];
}

/** The sets that are there, and last a file of one's own. */
export function conversationSets(own?: string): readonly ConversationSet[] {
  const dev = [SETS.dev, path("../../../../shared/data/guests-dev.jsonl")].find(existsSync);
  return Object.entries({ ...SETS, dev: dev ?? SETS.dev, ...(own !== undefined && { own }) }).flatMap(([name, file]) => {
    if (!existsSync(file)) return [];
    return [{ name, conversations: conversationsIn(readFileSync(file, "utf8")) }];
  });
}
