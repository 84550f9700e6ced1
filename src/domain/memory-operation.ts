import { z } from "zod";
import { memorySourceSchema, statementSchema } from "./memory.js";

/**
 * What a plan of a journal from before the memory log holds: such a plan is still carried out, and none is written any more.
 * `memory_id` is UUIDv5(owner, session, message, index), fixed before the first call to a store. `stated_at` (ISO 8601) and `source` are
 * the user message's.
 */
export const memoryOperationSchema = z.discriminatedUnion("op", [
  z.object({
    op: z.literal("add"),
    memory_id: z.string(),
    stated_at: z.string(),
    source: memorySourceSchema,
    statement: statementSchema,
    review: z.boolean().default(false),
  }),
  /** Says that `target_id` no longer holds and, with a statement, what holds instead. */
  z.object({
    op: z.literal("supersede"),
    memory_id: z.string(),
    target_id: z.string(),
    stated_at: z.string(),
    source: memorySourceSchema,
    statement: statementSchema.nullable(),
  }),
  z.object({ op: z.literal("confirm"), target_id: z.string(), stated_at: z.string(), source: memorySourceSchema }),
  z.object({ op: z.literal("forget"), target_id: z.string(), stated_at: z.string(), source: memorySourceSchema }),
]);
export type MemoryOperation = z.infer<typeof memoryOperationSchema>;
