import { createRoute, OpenAPIHono, type RouteConfig, type z } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler } from "hono";
import { parseAccept } from "hono/utils/accept";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { ReadOnly } from "../domain/schema.js";
import { AppError, type ErrorCode } from "../platform/errors.js";
import type { Page } from "../ports/session-store.js";
import type { HttpEnv } from "./http-env.js";
import { isOperatorPath } from "./operator-door.js";
import { type ErrorContent, invalidRequest, problemsOf } from "./problem.js";
import { type HeaderName, headerRefs } from "./response-headers.js";

export type ApiApp = OpenAPIHono<HttpEnv>;

/** An app for one resource: what its schemas refuse is a problem. */
export function newApi(): ApiApp {
  return new OpenAPIHono<HttpEnv>({
    defaultHook: (result, c) => {
      if (!result.success) throw invalidRequest(result.error, result.target, c.req.path);
    },
  });
}

/** A JSON answer. The schema is for the compiler: it holds the value to what the document says. */
export function answer<S extends z.ZodType>(
  c: Context,
  _schema: S,
  value: ReadOnly<z.output<S>>,
  status: ContentfulStatusCode = 200,
): Response {
  return c.json(value as object, status);
}

/** A page of a list as the API tells it. */
export function paged<T>({ data, nextCursor: next_cursor }: Page<T>) {
  return { data, next_cursor };
}

/** Deliberately without the status codes in its type: handlers answer with a Response that {@link answer} has checked. */
type Responses = RouteConfig["responses"] & {
  readonly [status: number]: { readonly description: string; readonly headers?: ReturnType<typeof headerRefs> };
};

export function orElse(responses: Responses, status: number, schema: z.ZodType, description: string, headers?: HeaderName[]): Responses {
  return { ...responses, ...answers(schema, description, status, headers) };
}

export function orNothing(responses: Responses, status: number, description: string): Responses {
  return { ...responses, [status]: { description, headers: headerRefs() } } as Responses;
}

/** The answer of a route on success; `headers`: beside those that all have. */
export function answers(schema: z.ZodType, description: string, status = 200, headers?: readonly HeaderName[]): Responses {
  return { [status]: { description, headers: headerRefs(headers), content: { "application/json": { schema } } } } as Responses;
}

export function answersNothing(description: string): Responses {
  return { 204: { description, headers: headerRefs() } };
}

export function answersAs(
  mediaTypes: Readonly<Record<string, z.ZodType>>,
  description: string,
  headers?: readonly HeaderName[],
): Responses {
  const content = Object.fromEntries(Object.entries(mediaTypes).map(([type, schema]) => [type, { schema }]));
  return { 200: { description, headers: headerRefs(headers), content } } as Responses;
}

export function body<S extends z.ZodType>(schema: S, required = true) {
  return { content: { "application/json": { schema } }, required } as const;
}

/** Before anything is done: an answer that nobody wants must not stand for work. A route with several types looks for itself. */
function requireAccepted(responses: RouteConfig["responses"]): MiddlewareHandler<HttpEnv> {
  const successes = Object.entries(responses).filter(([status]) => status.startsWith("2"));
  const types = successes.flatMap(([, response]) => ("content" in response ? Object.keys(response.content ?? {}) : []));
  const [only, ...others] = new Set(types);
  return async (c, next) => {
    if (only !== undefined && others.length === 0) requireAccept(c, only);
    await next();
  };
}

/** What a route that takes no body is sent in one would be passed over without a word. */
const refuseBody: MiddlewareHandler<HttpEnv> = async (c, next) => {
  const given = c.get("body");
  const names = typeof given === "object" && given !== null ? Object.keys(given) : [];
  if (names.length > 0) {
    const errors = names.slice(0, 20).map((name) => ({ pointer: `/${name.slice(0, 64)}`, detail: "this request takes no body" }));
    throw new AppError("UNKNOWN_FIELD", { detail: "This request takes no body.", errors });
  }
  await next();
};

interface RouteParts extends Omit<RouteConfig, "method" | "path" | "operationId" | "tags" | "security"> {
  /** The codes with which it refuses, beside those that its path says (see {@link problemsOf}). Default: none. */
  readonly fails?: readonly ErrorCode[];
  /** Where errors are no problems. */
  readonly errorContent?: ErrorContent;
}

/** Routes and their descriptions, under one tag. `operationId`: what a person would call it, and so a generated client. */
export function routesOf(tag: string) {
  return <Method extends RouteConfig["method"], Path extends string, Parts extends RouteParts>(
    method: Method,
    path: Path,
    operationId: string,
    { fails = [], errorContent, ...parts }: Parts & RouteParts,
  ) => {
    const responses = { ...problemsOf({ method, path, responses: parts.responses }, fails, errorContent), ...parts.responses };
    const security = isOperatorPath(path) ? { security: [{ operator: [] }] } : {};
    const route = createRoute({ method, path, operationId, tags: [tag], ...security, ...parts, responses } as RouteConfig);
    const accepted = requireAccepted(parts.responses);
    const middleware = parts.request?.body === undefined ? [accepted, refuseBody] : [accepted];
    return Object.assign(route, { middleware }) as unknown as Parts & { method: Method; path: Path; getRoutingPath(): string };
  };
}

/** Which methods a path knows, for 405 and OPTIONS. Patterns are Hono's, `:name` standing for one segment. */
export class MethodTable {
  readonly #routes: readonly { readonly method: string; readonly path: RegExp }[];

  constructor(routes: readonly { readonly method: string; readonly path: string }[]) {
    this.#routes = routes
      .filter(({ method, path }) => method !== "ALL" && !path.includes("*"))
      .map(({ method, path }) => ({
        method,
        path: new RegExp(`^${path.replaceAll(/[.+?^$()|[\]\\]/g, "\\$&").replaceAll(/:[^/]+/g, "[^/]+")}$`),
      }));
  }

  /** For the `Allow` header; empty for a path that is not known. */
  allowed(path: string): string[] {
    const methods = new Set(this.#routes.filter((route) => route.path.test(path)).map((route) => route.method));
    if (methods.size === 0) return [];
    if (methods.has("GET")) methods.add("HEAD");
    return [...methods, "OPTIONS"].sort();
  }
}

/** How much the `Accept` header wants an answer of this type, from 0, not at all, to 1 (RFC 9110, 12.5.1; no header: anything). */
function quality(header: string | undefined, type: string): number {
  if (header === undefined || header.trim() === "") return 1;
  const [family] = type.split("/");
  const ranked = parseAccept(header)
    .map((entry) => ({ range: entry.type.toLowerCase(), q: entry.q }))
    .filter(({ range }) => range === type || range === `${family}/*` || range === "*/*")
    .sort((a, b) => specificity(b.range) - specificity(a.range));
  return ranked[0]?.q ?? 0;
}

function specificity(range: string): number {
  return range === "*/*" ? 0 : range.endsWith("/*") ? 1 : 2;
}

/** @throws NOT_ACCEPTABLE */
export function requireAccept(c: Context, type: string): void {
  if (quality(c.req.header("Accept"), type) === 0) throw new AppError("NOT_ACCEPTABLE");
}

/** That of the types which the client wants most; of equals the first. @throws NOT_ACCEPTABLE */
export function preferredType<T extends string>(c: Context, types: readonly T[]): T {
  const ranked = types
    .map((type) => ({ type, q: quality(c.req.header("Accept"), type) }))
    .filter(({ q }) => q > 0)
    .sort((a, b) => b.q - a.q);
  const [best] = ranked;
  if (best === undefined) throw new AppError("NOT_ACCEPTABLE");
  return best.type;
}
