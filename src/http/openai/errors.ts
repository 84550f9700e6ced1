import { z } from "@hono/zod-openapi";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { AppError, ErrorCode } from "../../platform/errors.js";
import { problemResponse } from "../problem.js";

/** What went wrong as OpenAI's clients read it. `code` is the API's own in lower case, or OpenAI's where it has one for it. */
export const openAiErrorSchema = z
  .object({
    error: z.object({ message: z.string(), type: z.string(), param: z.string().nullable(), code: z.string() }),
  })
  .openapi("OpenAIError");
export type OpenAiError = z.output<typeof openAiErrorSchema>;

/** Codes that clients of OpenAI branch on. */
const THEIR_CODES: Partial<Record<ErrorCode, string>> = {
  UNAUTHENTICATED: "invalid_api_key",
  RATE_LIMITED: "rate_limit_exceeded",
  TOO_MANY_STREAMS: "rate_limit_exceeded",
  COST_LIMIT_REACHED: "insufficient_quota",
  CONTEXT_TOO_LARGE: "context_length_exceeded",
  MODEL_CONTENT_FILTER: "content_filter",
};

const TYPES: Readonly<Record<number, string>> = { 401: "authentication_error", 403: "permission_error", 429: "rate_limit_error" };

/** `keptIn`: the session that holds the message of a turn that failed, where its client has yet to be told. */
export function openAiErrorOf(error: AppError, keptIn: string | null = null): OpenAiError {
  const [first] = error.errors;
  const again = keptIn === null ? "" : `To say it again where it is kept, send the header X-Session-Id: ${keptIn}.`;
  const said = first === undefined ? [error.message, error.hint] : [error.errors.map(({ detail }) => detail).join("; ")];
  return {
    error: {
      message: asSentences([...said, again]),
      type: TYPES[error.status] ?? (error.status < 500 ? "invalid_request_error" : "server_error"),
      param: first === undefined ? null : paramOf(first.pointer),
      code: THEIR_CODES[error.code] ?? error.code.toLowerCase(),
    },
  };
}

/** One after the other; the last keeps its end as it is. */
function asSentences(texts: readonly string[]): string {
  const said = texts.filter((text) => text !== "");
  return said.map((text, at) => (at === said.length - 1 || /[.!?]$/.test(text) ? text : `${text}.`)).join(" ");
}

/** `/messages/0/content` as OpenAI names it: `messages[0].content`. */
function paramOf(pointer: string): string | null {
  const tokens = pointer.split("/").slice(1);
  const path = tokens.map((token, at) => (/^\d+$/.test(token) ? `[${token}]` : at === 0 ? token : `.${token}`)).join("");
  return path === "" ? null : path;
}

/**
 * As a problem's response is, but for its body. OpenAI's clients send a request again by themselves, as if nothing had come of it: where
 * its message is kept, they are told not to.
 */
export function openAiErrorResponse(error: AppError, ...rest: RestOf<typeof problemResponse>): Response {
  const { headers } = problemResponse(error, ...rest);
  headers.set("Content-Type", "application/json");
  const keptIn = headers.get("X-Session-Id");
  if (keptIn !== null) headers.set("X-Should-Retry", "false");
  return new Response(JSON.stringify(openAiErrorOf(error, keptIn)), { status: error.status as ContentfulStatusCode, headers });
}

type RestOf<F> = F extends (first: never, ...rest: infer R) => unknown ? R : never;
