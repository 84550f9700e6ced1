import { z } from "zod";
import type { Memory } from "../domain/memory.js";
import { toConfirmOf } from "../domain/to-confirm.js";
import { AppError } from "../platform/errors.js";

/** Conversations with what is to be remembered of each: what a reader of messages is held against. */

const pattern = z.string().refine((text) => isPattern(text), "is no regular expression");

const conversationSchema = z.object({
  id: z.string(),
  /** Conversations of a kind are counted together. Of some kinds nothing may be remembered: {@link TRAPS}. */
  group: z.string().default("own"),
  lang: z.string().default(""),
  messages: z.array(z.string()),
  expect: z.array(
    z.object({
      text: z.string(),
      quote: z.string().default(""),
      /** One of these, with bars between. */
      category: z.string().default(""),
      /** It must hold, and is lost where it does not. */
      hard: z.boolean().default(false),
      /** Regular expressions over the lower-cased memory: all of them. */
      match: z.array(pattern),
      turn: z.number().int().default(0),
      optional: z.boolean().default(false),
      scope: z.enum(["standing", "trip"]).default("standing"),
      companion: z.string().optional(),
      /** It is to be asked about, and not to hold. */
      ask: z.boolean().default(false),
    }),
  ),
  /** Regular expressions over lower-cased memories that must not be. */
  forbid: z.array(pattern).default([]),
  /** What is forbidden may hold for the trip. */
  trip_ok: z.boolean().default(false),
});
export type Conversation = z.infer<typeof conversationSchema>;
export type Expected = Conversation["expect"][number];

function isPattern(text: string): boolean {
  try {
    new RegExp(text, "u");
    return true;
  } catch {
    return false;
  }
}

/** Groups of which nothing may be remembered. */
export const TRAPS = new Set(["bystanders", "hypothetical", "quoted", "irony", "questions", "injected"]);
/** Of these, the words are not the guest's own. */
export const FOREIGN = new Set(["quoted", "injected"]);

export function fits(text: string, expected: Expected): boolean {
  return expected.match.every((pattern) => new RegExp(pattern, "u").test(text.toLowerCase()));
}

export function forbids({ forbid }: Conversation, text: string): boolean {
  return forbid.some((pattern) => new RegExp(pattern, "u").test(text.toLowerCase()));
}

/** Of a file with one a line, as JSON. @throws INVALID_REQUEST with the line */
export function conversationsIn(text: string): readonly Conversation[] {
  return text.split("\n").flatMap((line, place) => {
    if (line.trim() === "") return [];
    try {
      return [conversationSchema.parse(JSON.parse(line))];
    } catch (error) {
      const reason = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
      const detail = `Line ${place + 1} is no conversation: ${reason}`;
      throw new AppError("INVALID_REQUEST", { detail, hint: 'A line: {"id":"a","messages":["…"],"expect":[{"text":"…","match":["…"]}]}' });
    }
  });
}

export type Score = ReturnType<typeof emptyScore>;

export function emptyScore() {
  return {
    /** What should be remembered: neither optional nor for one trip. */
    expected: 0,
    /** Active. */
    kept: 0,
    /** Waits for the guest's word, it or its end. */
    asked: 0,
    lost: 0,
    /** All that waits for the guest's word, expected or not. */
    questions: 0,
    hardLost: 0,
    /** Of what is expected, what must hold. */
    hard: 0,
    /** Active though it must not be. */
    wrong: 0,
    /** Of these, hard; and hard of words that are not the guest's own. */
    wrongHard: 0,
    foreignHard: 0,
    /** Active memories, of which nothing is asked, that are expected, optional ones too, and those that are not. */
    right: 0,
    unexpected: 0,
    /** Conversations of which nothing may be remembered and something was. */
    traps: 0,
    /** What went wrong, for reading. */
    notes: [] as string[],
  };
}

/** `madeUp`: what no guest has said, in any memory. */
export function addScore(score: Score, conversation: Conversation, memories: readonly Memory[], madeUp?: RegExp): void {
  const active = memories.filter(({ status }) => status === "active");
  // What must hold stays active while the guest is asked whether it has ended: it is asked about, neither right nor wrong.
  const certain = active.filter(({ pending_change }) => pending_change === null);
  const waiting = memories.filter((memory) => memory.status === "review" || (memory.status === "active" && !certain.includes(memory)));
  score.questions += waiting.length;
  for (const memory of waiting)
    score.notes.push(`waits  ${conversation.id}: ${toConfirmOf(memory)?.text} (${memory.reason}) <- ${memory.source?.quote}`);
  for (const expected of conversation.expect) {
    if (expected.optional || expected.scope === "trip") continue;
    score.expected++;
    if (expected.hard) score.hard++;
    const holds = (memory: Pick<Memory, "text" | "strength">) =>
      fits(memory.text, expected) && (!expected.hard || memory.strength === "hard");
    if (expected.ask ? waiting.some((memory) => fits(memory.text, expected) || fits(changed(memory).text, expected)) : certain.some(holds))
      score.kept++;
    else if (waiting.some((memory) => holds(memory) || holds(changed(memory)))) {
      score.asked++;
      score.notes.push(`asked  ${conversation.id}: ${expected.text}`);
    } else {
      score.lost++;
      if (expected.hard) score.hardLost++;
      score.notes.push(`lost   ${conversation.id}: ${expected.text}${expected.hard ? " (hard)" : ""}`);
    }
  }
  const standing = active.filter(({ scope }) => scope === "standing" || !conversation.trip_ok);
  const wrong = active.filter((each) => madeUp?.test(each.text) === true || (standing.includes(each) && forbids(conversation, each.text)));
  score.wrong += wrong.length;
  const wrongHard = wrong.filter(({ strength }) => strength === "hard");
  score.wrongHard += wrongHard.length;
  const unexpected = active.filter(({ text }) => !conversation.expect.some((expected) => fits(text, expected)));
  if (FOREIGN.has(conversation.group)) score.foreignHard += unexpected.filter(({ strength }) => strength === "hard").length;
  for (const { text, strength } of wrong) score.notes.push(`wrong  ${conversation.id}: ${text}${strength === "hard" ? " (hard)" : ""}`);
  for (const { text } of certain)
    if (conversation.expect.some((expected) => fits(text, expected))) score.right++;
    else {
      score.unexpected++;
      score.notes.push(`extra  ${conversation.id}: ${text}`);
    }
  if (TRAPS.has(conversation.group) && conversation.expect.length === 0 && active.length > 0) score.traps++;
}

/** What it would be by the guest's yes; as it is where no change of it waits, or nothing would hold instead. */
function changed(memory: Memory): Pick<Memory, "text" | "strength"> {
  return memory.pending_change?.statement ?? memory;
}
