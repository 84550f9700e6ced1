import { type RouteConfig, z } from "@hono/zod-openapi";
import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { ZodError } from "zod";
import { AppError, ERRORS, type ErrorCode, type ErrorDetail, pointerTo } from "../platform/errors.js";
import { isOperatorPath } from "./operator-door.js";
import { type HeaderName, headerRefs } from "./response-headers.js";

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
type Problem = z.output<typeof problemSchema>;

const PROBLEM_TYPE = "application/problem+json";

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

/** What may refuse any request, whatever it asks for. */
const ANY: readonly ErrorCode[] = ["FORBIDDEN_ORIGIN", "TOO_MANY_HEADERS", "INTERNAL"];
/** What may refuse any request that names who asks. */
const OF_ALL: readonly ErrorCode[] = [
  "INVALID_REQUEST",
  "UNAUTHENTICATED",
  "RATE_LIMITED",
  "STORAGE_UNAVAILABLE",
  "STORAGE_DAMAGED",
  "SHUTTING_DOWN",
];
/** What may refuse any request of a user. */
export const OF_USERS: readonly ErrorCode[] = ["IDENTITY_UNAVAILABLE", ...OF_ALL, "INVALID_USER_ID"];
/** What may refuse any request of the operator; where there is none, nothing is there. */
const OF_THE_OPERATOR: readonly ErrorCode[] = [...OF_ALL, "NOT_FOUND"];
/** What may refuse a request that may have a body, and change something: all but those that read. */
export const WITH_BODY: readonly ErrorCode[] = ["UNKNOWN_FIELD", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", "OWNER_ERASED"];
const OF_A_SESSION: readonly ErrorCode[] = ["INVALID_SESSION_ID", "SESSION_NOT_FOUND"];
/** Where `{id}` is a session's: one that can't be has a code of its own. */
const SESSION_PATH = "/v1/sessions/{id}";
/** What may refuse what reaches into long-term memory. */
export const OF_MEMORIES: readonly ErrorCode[] = [
  "LONG_TERM_MEMORY_DISABLED",
  "LONG_TERM_MEMORY_UNAVAILABLE",
  "EMBEDDING_UNAVAILABLE",
  "MEMORIES_CHANGED",
  "OWNER_ERASED",
];
/** What may refuse the change of a session. */
const OF_A_CHANGE: readonly ErrorCode[] = ["SESSION_BUSY", "SESSION_CHANGED", "FENCED"];
/** What may refuse a request with an `Idempotency-Key`. */
export const OF_A_KEY: readonly ErrorCode[] = ["IDEMPOTENCY_IN_PROGRESS", "IDEMPOTENCY_KEY_REUSED"];

type Described = Pick<RouteConfig, "method" | "path" | "responses">;

/** What an error of a status looks like to the clients of a route. */
export type ErrorContent = (status: number) => Readonly<Record<string, { readonly schema: z.ZodType }>>;

export const asProblem = { [PROBLEM_TYPE]: { schema: problemSchema } };

function codesOf({ method, path, responses }: Described, own: readonly ErrorCode[]): ErrorCode[] {
  const codes = [...ANY, ...own];
  if (Object.values(responses).some((response) => "content" in response)) codes.push("NOT_ACCEPTABLE");
  if (!path.startsWith("/v1/")) return codes;
  codes.push(...(isOperatorPath(path) ? OF_THE_OPERATOR : OF_USERS));
  if (method !== "get") codes.push(...WITH_BODY);
  if (path.replace(SESSION_PATH, "").includes("{")) codes.push("INVALID_ID");
  if (path.startsWith(SESSION_PATH)) codes.push(...OF_A_SESSION, ...(method === "get" ? [] : OF_A_CHANGE));
  if (path.startsWith("/v1/memories")) codes.push(...OF_MEMORIES);
  if (path.startsWith("/v1/memories/{id}")) codes.push("MEMORY_NOT_FOUND");
  return codes;
}

function headersOf(status: number): HeaderName[] {
  const more: HeaderName[] = status === 401 ? ["WWW-Authenticate"] : [];
  return [...more, ...([409, 429, 503].includes(status) ? (["Retry-After"] as const) : [])];
}

/**
 * Every status that an operation is refused with, each with the codes that its problems have. `own`: beside what its path says.
 * `contentOf`: where its clients read errors in another form. Default: problems.
 */
export function problemsOf(
  route: Described,
  own: readonly ErrorCode[],
  contentOf: ErrorContent = () => asProblem,
): RouteConfig["responses"] {
  const byStatus = new Map<number, Set<ErrorCode>>();
  for (const code of codesOf(route, own)) {
    const { status } = ERRORS[code];
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code));
  }
  const described = [...byStatus].map(([status, codes]) => {
    const description = [...codes].map((code) => `\`${code}\`: ${ERRORS[code].title}.`).join(" ");
    return [status, { description, headers: headerRefs(headersOf(status)), content: contentOf(status) }];
  });
  return Object.fromEntries(described) as RouteConfig["responses"];
}

type Target = "json" | "form" | "query" | "param" | "header" | "cookie";

/** Where a part of the request stands in a problem's pointers: the body is the root. */
const ROOT: Readonly<Record<Target, string>> = {
  json: "",
  form: "",
  query: "/query",
  param: "/path",
  header: "/header",
  cookie: "/cookie",
};
const MAX_TEXT = 200;
const MAX_ISSUES = 20;

function detailsOf(error: ZodError, target: Target): ErrorDetail[] {
  return error.issues.slice(0, MAX_ISSUES).map((issue) => ({
    pointer: ROOT[target] + pointerTo(issue.path),
    detail: issue.message.slice(0, MAX_TEXT),
  }));
}

/** Fields of a body that its schema doesn't have. */
function unknownIn(error: ZodError): ErrorDetail[] {
  return error.issues.flatMap((issue) => {
    if (issue.code !== "unrecognized_keys") return [];
    const lines = issue.message.split("\n");
    return lines.map((detail, i) => ({ pointer: pointerTo([...issue.path, issue.keys[i] ?? ""]), detail: detail.slice(0, MAX_TEXT) }));
  });
}

/** A request that its schema refuses, as a problem that names each place. Ids that can't be one have codes of their own. */
export function invalidRequest(error: ZodError, target: Target, path: string): AppError {
  const unknown = target === "json" ? unknownIn(error) : [];
  if (unknown.length > 0) return new AppError("UNKNOWN_FIELD", { detail: unknown.map(({ detail }) => detail).join("; "), errors: unknown });
  const errors = detailsOf(error, target);
  let code: ErrorCode = "INVALID_REQUEST";
  const ofSession = path.startsWith("/v1/sessions") && errors.some(({ pointer }) => pointer === "/path/id");
  if (target === "param") code = ofSession ? "INVALID_SESSION_ID" : "INVALID_ID";
  else if (errors.every(({ pointer }) => pointer.endsWith("/session_id"))) code = "INVALID_SESSION_ID";
  return new AppError(code, { detail: errors.map(({ pointer, detail }) => `${pointer || "/"}: ${detail}`).join("; "), errors });
}
