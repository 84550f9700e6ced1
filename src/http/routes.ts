import { createRoute as createOpenApiRoute, OpenAPIHono, type RouteConfig, type z } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { AppError } from "../platform/errors.js";
import type { HttpEnv } from "./http-env.js";
import { requireAccept } from "./negotiate.js";
import { PROBLEM_TYPE, problemSchema } from "./problem.js";
import { invalidRequest } from "./validation.js";

export type ApiApp = OpenAPIHono<HttpEnv>;

/** An app for one resource: what its schemas refuse is a problem. */
export function newApi(): ApiApp {
  return new OpenAPIHono<HttpEnv>({
    defaultHook: (result, c) => {
      if (!result.success) throw invalidRequest(result.error, result.target, c.req.path);
    },
  });
}

/** What a port gives: the schema's shape, whose lists nobody may change. */
type ReadOnly<T> = T extends readonly (infer U)[]
  ? readonly ReadOnly<U>[]
  : T extends object
    ? { readonly [K in keyof T]: ReadOnly<T[K]> }
    : T;

/** A JSON answer. The schema is for the compiler: it holds the value to what the document says. */
export function answer<S extends z.ZodType>(
  c: Context,
  _schema: S,
  value: ReadOnly<z.output<S>>,
  status: ContentfulStatusCode = 200,
): Response {
  requireAccept(c, "application/json");
  return c.json(value as object, status);
}

/** Deliberately without the status codes in its type: handlers answer with a Response that {@link answer} has checked. */
type Responses = RouteConfig["responses"] & { readonly [status: number]: { readonly description: string } };

const problem = { description: "A problem (RFC 9457).", content: { [PROBLEM_TYPE]: { schema: problemSchema } } };

function withProblems(status: number, success: RouteConfig["responses"][number]): Responses {
  return { [status]: success, "4XX": problem, "5XX": problem } as Responses;
}

/** A route that may also answer with another status. */
export function orElse(responses: Responses, status: number, schema: z.ZodType, description: string): Responses {
  return { ...responses, [status]: { description, content: { "application/json": { schema } } } } as Responses;
}

/** A route that may also answer with nothing, and whose caller's mistakes may also be told in another form than a problem's. */
export function orOwnErrors(responses: Responses, empty: number, description: string, error: z.ZodType): Responses {
  const content = { ...problem.content, "application/json": { schema: error } };
  return { ...responses, [empty]: { description }, "4XX": { description: problem.description, content } } as Responses;
}

/** The answers of a route: one on success, and problems. */
export function answers(schema: z.ZodType, description: string, status = 200): Responses {
  return withProblems(status, { description, content: { "application/json": { schema } } });
}

export function answersNothing(description: string): Responses {
  return withProblems(204, { description });
}

export function answersAs(mediaTypes: Readonly<Record<string, z.ZodType>>, description: string): Responses {
  return withProblems(200, {
    description,
    content: Object.fromEntries(Object.entries(mediaTypes).map(([type, schema]) => [type, { schema }])),
  });
}

/** A JSON body. */
export function body<S extends z.ZodType>(schema: S, required = true) {
  return { content: { "application/json": { schema } }, required } as const;
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

export const createRoute: typeof createOpenApiRoute = (config) => {
  const route = createOpenApiRoute(config);
  return config.request?.body === undefined ? Object.assign(route, { middleware: refuseBody }) : route;
};
