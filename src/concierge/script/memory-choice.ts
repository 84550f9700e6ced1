import { z } from "zod";
import type { ScriptView } from "../../ports/offline-script.js";
import { plain } from "../vocabulary.js";
import { contentWords } from "./facts.js";
import { readReply } from "./reply.js";
import { ordinalIn } from "./words.js";

/** What to do with the memory that the guest names when they are asked which one they mean. */
export interface MemoryChoice {
  readonly tool: "forget" | "no_longer_true";
  readonly what: string;
  /** Null: none of them. */
  readonly memoryId: string | null;
}

const askedSchema = z.looseObject({
  status: z.literal("which_one"),
  memories: z.array(z.looseObject({ memory_id: z.string(), text: z.string() })).min(1),
});
const inputSchema = z.looseObject({ what: z.string() });
const CHANGES: ReadonlySet<string> = new Set(["forget", "no_longer_true"]);
const MAX_CHOICE_WORDS = 15;
const NONE = /\b(?:none|neither|nothing|no one|not any|leave (?:it|them)|never ?mind)\b/;

/** The choice in an answer to "which of these do you mean?"; undefined where nothing was asked or the message is about something else. */
export function memoryChoice(view: ScriptView): MemoryChoice | undefined {
  const last = view.window.at(-1)?.observations.findLast(({ name, output }) => CHANGES.has(name) && askedSchema.safeParse(output).success);
  if (last === undefined) return undefined;
  const asked = askedSchema.safeParse(last.output);
  const input = inputSchema.safeParse(last.input);
  if (!asked.success || !input.success) return undefined;
  const { memories } = asked.data;
  const choice = (memoryId: string | null) => ({ tool: last.name as MemoryChoice["tool"], what: input.data.what, memoryId });

  const words = plain(view.message).trim();
  if (words.split(/\s+/).length > MAX_CHOICE_WORDS) return undefined;
  const digit = /^\W*(\d{1,2})\W*$/.exec(words)?.[1];
  const place = digit === undefined ? ordinalIn(words) : Number(digit) - 1;
  if (place !== undefined) {
    const chosen = place === -1 ? memories.at(-1) : memories[place];
    return chosen && choice(chosen.memory_id);
  }
  const wanted = contentWords(view.message);
  const named = memories.filter(({ text }) => contentWords(text).some((word) => wanted.includes(word)));
  if (named.length === 1 && named[0] !== undefined && !/\?\s*$/.test(words)) return choice(named[0].memory_id);
  const reply = readReply(view.message);
  if (memories.length === 1 && memories[0] !== undefined && reply.yes) return choice(memories[0].memory_id);
  return NONE.test(words) || (reply.no && words.split(/\s+/).length <= 4) ? choice(null) : undefined;
}
