import { z } from "@hono/zod-openapi";
import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { AppError, type ErrorCode } from "../platform/errors.js";

/** RFC 9457. `code` is stable; the texts are not. */
export const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    code: z.string(),
    detail: z.string(),
    hint: z.string(),
    request_id: z.string(),
    errors: z.array(z.object({ pointer: z.string(), detail: z.string() })),
    session_id: z.string().optional().openapi({ description: "Only of a turn that failed: the session that holds its message." }),
  })
  .openapi("Problem");
export type Problem = z.output<typeof problemSchema>;

export const PROBLEM_TYPE = "application/problem+json";

const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: "INVALID_REQUEST",
  401: "UNAUTHENTICATED",
  404: "NOT_FOUND",
  405: "METHOD_NOT_ALLOWED",
  406: "NOT_ACCEPTABLE",
  413: "PAYLOAD_TOO_LARGE",
  415: "UNSUPPORTED_MEDIA_TYPE",
};

/** Seconds that `Retry-After` names where the error doesn't. */
const RETRY_AFTER_SECONDS: Readonly<Record<number, number>> = { 429: 1, 503: 5 };

/** A message that is sent again without it begins a session of its own. */
const IN_THE_SAME_SESSION = "To say it again where it is kept, send it with this `session_id`.";

/** Anything thrown as the one error class. What is not known becomes INTERNAL, and its own words stay inside. */
export function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof HTTPException) {
    const code = BY_STATUS[error.status];
    if (code) return new AppError(code, { cause: error });
  }
  return new AppError("INTERNAL", { cause: error });
}

/** `keptIn`: the session that holds the message of a turn that failed. */
export function problemOf(error: AppError, requestId: string, keptIn?: string): Problem {
  return {
    type: `urn:maitred:problem:${error.code.toLowerCase().replaceAll("_", "-")}`,
    title: error.title,
    status: error.status,
    code: error.code,
    detail: error.message,
    hint: keptIn === undefined ? error.hint : `${error.hint} ${IN_THE_SAME_SESSION}`,
    request_id: requestId,
    errors: error.errors.map(({ pointer, detail }) => ({ pointer, detail })),
    ...(keptIn !== undefined && { session_id: keptIn }),
  };
}

/** The answer to a request that failed. `challenge` is what a 401 asks for; `keptIn`: see {@link problemOf}. */
export function problemResponse(
  error: AppError,
  requestId: string,
  challenge: string,
  more: Readonly<Record<string, string>> = {},
  keptIn?: string,
): Response {
  const headers = new Headers({ "Content-Type": PROBLEM_TYPE, "Cache-Control": "no-store", "X-Request-Id": requestId, ...more });
  const retryAfter = error.retryAfterSeconds ?? RETRY_AFTER_SECONDS[error.status];
  if (retryAfter !== undefined) headers.set("Retry-After", String(Math.max(1, Math.ceil(retryAfter))));
  if (error.status === 401) headers.set("WWW-Authenticate", challenge);
  if (keptIn !== undefined) headers.set("X-Session-Id", keptIn);
  return new Response(JSON.stringify(problemOf(error, requestId, keptIn)), { status: error.status as ContentfulStatusCode, headers });
}
