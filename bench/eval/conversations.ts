import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";

/** Conversations that strangers wrote as guests type them, with what should be remembered of each. */
const conversationSchema = z.object({
  id: z.string(),
  group: z.string(),
  lang: z.string(),
  messages: z.array(z.string()),
  expect: z.array(
    z.object({
      text: z.string(),
      quote: z.string(),
      /** One of these, with bars between. */
      category: z.string(),
      hard: z.boolean(),
      /** Regular expressions over the lower-cased memory: all of them. */
      match: z.array(z.string()),
      turn: z.number().int(),
      optional: z.boolean().default(false),
      scope: z.enum(["standing", "trip"]).default("standing"),
      companion: z.string().optional(),
      /** It is to be asked about, and not to hold. */
      ask: z.boolean().default(false),
    }),
  ),
  /** Regular expressions over lower-cased memories that must not be. */
  forbid: z.array(z.string()),
  /** What is forbidden may hold for the trip. */
  trip_ok: z.boolean().default(false),
});
export type Conversation = z.infer<typeof conversationSchema>;
export type Expected = Conversation["expect"][number];

/** Groups of which nothing may be remembered. */
export const TRAPS = new Set(["bystanders", "hypothetical", "quoted", "irony", "questions", "injected"]);
/** Of these, the words are not the guest's own. */
export const FOREIGN = new Set(["quoted", "injected"]);

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const SETS = {
  /** Outside of the repository; not everybody has it. */
  dev: path("../../../shared/data/guests-dev.jsonl"),
  seen: path("../guests/seen.jsonl"),
  /** Written before the rules were looked at, half to work with and half put aside. */
  strangers: path("../guests/strangers.jsonl"),
  "put-aside": path("../guests/put-aside.jsonl"),
  "held-out": path("../guests/held-out.jsonl"),
  /** Looked at by nobody who wrote the rules or the checks. */
  unseen: path("../guests/unseen.jsonl"),
  /** By another hand: the first half was worked with, the other looked at by nobody. */
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
    const lines = readFileSync(file, "utf8").split("\n");
    return [{ name, conversations: lines.filter((line) => line.trim() !== "").map((line) => conversationSchema.parse(JSON.parse(line))) }];
  });
}

export function fits(text: string, expected: Expected): boolean {
  return expected.match.every((pattern) => new RegExp(pattern, "u").test(text.toLowerCase()));
}

export function forbids({ forbid }: Conversation, text: string): boolean {
  return forbid.some((pattern) => new RegExp(pattern, "u").test(text.toLowerCase()));
}
