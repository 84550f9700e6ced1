import type { Logger } from "../platform/logger.js";
import type { AnyTool } from "../ports/agent.js";
import type { ReadableMetrics } from "../ports/metrics.js";
import type { TraceRequest } from "../ports/request-tracing.js";
import { providerName, tracedModel, tracedRequest, tracedTool } from "../telemetry/traces.js";
import type { Config } from "./config.js";
import type { Models } from "./models.js";

/** Metrics as Prometheus reads them. `process`: also what Node tells of the process. Loaded when they are asked for. */
export async function openMetrics(options: { readonly process: boolean }): Promise<ReadableMetrics> {
  const { PrometheusMetrics } = await import("../telemetry/prometheus-metrics.js");
  return new PrometheusMetrics(options);
}

/** Sends traces where OTEL_EXPORTER_OTLP_ENDPOINT says; null where nothing does. What it needs is loaded then. */
export async function openTraces(
  { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }: Config,
  logger: Logger,
): Promise<{ stop(): Promise<void> } | null> {
  if (endpoint === undefined) return null;
  const { sendTraces } = await import("../telemetry/otlp-traces.js");
  return sendTraces(endpoint, logger);
}

/** Whose models are called, as traces name it. `own`: the application brought its model along. */
export function tracedProvider({ LLM_PROVIDER }: Config, own: boolean): string {
  return providerName(own ? null : LLM_PROVIDER);
}

export function tracedModels({ chat, extraction, summary, title }: Models, provider: string): Models {
  const traced = (model: Models["chat"]) => tracedModel(model, provider);
  return { chat: traced(chat), extraction: traced(extraction), summary: traced(summary), title: traced(title) };
}

export function tracedTools(tools: readonly AnyTool[]): readonly AnyTool[] {
  return tools.map(tracedTool);
}

/** A request below its caller's span, above what it does. Costs next to nothing where nobody has asked for traces. */
export const traceRequest: TraceRequest = tracedRequest;
