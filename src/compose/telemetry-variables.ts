import { text, url, variable } from "./variable.js";

/** Variables of what a server tells of itself, in the order of the README's table. */
export const TELEMETRY_VARIABLES = {
  METRICS_TOKEN: variable(
    text.regex(/^[A-Za-z0-9\-._~+/]+=*$/, "letters, digits and `-._~+/` only, as a bearer token is").optional(),
    "",
    "Who sends it as `Authorization: Bearer …` may read `GET /metrics`. Empty: this machine alone.",
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: variable(
    url.optional(),
    "",
    "The server sends its traces to this collector, by OTLP over HTTP; the other variables of OpenTelemetry are read too. Empty: none " +
      "are sent.",
  ),
} as const;
