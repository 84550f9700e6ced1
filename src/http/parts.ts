import { z } from "@hono/zod-openapi";
import { SHOWN_PARTS } from "../domain/session.js";
import type { ChatAnswer } from "../ports/application.js";
import { turnMemorySchema } from "./turn-memory.js";

/** Parts of answers, as the API tells them. */

export const elementSchema = z
  .object({ id: z.string(), type: z.string(), name: z.string(), content: z.string(), display: z.enum(["inline", "side"]) })
  .openapi("Element");

const textPart = z.object({ type: z.literal("text"), text: z.string() }).openapi("TextPart");
const questionPart = z.object({ type: z.literal("question"), memory_id: z.string() }).openapi("QuestionPart");
export const shownPartSchema = z
  .object({ type: z.enum(SHOWN_PARTS), elements: z.array(z.string()) })
  .openapi("ShownPart", { description: "Elements by their ids: what was found, is offered, is booked, or stands against it." });

const partSchema = z.union([textPart, shownPartSchema, questionPart]).openapi("AnswerPart");
export const partsSchema = z.array(partSchema).openapi({
  description:
    "The answer in the order in which it came. Joined, the texts are its content; `question`: what of `memory.to_confirm` waits for the " +
    "user's word.",
});

/** What OpenAI's formats have no place for, beside them. */
export const besideSchema = z
  .object({ parts: partsSchema, elements: z.array(elementSchema), memory: turnMemorySchema })
  .openapi("BesideAnswer", { description: "What this format has no place for: see `ChatAnswer`." });

export function besideOf({ parts, elements, memory }: ChatAnswer): z.output<typeof besideSchema> {
  return { parts: [...parts], elements: [...elements], memory } as z.output<typeof besideSchema>;
}
