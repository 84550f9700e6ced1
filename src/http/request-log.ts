import type { MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import type { AppError } from "../platform/errors.js";
import { newId } from "../platform/ids.js";
import { framesOf, type Logger } from "../platform/logger.js";
import type { Metrics } from "../ports/metrics.js";
import type { TraceRequest } from "../ports/request-tracing.js";
import type { HttpEnv } from "./http-env.js";

/** A caller's own request id is taken over when it can do no harm in a log or a header. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

export interface RequestLog {
  readonly middleware: MiddlewareHandler<HttpEnv>;
  /** Logs a failure: its code, and for what is not the caller's doing also where it happened. */
  failed(error: AppError, requestId: string): void;
}

/**
 * One line a request: id, method, the route's pattern, status and time. Never a path as it came, a query, a header or a body,
 * which may hold the user's words. With `content` the messages of errors are logged as well.
 */
export function requestLog(
  logger: Logger,
  options: {
    readonly content: boolean;
    /** Told of every request. Default: nobody is told. */
    readonly metrics?: Pick<Metrics, "requestEnded"> | undefined;
  },
): RequestLog {
  const failed = (error: AppError, requestId: string) => {
    if (error.status < 500) return;
    const cause = error.cause instanceof Error ? error.cause : undefined;
    const fields = {
      request_id: requestId,
      code: error.code,
      cause: cause?.name,
      at: cause === undefined ? [] : framesOf(cause, 8),
      ...(options.content ? { detail: cause?.message } : {}),
    };
    if (error.status === 500) logger.error(fields, "request failed");
    else logger.warn(fields, "request failed");
  };
  return {
    failed,
    async middleware(c, next) {
      const started = performance.now();
      const given = c.req.header("X-Request-Id");
      const requestId = given !== undefined && REQUEST_ID.test(given) ? given : newId();
      c.set("requestId", requestId);
      c.set("report", (error) => failed(error, requestId));
      await next();
      c.header("X-Request-Id", requestId);
      const { method } = c.req;
      const { status } = c.res;
      const route = routePath(c, -1);
      const ms = performance.now() - started;
      options.metrics?.requestEnded({ method, route, status, ms });
      logger.info({ request_id: requestId, method, route, status, duration_ms: Math.round(ms * 10) / 10 }, "request");
    },
  };
}

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
