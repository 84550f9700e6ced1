import { z } from "zod";
import { AppError } from "../platform/errors.js";

/** Conversations with what is to be remembered of each: what a reader of messages is held against. */

/** A regular expression. */
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
