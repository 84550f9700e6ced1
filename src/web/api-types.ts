import type { output, ZodType } from "zod";
import type { Memory, MemoryEvent } from "../domain/memory.js";
import type { meSchema } from "../http/privacy.js";
import type * as schemas from "../ports/resources.js";

/** What the server answers, by the schemas of its own routes. */

type Of<S extends ZodType> = Readonly<output<S>>;

export type { Memory, MemoryEvent };
export type Me = Of<typeof meSchema>;
export type Session = Of<typeof schemas.sessionSchema>;
export type Thread = Of<typeof schemas.threadSchema>;
export type Answer = Of<typeof schemas.answerSchema>;
export type FoundMemory = Of<typeof schemas.foundMemorySchema>;
export type Why = Of<typeof schemas.whySchema>;
export type Source = NonNullable<Why["source"]>;
/** A message that a search found. */
export type Hit = Of<typeof schemas.historyHitSchema>;
export type Receipt = schemas.ErasureReceipt;
export type Readiness = schemas.Readiness;
export type AnswerMemory = Of<typeof schemas.turnMemorySchema>;
export type Recalled = Pick<Of<typeof schemas.recalledSchema>, "id" | "text" | "strength" | "subject" | "created_at">;
/** What waits for the guest's word; with what was told `instead`, and where, as far as that is known. */
export type Waiting = Omit<Of<typeof schemas.toConfirmSchema>, "reason"> & {
  readonly reason?: string | null;
  readonly instead?: string;
  readonly session?: string | null;
};

export type GivenElement = Answer["elements"][number];
export type Part = Answer["parts"][number];
export type Step = Readonly<{ name?: string | undefined; input?: unknown; output?: unknown; error?: unknown }>;

/** An object of which nothing is known. */
export type Fields = Readonly<Record<string, unknown>>;

export type Page<T> = Readonly<{ data: readonly T[]; next_cursor: string | null }>;
