import { flag, integer, text, url, variable } from "./variable.js";

const token = text.regex(/^[A-Za-z0-9\-._~+/]+=*$/, "letters, digits and `-._~+/` only, as a bearer token is");

/** Variables of what a server tells of itself and who runs it, in the order of the table of variables. */
export const TELEMETRY_VARIABLES = {
  METRICS_TOKEN: variable(
    token.optional(),
    "Who sends it as `Authorization: Bearer …` may read `GET /metrics`. Empty: this machine alone.",
  ),
  OPERATOR_TOKEN: variable(
    token.min(16, "at least 16 characters").optional(),
    "Who has it may see what happened, list users and run jobs under `/v1/operator/` (`Authorization: Bearer …`), sign in to " +
      "`/studio`, and nothing else. Empty: nobody, and there is no Studio.",
  ),
  STUDIO_CONTENT: variable(flag.default(false), "`true` shows the operator what was said and remembered; else ids, lengths and codes."),
  OTEL_EXPORTER_OTLP_ENDPOINT: variable(
    url.optional(),
    "The server sends its traces to this collector, by OTLP over HTTP; the other variables of OpenTelemetry are read too. Needs " +
      "packages, which a start names. Empty: none are sent.",
  ),
} as const;

const SECRET = "base64 of 24 to 64 bytes, `whsec_` before it or not";
const MIN_SECRET_BYTES = 24;
const MAX_SECRET_BYTES = 64;

/** As Standard Webhooks has it. */
const secret = text.regex(/^(whsec_)?[A-Za-z0-9+/]+={0,2}$/, SECRET).refine((value) => {
  const { length } = Buffer.from(value.replace(/^whsec_/, ""), "base64");
  return length >= MIN_SECRET_BYTES && length <= MAX_SECRET_BYTES;
}, SECRET);

/** Variables of what is told to the outside, in the order of the table of variables. */
export const EVENT_VARIABLES = {
  EVENTS_RETENTION_DAYS: variable(
    integer(1, 365).default(7),
    "Days for which events are kept for those who list or follow them; and those that a webhook gave up, for being repeated.",
  ),
  WEBHOOK_URL: variable(url.optional(), "Where every event is POSTed to, signed (`docs/events.md`). Needs WEBHOOK_SECRET."),
  WEBHOOK_SECRET: variable(secret.optional(), "What they are signed with: base64 of 24 to 64 bytes, `whsec_` before it or not."),
  EVENTS_CONTENT: variable(
    flag.default(false),
    "`true`: events also hold the words that they tell of, as they are when they are told; else ids alone.",
  ),
} as const;
