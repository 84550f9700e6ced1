import { z } from "zod";
import { type ErrorDetail, pointerTo } from "../platform/errors.js";
import { unknownFields } from "../platform/nearest-name.js";

/** What a domain's description is made of, for whoever writes it without types: what is passed over in silence would hold nothing. */

const text = z.string();
const texts = z.array(z.string().min(1));
const given = z.unknown().optional();
const code = z.custom((value) => typeof value === "function", "it is no function");

const need = z.strictObject({
  name: text,
  description: text,
  words: z.record(z.string(), texts),
  states: given,
  because: code.optional(),
  category: text.optional(),
  kind: z.enum(["avoid", "be", "at_most", "at_least"]).optional(),
  slot: text.optional(),
  holds: texts.optional(),
  spellings: texts.optional(),
});
const tool = z.looseObject({
  name: text,
  description: text,
  run: code,
  offline: z.strictObject({ words: texts.min(1), input: code.optional() }).optional(),
});
const domain = z.strictObject({
  name: text,
  prompt: text,
  tools: z.array(tool),
  languages: texts.optional(),
  categories: z.array(z.looseObject({ name: text, situations: z.record(z.string(), texts).optional() })).optional(),
  needs: z.array(need).optional(),
  recall: given,
  arrange: given,
  records: given,
  close: given,
  offline: given,
});

/** Everything that is of another shape; unknown names with the nearest one. */
export function wrongShape(definition: unknown): readonly ErrorDetail[] {
  const parsed = domain.safeParse(definition);
  return (parsed.error?.issues ?? []).map((issue) => {
    const pointer = pointerTo(issue.path);
    if (issue.code !== "unrecognized_keys") return { pointer: pointer || "/", detail: issue.message };
    const known = pointer === "" ? domain.shape : pointer.startsWith("/needs/") ? need.shape : { words: true, input: true };
    return { pointer: pointer || "/", detail: unknownFields(issue.keys, Object.keys(known)) };
  });
}
