import { z } from "@hono/zod-openapi";
import { answerPartsSchema } from "../../domain/session.js";
import { type ChatAnswer, elementSchema, turnMemorySchema } from "../../ports/resources.js";

/** What OpenAI's formats have no place for, beside them. */
export const besideSchema = z
  .object({ parts: answerPartsSchema, elements: z.array(elementSchema), memory: turnMemorySchema })
  .openapi("BesideAnswer", { description: "What this format has no place for: see `ChatAnswer`." });

export function besideOf({ parts, elements, memory }: ChatAnswer): z.output<typeof besideSchema> {
  return { parts: [...parts], elements: [...elements], memory } as z.output<typeof besideSchema>;
}
