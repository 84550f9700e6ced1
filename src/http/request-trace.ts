import type { MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import type { TraceRequest } from "../ports/request-tracing.js";
import type { HttpEnv } from "./http-env.js";

/** Each request as a span of its own; see {@link TraceRequest}. */
export function requestTrace(trace: TraceRequest): MiddlewareHandler<HttpEnv> {
  return (c, next) =>
    trace({ method: c.req.method, header: (name) => c.req.header(name) }, async () => {
      await next();
      const route = routePath(c, -1);
      // What matched nothing has the pattern of a middleware.
      return { route: route.includes("*") ? null : route, status: c.res.status };
    });
}
