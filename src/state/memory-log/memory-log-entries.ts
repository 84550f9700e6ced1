import { z } from "zod";
import { memorySchema, statementSchema } from "../../domain/memory.js";
import { storedEventSchema } from "../../domain/memory-record.js";
import type { ChangeRecord, MemoryLogEntry } from "../../ports/memory-log.js";

/** As clients see it, and what they don't. */
const record = memorySchema.extend({
  text: statementSchema.shape.text,
  subject: statementSchema.shape.subject.unwrap(),
  explicit: z.boolean(),
  asked: z.number().int(),
  last_recalled_at: z.string().nullable(),
  confirmed_by: z.array(z.string()),
  events: z.array(storedEventSchema),
});

export const memoryLogEntrySchema = z.object({
  v: z.literal(1),
  seq: z.number().int().min(1),
  at: z.string(),
  kind: z.enum([
    "turn",
    "tool",
    "hand",
    "settle",
    "recalled",
    "forget",
    "import",
    "detach",
    "undo",
    "happened",
    "narrative",
    "seed",
    "merge",
  ]),
  turn: z
    .object({
      session_id: z.string(),
      turn: z.number().int(),
      message_id: z.string(),
      reader: z.string(),
      off_record: z.enum(["this", "previous"]).exactOptional(),
    })
    .nullable(),
  puts: z.array(record),
  removed: z.array(z.string()),
  happened_cursor: z.string().nullable().exactOptional(),
  request: z.object({ id: z.string(), hash: z.string(), place: z.number().int(), memory_id: z.string() }).exactOptional(),
  dropped: z.record(z.string(), z.number()).exactOptional(),
}) satisfies z.ZodType<MemoryLogEntry>;

/** The entry with each record changed; null drops it. The same entry where nothing changes. */
export function redacted(entry: MemoryLogEntry, change: ChangeRecord): MemoryLogEntry {
  const puts = entry.puts.flatMap((before) => change(before, entry.seq) ?? []);
  const same = puts.length === entry.puts.length && puts.every((after, index) => after === entry.puts[index]);
  return same ? entry : { ...entry, puts };
}
