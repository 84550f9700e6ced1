import { createHttpApp, type HttpApp, type HttpConfig, type HttpLimits } from "../../src/http/app.js";
import type { Clock } from "../../src/platform/clock.js";
import { type Logger, silentLogger } from "../../src/platform/logger.js";
import type { Application } from "../../src/ports/application.js";
import type { Operator } from "../../src/ports/operator.js";
import { fakeOperator } from "./fake-application.js";
import { AT } from "./samples.js";

export const LOCAL_CONFIG: HttpConfig = {
  AUTH_MODE: "local",
  AUTH_HEADER: "X-MS-CLIENT-PRINCIPAL-ID",
  API_KEYS_FILE: undefined,
  JWT_SECRET: undefined,
  JWKS_URL: undefined,
  JWT_ISSUER: undefined,
  JWT_AUDIENCE: undefined,
  JWT_TENANT_CLAIM: "tenant",
  JWT_SUBJECT_PREFIX: undefined,
  CORS_ORIGINS: [],
  RATE_LIMIT_PER_MINUTE: 0,
  LOG_CONTENT: false,
  MAITRED_TOOLS: "none",
};

export const fixedClock: Clock = { now: () => new Date(AT) };

export interface AppOptions {
  readonly config?: Partial<HttpConfig>;
  readonly limits?: HttpLimits;
  readonly logger?: Logger;
  readonly clock?: Clock;
  /** Default: what refuses everything. */
  readonly operator?: Operator;
}

export function appOver(application: Application, options: AppOptions = {}): Promise<HttpApp> {
  return createHttpApp(
    {
      application,
      config: { ...LOCAL_CONFIG, ...options.config },
      logger: options.logger ?? silentLogger,
      clock: options.clock ?? fixedClock,
      operator: options.operator ?? fakeOperator(),
    },
    options.limits,
  );
}

/** A request with a JSON body. */
export function json(method: string, body: unknown, headers: Record<string, string> = {}): RequestInit {
  return { method, body: JSON.stringify(body), headers: { "Content-Type": "application/json", ...headers } };
}

export interface ServerEvent {
  readonly id: string | null;
  readonly event: string | null;
  readonly data: unknown;
}

/** The events of a text/event-stream body, as a reader that follows the standard sees them; comments are left out. */
export function parseEvents(text: string): ServerEvent[] {
  return text
    .split("\n\n")
    .filter((block) => block.split("\n").some((line) => line.startsWith("data:")))
    .map((block) => {
      const field = (name: string) =>
        block
          .split("\n")
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2) ?? null;
      return { id: field("id"), event: field("event"), data: JSON.parse(field("data") ?? "null") as unknown };
    });
}
