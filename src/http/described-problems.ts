import type { RouteConfig, z } from "@hono/zod-openapi";
import { ERRORS, type ErrorCode } from "../platform/errors.js";
import { isOperatorPath } from "./operator-door.js";
import { PROBLEM_TYPE, problemSchema } from "./problem.js";
import { type HeaderName, headerRefs } from "./response-headers.js";

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
