import type { JsonValue, MemoryLine } from "maitred";
import { folded, wordsIn } from "maitred/stand-in";
import { z } from "zod";
import { relationAt, relationOf } from "../reading/language.js";
import { capital, lower } from "../reading/said.js";

/** What is said of memory, in plain words. */

export const MEMORY_OFF = "Memory is switched off here: I keep nothing beyond this conversation.";
export const NOT_KEPT = "Understood. I keep this out of memory and history; the words stay in this conversation and in exports of it.";
/** To a yes with something beside it. */
export const NOT_PLAIN = "Before I do that I need a plain yes or no.";

/** The answer comes before anything is kept, and names what was understood: it promises nothing. The empty string where that is nothing. */
export function notedAs(understood: readonly string[]): string {
  return understood.length === 0 ? "" : `I've noted for this conversation: ${understood.join("; ")}.`;
}

const NOTHING_LIKE_IT = "I remember nothing like that, in these words. Ask me what I know about you to see what I keep.";

const memorySchema = z.looseObject({ text: z.string(), about: z.string().default("the user"), must_hold: z.boolean().default(false) });
const memoriesSchema = z.looseObject({
  memories: z.array(memorySchema),
  not_confirmed_yet: z.array(memorySchema).default([]),
  still_reading: z.string().optional(),
});

/** `known`: what is told where there is no output. `whom`: of somebody alone, by relation or name. `what`: in words. */
export function memoriesReply(
  output: JsonValue,
  known: readonly MemoryLine[],
  { whom, what = whom === undefined ? "about you" : `about ${relationOf(whom) === undefined ? "" : "your "}${whom}` }: Told = {},
): string {
  const { memories, not_confirmed_yet: unsettled = [], still_reading: isBehind } = memoriesSchema.safeParse(output).data ?? {};
  const all = memories ?? known.map(({ text, subject, mustHold }) => ({ text, about: subject, must_hold: mustHold }));
  const isMeant = ({ text, about }: Line) => whom === undefined || isOf(whom)({ text, subject: about });
  const lines = all.filter(isMeant).map(({ text, about, must_hold }) => `- ${ofWhom(about, text)}${must_hold ? " (must hold)" : ""}`);
  const waits = unsettled.filter(isMeant).map(({ text, about }) => `- ${ofWhom(about, text)}`);
  return [
    lines.length === 0 ? `I remember nothing ${what} yet.` : `This is what I remember ${what}:`,
    ...lines,
    ...(waits.length === 0 ? [] : ["Not confirmed yet:", ...waits]),
    ...(isBehind === undefined ? [] : ["What you told me last I am still taking in: ask me again in a moment."]),
  ].join("\n");
}

/** Whether anything that is known, or waits, is of somebody. */
export function tellsOf(whom: string, output: JsonValue): boolean {
  const { memories = [], not_confirmed_yet: waiting = [] } = memoriesSchema.safeParse(output).data ?? {};
  return [...memories, ...waiting].some(({ text, about }) => isOf(whom)({ text, subject: about }));
}

interface Told {
  readonly whom?: string;
  readonly what?: string;
}

type Line = z.infer<typeof memorySchema>;

/** Whether a memory is of somebody: of that relation, or by a name that stands in it. */
function isOf(whom: string): (memory: Pick<MemoryLine, "text" | "subject">) => boolean {
  return ({ text, subject }) => relationOf(subject) === whom || wordsIn(`${subject} ${text}`).includes(folded(whom));
}

const changeSchema = z.looseObject({
  status: z.string(),
  remembered: z.array(z.string()).default([]),
  waits: z.array(z.looseObject({ text: z.string() })).default([]),
  memories: z.array(z.looseObject({ text: z.string() })).default([]),
  forgot: z.array(z.string()).optional(),
  count: z.number().default(0),
  ended: z.string().default(""),
});

/** What came of `remember`, `forget` and `no_longer_true`. */
export function memoryChangeReply(output: JsonValue): string {
  const seen = changeSchema.safeParse(output).data;
  switch (seen?.status) {
    case "remembered":
      return `I remember: ${seen.remembered.map(lower).join("; ")}.`;
    case "waits":
      return `Before I act on it I need your word: ${seen.waits.map(({ text }) => text).join("; ")}. Is that right?`;
    case "not_kept":
      return "I can't keep that: only what you say about yourself or who comes along, and never a secret.";
    case "ask_first":
      return "Say yes, and it is gone for good. Shall I forget everything that I remember about you?";
    case "forgotten":
      return seen.forgot ? `I have forgotten: ${seen.forgot.join("; ")}.` : `I have forgotten everything: ${seen.count} memories.`;
    case "ended":
      return `Understood. I no longer go by: ${lower(seen.ended)}.`;
    case "nothing_found":
      return NOTHING_LIKE_IT;
    default:
      return "I changed nothing.";
  }
}

/** `memories`: what could be meant. */
export function whichReply(memories: readonly { readonly text: string }[]): string {
  const [only, another] = memories;
  if (only === undefined) return NOTHING_LIKE_IT;
  if (another === undefined) return `Do you mean this: “${only.text}”? Say yes, and I no longer keep it.`;
  return ["Which of these do you mean?", ...memories.map(({ text }, index) => `${index + 1}. ${text}`)].join("\n");
}

/** "Mother: is allergic to nuts"; a memory that names its companion already is left as it is. */
export function ofWhom(who: string, memory: string): string {
  if (who === "self" || who === "the user") return memory;
  const words = wordsIn(memory);
  const relation = relationOf(who);
  const isNamed = relation !== undefined && words.some((_, at) => relationAt(words, at)?.relation === relation);
  return isNamed || memory.toLowerCase().includes(who.toLowerCase()) ? capital(memory) : `${capital(who)}: ${lower(memory)}`;
}
