import { z } from "zod";
import type { Memory } from "../../domain/memory.js";
import type { Owner } from "../../domain/owner.js";
import type { JsonObject } from "../../domain/session.js";
import { toConfirmOf } from "../../domain/to-confirm.js";
import { AppError } from "../../platform/errors.js";
import type { Need, ToolContext } from "../../ports/agent.js";
import type { Memories, RememberedTurn, TurnMemories, TurnToRemember } from "../../ports/memories.js";

/** What the memory tools share: the turn that they run in, and how they tell of memories. */

export const quoteField = z.string().min(1).max(2_000).describe("the user's exact words");

/** @throws LONG_TERM_MEMORY_DISABLED in an incognito turn */
export function mustRead(context: ToolContext): void {
  if (context.memory === "off")
    throw new AppError("LONG_TERM_MEMORY_DISABLED", { detail: "This is incognito: long-term memory is off.", hint: "Tell the user so." });
}

/** @throws INVALID_REQUEST where the words are not the user's own of this message */
export function mustStandInMessage(quote: string, context: ToolContext, inOwnWords: (quote: string, message: string) => boolean): void {
  if (!inOwnWords(quote, context.userMessage.content))
    throw new AppError("INVALID_REQUEST", {
      detail: "The quote is not in the user's own words of this message.",
      hint: "Copy it exactly, and not from what they quote or paste.",
    });
}

export function turnOf({ sessionId, turn, userMessage, now, timeZone, remembering }: ToolContext): TurnToRemember {
  const { channel = "api", context = [], replaces } = remembering ?? {};
  return {
    session_id: sessionId,
    turn,
    message_id: userMessage.id,
    text: userMessage.content,
    stated_at: now,
    time_zone: timeZone,
    channel,
    context,
    ...(replaces !== undefined && { replaces }),
  };
}

export function memoryLine(memory: Memory): JsonObject {
  const waiting = toConfirmOf(memory);
  return {
    memory_id: memory.id,
    text: memory.text,
    category: memory.category,
    about: memory.subject === "self" ? "the user" : memory.subject.replace(/^companion:/, ""),
    ...(memory.condition !== "" && { condition: memory.condition }),
    must_hold: memory.strength === "hard",
    since: memory.stated_at.slice(0, 10),
    ...(memory.valid_until !== null && { until: memory.valid_until.slice(0, 10) }),
    ...(waiting !== null && { waits_for_their_word: waiting.text }),
  };
}

/** What was not kept, and what waits: for the model's words to the user. */
export function leftOpen({ to_confirm, dropped }: RememberedTurn): JsonObject {
  const waiting = to_confirm.flatMap((memory) => toConfirmOf(memory) ?? []);
  const reasons = Object.keys(dropped).filter((code) => (dropped[code] ?? 0) > 0);
  return {
    ...(waiting.length > 0 && {
      waits: waiting.map(({ id, text, reason }) => ({ memory_id: id, text, reason })),
      ask: "It is not used before the user says yes: ask them, or tell them that it waits on the memories page.",
    }),
    ...(reasons.length > 0 && { not_kept: reasons.map((code) => code.replaceAll("_", " ")) }),
  };
}

export interface MemoryToolParts {
  readonly memories: Pick<Memories, "get" | "list" | "search" | "forgetAll">;
  readonly turns: Pick<TurnMemories, "remember" | "propose" | "settle" | "toConfirm">;
  /** What may have to hold in the domain. Empty: nothing is named. */
  readonly needs: readonly Need[];
  /** The need that is meant, by whatever name; null where it is none of them. */
  readonly needMeant: (said: string) => string | null;
  /** Whether a quote stands in the guest's own words of a message: typos and all, outside what they brought along. */
  readonly inOwnWords: (quote: string, message: string) => boolean;
  /** Whether words stand in a text, as in an answer, whoever says them there: typos and all. */
  readonly isSaidIn: (words: string, text: string) => boolean;
  /** Resolves when what the guest said in turns before is in memory, or when the signal aborts; true for the first. Default: at once. */
  readonly writtenBack?: (owner: Owner, signal: AbortSignal) => Promise<boolean>;
}
