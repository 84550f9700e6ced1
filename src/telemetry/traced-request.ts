import { context, propagation, SpanKind, SpanStatusCode, type TextMapGetter, trace } from "@opentelemetry/api";
import type { RequestEnd, TracedRequest } from "../ports/request-tracing.js";
import { beginSpan, within } from "./spans.js";

const HEADERS: TextMapGetter<TracedRequest> = {
  keys: () => [],
  get: ({ header }, name) => header(name),
};

/** Methods that stand in a span's name and attributes as they came: others are anybody's words. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/**
 * A request as a server's span: `{method} {route}`, by the semantic conventions of HTTP, without its path and query, which may hold ids
 * and words. What it does is below it; it is below the caller's span, where `traceparent` names one. Where the application has a span of
 * its own around, that is the server's, and there is no other. It ends with the answer's head, as the request's line in the log does.
 */
export async function tracedRequest(request: TracedRequest, work: () => Promise<RequestEnd>): Promise<void> {
  if (trace.getSpan(context.active()) !== undefined) {
    await work();
    return;
  }
  const method = METHODS.has(request.method) ? request.method : "_OTHER";
  const parent = propagation.extract(context.active(), request, HEADERS);
  const attributes = { "http.request.method": method };
  const name = method === "_OTHER" ? "HTTP" : method;
  const span = context.with(parent, () => beginSpan(name, { attributes, kind: SpanKind.SERVER }));
  try {
    const { route, status } = await context.with(parent, () => within(span, work));
    span.setAttribute("http.response.status_code", status);
    if (route !== null) span.updateName(`${name} ${route}`).setAttribute("http.route", route);
    if (status >= 500) span.setAttribute("error.type", String(status)).setStatus({ code: SpanStatusCode.ERROR });
  } finally {
    span.end();
  }
}
