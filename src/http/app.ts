import { type Context, Hono, type MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import type { Config } from "../compose/config.js";
import { traceRequest } from "../compose/telemetry.js";
import { everybodyOf } from "../domain/owner.js";
import type { Clock } from "../platform/clock.js";
import { AppError } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import type { Application } from "../ports/application.js";
import type { MakeLimiter } from "../ports/counters.js";
import type { ReadableMetrics } from "../ports/metrics.js";
import type { Operator } from "../ports/operator.js";
import { type AuthConfig, openAuthenticator } from "./auth.js";
import { type Authenticator, type Credentials, isBackendPath, tenantOfBackend } from "./authenticator.js";
import { locationsBelow, pathBelow } from "./base-path.js";
import { CHAT_LIMIT, CONVERSATION_LIMIT, jsonBody } from "./body.js";
import { CHAT_PATH, chatRoutes } from "./chat.js";
import { eventRoutes } from "./events.js";
import { timeZoneFrom } from "./fields.js";
import { healthRoutes, type MetricsConfig, metricsRoutes } from "./health.js";
import { historyRoutes } from "./history.js";
import type { HttpEnv } from "./http-env.js";
import { identityRoutes } from "./identities.js";
import { IMPORT_PATH, importRoutes } from "./import.js";
import { MCP_PATH, mcpBody, mcpRoutes } from "./mcp.js";
import { memoryBatchRoutes, memoryRoutes } from "./memories.js";
import { CONVERSATION_PATHS, isOpenAiPath, openAiErrorResponse, openAiRoutes } from "./openai/openai.js";
import { openApiDocument } from "./openapi.js";
import { operatorRoutes, studioDataRoutes } from "./operator.js";
import { isOperatorPath, OPERATOR_CHALLENGE, type OperatorConfig, operatorDoor } from "./operator-door.js";
import { ownAgentRoutes } from "./own-agent.js";
import { pageRoutes } from "./pages.js";
import { privacyRoutes } from "./privacy.js";
import { asAppError, problemResponse } from "./problem.js";
import { rateLimit } from "./rate-limit.js";
import { requestLog, requestTrace } from "./request-log.js";
import { MethodTable, newApi } from "./routes.js";
import { securityHeaders } from "./security-headers.js";
import { sessionRoutes } from "./sessions.js";
import { type HttpLimits, OpenStreams } from "./streams.js";
import { STUDIO_SESSION_PATH, studioDoor, studioRoutes } from "./studio-pages.js";
import { UI_CHAT_PATH, uiRoutes } from "./ui/ui.js";

export type { HttpLimits } from "./streams.js";
export type HttpConfig = AuthConfig &
  MetricsConfig &
  OperatorConfig &
  Pick<Config, "RATE_LIMIT_PER_MINUTE" | "LOG_CONTENT" | "MAITRED_TOOLS">;
export type HttpApp = Hono<HttpEnv>;

export interface HttpParts {
  readonly application: Application;
  readonly config: HttpConfig;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Where several processes count together. Default: this one counts by itself. */
  readonly limiter?: MakeLimiter | null | undefined;
  /** Default: by `AUTH_MODE`. */
  readonly authenticator?: Authenticator | undefined;
  /** Told of every request, and read by `GET /metrics`. Default: there is no such route. */
  readonly metrics?: ReadableMetrics | null | undefined;
  /** What `/v1/operator/` stands before. Default: there are no such routes. */
  readonly operator?: Operator | undefined;
  /** Below which path everything stands: `/maitred`. Default: none. */
  readonly basePath?: string | undefined;
}

/** Of turns, which look for who the user is after merges only where they must: see {@link Application}. */
const TURN_PATHS: ReadonlySet<string> = new Set([CHAT_PATH, UI_CHAT_PATH, ...CONVERSATION_PATHS, MCP_PATH]);

const MAX_HEADERS = 100;

const EXPOSED = [
  "X-Request-Id",
  "X-Session-Id",
  "X-Memory-Status",
  "Idempotency-Replayed",
  "Retry-After",
  "RateLimit-Limit",
  "RateLimit-Remaining",
  "RateLimit-Reset",
  "Location",
];
const ALLOWED = [
  "Content-Type",
  "Authorization",
  "Idempotency-Key",
  "X-Timezone",
  "X-User-Id",
  "X-Session-Id",
  "X-Maitred-Tools",
  "X-Request-Id",
  "Last-Event-ID",
  "MCP-Protocol-Version",
];

/**
 * The HTTP API, the chat page and Studio. The order of what a request passes: id and log, security headers, origin, CORS, header count;
 * under /v1 and at /mcp then: who it is, how often, the body; last the route.
 * @throws INVALID_CONFIG when keys can't be read
 */
export async function createHttpApp(parts: HttpParts, limits: HttpLimits = {}): Promise<HttpApp> {
  const { application, config, logger, clock, limiter, metrics, operator, basePath = "" } = parts;
  const auth = parts.authenticator ?? (await openAuthenticator(config, clock));
  const studio = studioDoor(config, clock);
  const door = operatorDoor(config, studio?.admits);
  const log = requestLog(logger, { content: config.LOG_CONTENT, metrics: metrics ?? undefined });
  const streaming = {
    streams: new OpenStreams(limits.streamsPerUser ?? 8),
    limits: {
      bufferBytes: limits.streamBufferBytes ?? 65_536,
      heartbeatMs: limits.heartbeatMs ?? 15_000,
      stalledMs: limits.stalledReaderMs ?? 30_000,
    },
  };

  const since = Math.floor(clock.now().getTime() / 1000);
  const conversations = [...CONVERSATION_PATHS, UI_CHAT_PATH].map((path) => [path, CONVERSATION_LIMIT] as const);

  // Routes and everything that compares paths know those below the base path alone.
  const app = new Hono<HttpEnv>({ getPath: pathBelow(basePath) });
  app.use(requestTrace(traceRequest));
  app.use(log.middleware);
  app.use(locationsBelow(basePath));
  app.use(securityHeaders({ hsts: config.AUTH_MODE !== "local" }));
  app.use(async (c, next) => {
    auth.guard(credentialsOf(c));
    if ((c.env?.incoming?.rawHeaders.length ?? 0) > 2 * MAX_HEADERS) throw new AppError("TOO_MANY_HEADERS");
    await next();
  });
  const asOperator: MiddlewareHandler<HttpEnv> = async (c, next) => {
    door.enter(credentialsOf(c));
    if (methods.allowed(c.req.path).length === 0 || c.req.method === "OPTIONS") return c.notFound();
    await next();
    c.header("Cache-Control", "no-store");
  };
  const crossOrigin = cors({
    origin: [...config.CORS_ORIGINS],
    allowMethods: ["GET", "POST", "PATCH", "DELETE"],
    allowHeaders: ALLOWED,
    exposeHeaders: EXPOSED,
    maxAge: 600,
  });
  const signedIn: MiddlewareHandler<HttpEnv> = async (c, next) => {
    if (isOperatorPath(c.req.path)) return asOperator(c, next);
    if (methods.allowed(c.req.path).length === 0 || c.req.method === "OPTIONS") return c.notFound();
    door.refuse(credentialsOf(c));
    const timeZone = timeZoneFrom(c.req.header("X-Timezone"));
    if (isBackendPath(c.req.path)) {
      const tenant = await tenantOfBackend(auth, credentialsOf(c));
      c.set("tenant", tenant);
      c.set("owner", everybodyOf(tenant));
      return noStore(c, next);
    }
    const identity = await auth.identify(credentialsOf(c));
    c.set("identity", identity);
    c.set("owner", identity.owner);
    c.set("timeZone", timeZone);
    const { owner, ...seen } = identity;
    application.seen(owner, { ...seen, ...(timeZone === undefined ? {} : { timeZone }) });
    return noStore(c, next);
  };
  /** Who that is after merges, behind the limit, which is the name's. */
  const known: MiddlewareHandler<HttpEnv> = async (c, next) => {
    const identity = c.get("identity");
    if (identity !== undefined && !TURN_PATHS.has(c.req.path)) c.set("owner", await application.identities.resolve(identity.owner));
    return next();
  };
  const limited = rateLimit(config.RATE_LIMIT_PER_MINUTE, limiter ?? undefined);
  for (const path of ["/v1/*", MCP_PATH]) {
    if (config.CORS_ORIGINS.length > 0) app.use(path, crossOrigin);
    app.use(path, signedIn);
    app.use(path, limited);
    app.use(path, known);
  }
  app.use(
    STUDIO_SESSION_PATH,
    rateLimit(config.RATE_LIMIT_PER_MINUTE, limiter ?? undefined, () => STUDIO_SESSION_PATH),
  );
  app.use("/v1/*", jsonBody(new Set([IMPORT_PATH]), new Map([[CHAT_PATH, CHAT_LIMIT], ...conversations])));
  app.use(MCP_PATH, mcpBody());

  const api = newApi();
  for (const routes of [
    chatRoutes(application.chat, streaming),
    ...openAiRoutes({ application, ...streaming, domainTools: config.MAITRED_TOOLS === "domain", since }),
    uiRoutes(application, streaming),
    ownAgentRoutes(application.ownAgent),
    sessionRoutes(application.sessions),
    memoryBatchRoutes(application, clock),
    memoryRoutes(application, clock),
    historyRoutes(application.history, clock),
    importRoutes(application.imports),
    mcpRoutes(application, clock),
    privacyRoutes(application, config.AUTH_MODE),
    eventRoutes(application.events, { ...streaming, streams: new OpenStreams(limits.streamsPerUser ?? 8) }),
    identityRoutes(application.identities),
    healthRoutes(application, config.AUTH_MODE),
    ...(metrics ? [metricsRoutes(metrics, config)] : []),
    ...(operator ? [operatorRoutes(operator), studioDataRoutes(operator.studio)] : []),
  ])
    api.route("/", routes);
  app.route("/", api);
  // Made when it is first asked for: it takes longer than all else here.
  let document: string | undefined;
  app.get("/openapi.json", (c) => {
    document ??= openApiDocument(api, application.info.version, basePath);
    return c.body(document, 200, { "Content-Type": "application/json", "Cache-Control": "no-cache" });
  });
  app.route("/", pageRoutes(basePath));
  if (studio) app.route("/", studioRoutes(studio, basePath));
  const methods = new MethodTable(app.routes);

  app.notFound((c) => {
    const allowed = methods.allowed(c.req.path);
    if (allowed.length === 0) return errorFor(c)(new AppError("NOT_FOUND"), c.get("requestId"), auth.challenge);
    const allow = { Allow: allowed.join(", ") };
    if (c.req.method === "OPTIONS") return c.body(null, 204, allow);
    return errorFor(c)(new AppError("METHOD_NOT_ALLOWED"), c.get("requestId"), auth.challenge, allow);
  });
  app.onError((error, c) => {
    const known = asAppError(error);
    log.failed(known, c.get("requestId"));
    const rate = Object.fromEntries([...c.res.headers].filter(([name]) => /^(ratelimit-|access-control-|vary$)/.test(name)));
    const challenge = isOperatorPath(c.req.path) || c.req.path === STUDIO_SESSION_PATH ? OPERATOR_CHALLENGE : auth.challenge;
    return errorFor(c)(known, c.get("requestId"), challenge, rate, c.get("keptIn"));
  });
  return app;
}

/** Unless the route says otherwise. */
const noStore: MiddlewareHandler<HttpEnv> = async (c, next) => {
  await next();
  if (!c.res.headers.has("Cache-Control")) c.header("Cache-Control", "no-store");
};

/** What the clients of the request's path read as an error. */
function errorFor(c: Context<HttpEnv>): typeof problemResponse {
  return isOpenAiPath(c.req.path) ? openAiErrorResponse : problemResponse;
}

/** `url` is the address below the base path. */
function credentialsOf(c: Context<HttpEnv>): Credentials {
  const { method, path, raw: request } = c.req;
  const address = new URL(c.req.url);
  address.pathname = path;
  return { method, url: address.href, header: (name) => c.req.header(name), request };
}
