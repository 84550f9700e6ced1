import { z } from "zod";
import { STATED_TYPES } from "../../domain/memory.js";
import { PROPOSED_OPS, STANCES } from "../../ports/extraction.js";

const text = z.string();
const maybe = z.string().nullable();

/** One operation as the model is asked to write it: flat, all fields required, as strict structured output wants it. */
const operation = z.strictObject({
  op: z.enum(PROPOSED_OPS),
  quote: text,
  target: maybe,
  text,
  about: text,
  category: text,
  aspect: text,
  condition: text,
  need: maybe,
  type: z.enum(STATED_TYPES).exclude(["summary"]),
  strength: z.enum(["hard", "soft"]),
  subject: text,
  scope: z.enum(["standing", "trip"]),
  valid_from: maybe,
  valid_until: maybe,
  stance: z.enum(STANCES),
  confidence: z.number(),
  explicit: z.boolean(),
  entities: z.array(text),
  message: text,
});

const which = z.enum(["this", "previous"]);

const answer = z.strictObject({
  off_record: which.nullable(),
  earlier_off_record: z.array(z.strictObject({ message: text, which })),
  operations: z.array(operation),
  nobodys: z.array(text),
  title: maybe,
  summary: maybe,
});

/**
 * The form that the model's answer is asked for in, the same for all readings, so that providers keep it cached with the prompt. Other
 * forms are understood too.
 */
export const ANSWER_FORMAT = { name: "memory_operations", schema: withoutDialect(z.toJSONSchema(answer)) };

const shortly = operation.pick({
  op: true,
  target: true,
  quote: true,
  text: true,
  about: true,
  category: true,
  need: true,
  strength: true,
  subject: true,
  stance: true,
});

/** The same in short. */
export const SHORT_FORMAT = {
  name: "memory_operations_in_short",
  schema: withoutDialect(z.toJSONSchema(z.strictObject({ off_record: which.nullable(), operations: z.array(shortly) }))),
};

function withoutDialect({ $schema: _, ...schema }: Record<string, unknown>): Readonly<Record<string, unknown>> {
  return schema;
}
