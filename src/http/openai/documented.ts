import { z } from "@hono/zod-openapi";
import { answerPartsSchema } from "../../domain/session.js";
import type { ErrorCode } from "../../platform/errors.js";
import { type ChatAnswer, elementSchema, turnMemorySchema } from "../../ports/resources.js";
import { OF_A_TURN } from "../chat.js";
import { idField } from "../fields.js";
import { answersAs } from "../routes.js";
import { openAiErrorSchema } from "./errors.js";

/** What OpenAI's formats have no place for, beside them. */
export const besideSchema = z
  .object({ parts: answerPartsSchema, elements: z.array(elementSchema), memory: turnMemorySchema })
  .openapi("BesideAnswer", { description: "What this format has no place for: see `ChatAnswer`." });

export function besideOf({ parts, elements, memory }: ChatAnswer): z.output<typeof besideSchema> {
  return { parts: [...parts], elements: [...elements], memory } as z.output<typeof besideSchema>;
}

/** What the routes of OpenAI's APIs have in common in `/openapi.json`. */

/** Says whether the domain's tools are offered. */
export const TOOLS_HEADER = "X-Maitred-Tools";

export const turnHeaders = z.object({
  "X-Session-Id": idField.optional().openapi({ description: "The session. Default: the one that the conversation goes on with." }),
  [TOOLS_HEADER]: z
    .enum(["none", "domain"])
    .optional()
    .openapi({ description: "`domain`: the assistant's own tools are offered too, and run here. Default: as MAITRED_TOOLS says." }),
});

/** Errors in OpenAI's shape. */
export const openAiErrors = () => ({ "application/json": { schema: openAiErrorSchema } });

/** The answers of a route: streamed or not. */
export function openAiAnswers(schema: z.ZodType, description: string): ReturnType<typeof answersAs> {
  return answersAs({ "application/json": schema, "text/event-stream": z.string() }, description, ["X-Session-Id", "X-Memory-Status"]);
}

/** What may refuse a turn that comes as OpenAI's clients send it. */
export const OF_A_CLIENTS_TURN: readonly ErrorCode[] = [...OF_A_TURN, "TOOL_CALL_NOT_WAITING", "INVALID_ID"];
