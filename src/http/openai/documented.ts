import type { RouteConfig } from "@hono/zod-openapi";
import { z } from "@hono/zod-openapi";
import { idField } from "../fields.js";
import { openAiErrorSchema } from "./errors.js";

/** What the routes of OpenAI's APIs have in common in `/openapi.json`. */

export const sessionHeaders = z.object({
  "X-Session-Id": idField.optional().openapi({ description: "The session. Default: the one that begins with the same message." }),
});

const error = { description: "An error in OpenAI's shape.", content: { "application/json": { schema: openAiErrorSchema } } };

/** The answers of a route: one on success, streamed or not, and OpenAI's errors. */
export function openAiAnswers(schema: z.ZodType, description: string, { streams = true } = {}) {
  const content = { "application/json": { schema }, ...(streams && { "text/event-stream": { schema: z.string() } }) };
  return { 200: { description, content }, "4XX": error, "5XX": error } as RouteConfig["responses"] & {
    readonly [status: number]: { readonly description: string };
  };
}
