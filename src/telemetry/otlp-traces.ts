import { context, DiagLogLevel, diag, propagation, trace } from "@opentelemetry/api";
import { within } from "../platform/bounded-signal.js";
import type { Logger } from "../platform/logger.js";
import { missingPackage } from "../platform/optional-package.js";
import { VERSION } from "../platform/version.js";

export interface SentTraces {
  /** Sends what is left, for at most 3 seconds, and stops. Never rejects. */
  stop(): Promise<void>;
}

const FLUSH_MS = 3_000;

/**
 * Sends this process's traces to a collector, by OTLP over HTTP. `endpoint`: its base address, as OTEL_EXPORTER_OTLP_ENDPOINT has it.
 * Headers, sampling and resource attributes are those of OpenTelemetry's own variables. A collector that is away costs spans, nothing else.
 * @throws INVALID_CONFIG where the SDK isn't installed
 */
export async function sendTraces(endpoint: string, logger: Logger): Promise<SentTraces> {
  const { OTLPTraceExporter, detectResources, envDetector, resourceFromAttributes, BatchSpanProcessor, NodeTracerProvider } = await sdk();
  const lost = () => logger.warn({}, "traces could not be sent");
  const nothing = () => {};
  // What the SDK says may hold addresses and answers of others: that it failed must do.
  diag.setLogger({ error: lost, warn: nothing, info: nothing, debug: nothing, verbose: nothing }, { logLevel: DiagLogLevel.ERROR });
  const named = resourceFromAttributes({ "service.name": "maitred", "service.version": VERSION });
  const url = new URL("v1/traces", endpoint.endsWith("/") ? endpoint : `${endpoint}/`).href;
  const provider = new NodeTracerProvider({
    resource: named.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url }))],
  });
  provider.register();
  return {
    async stop() {
      const sent = provider.shutdown().then(() => true);
      // The exporter tries again and again.
      if (!(await within(FLUSH_MS, sent, false).catch(() => false))) lost();
      for (const part of [trace, context, propagation, diag]) part.disable();
    },
  };
}

/** Optional peers. */
async function sdk() {
  try {
    return {
      ...(await import("@opentelemetry/exporter-trace-otlp-http")),
      ...(await import("@opentelemetry/resources")),
      ...(await import("@opentelemetry/sdk-trace-node")),
    };
  } catch (cause) {
    const name = "@opentelemetry/sdk-trace-node";
    const install = `@opentelemetry/exporter-trace-otlp-http @opentelemetry/resources ${name}`;
    throw missingPackage({ name, setting: "OTEL_EXPORTER_OTLP_ENDPOINT", install }, cause);
  }
}
