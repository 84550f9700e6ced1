import { type Attributes, context, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { isAppError } from "../platform/errors.js";
import { VERSION } from "../platform/version.js";

/**
 * Spans of OpenTelemetry. Without a provider, which the application registers, they cost next to nothing and go nowhere. No attribute
 * holds what anybody said: names, ids of sessions, numbers and codes alone.
 */

export interface SpanOptions {
  readonly attributes: Attributes;
  /** Default: work of our own, as against a call of somebody else's service. */
  readonly kind?: SpanKind;
  /** Begins a trace of its own, whatever runs around it. Default false. */
  readonly root?: boolean;
}

/** Not kept: the application may register its provider after this was loaded. */
function tracer() {
  return trace.getTracer("maitred", VERSION);
}

export function beginSpan(name: string, { attributes, kind = SpanKind.INTERNAL, root = false }: SpanOptions): Span {
  return tracer().startSpan(name, { attributes, kind, root });
}

/** Runs `work` in a span, which ends with it. What `work` throws is told by its code. */
export async function inSpan<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T> {
  const span = beginSpan(name, options);
  try {
    return await within(span, () => work(span));
  } catch (error) {
    failSpan(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** What `work` begins at once is below the span. */
export function within<T>(span: Span, work: () => T): T {
  return context.with(trace.setSpan(context.active(), span), work);
}

/** The error's text may quote somebody: its code or its class must do. */
export function failSpan(span: Span, error: unknown): void {
  span.setAttribute("error.type", isAppError(error) ? error.code : error instanceof Error ? error.name : "_OTHER");
  span.setStatus({ code: SpanStatusCode.ERROR });
}
