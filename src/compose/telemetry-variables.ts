import { flag, text, url, variable } from "./variable.js";

const token = text.regex(/^[A-Za-z0-9\-._~+/]+=*$/, "letters, digits and `-._~+/` only, as a bearer token is");

/** Variables of what a server tells of itself and who runs it, in the order of the the table of variables. */
export const TELEMETRY_VARIABLES = {
  METRICS_TOKEN: variable(
    token.optional(),
    "",
    "Who sends it as `Authorization: Bearer …` may read `GET /metrics`. Empty: this machine alone.",
  ),
  OPERATOR_TOKEN: variable(
    token.min(16, "at least 16 characters").optional(),
    "",
    "Who has it may see what happened, list users and run jobs under `/v1/operator/` (`Authorization: Bearer …`), sign in to " +
      "`/studio`, and nothing else. Empty: nobody, and there is no Studio.",
  ),
  STUDIO_CONTENT: variable(
    flag.default(false),
    "false",
    "`true` shows the operator what was said and remembered; else ids, lengths and codes.",
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: variable(
    url.optional(),
    "",
    "The server sends its traces to this collector, by OTLP over HTTP; the other variables of OpenTelemetry are read too. Needs " +
      "packages, which a start names. Empty: none are sent.",
  ),
} as const;
