import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Config } from "../compose/config.js";
import { AppError } from "../platform/errors.js";
import type { Application } from "../ports/application.js";
import type { ReadableMetrics } from "../ports/metrics.js";
import { readinessSchema } from "../ports/resources.js";
import { isLoopback } from "./auth-local.js";
import { sharedSecret } from "./authenticator.js";
import type { HttpEnv } from "./http-env.js";
import { type ApiApp, answer, answers, answersAs, newApi, orElse, routesOf } from "./routes.js";

const aliveSchema = z.object({ status: z.literal("ok") }).openapi("Alive");
const route = routesOf("Operations");
const routes = {
  healthz: route("get", "/healthz", "checkHealth", {
    summary: "The process answers",
    responses: answers(aliveSchema, "It does."),
  }),
  readyz: route("get", "/readyz", "checkReadiness", {
    summary: "Each part: ok, degraded, down or disabled",
    responses: orElse(answers(readinessSchema, "Ready, perhaps degraded."), 503, readinessSchema, "Not ready.", ["Retry-After"]),
  }),
  metrics: route("get", "/metrics", "getMetrics", {
    summary: "Metrics for Prometheus; for this machine, or with METRICS_TOKEN",
    responses: answersAs({ "text/plain": z.string() }, "In Prometheus' text format. 404 for everybody else."),
    fails: ["NOT_FOUND"],
  }),
};

/** No user is needed to ask; what parts say in detail is for the machine's own user. */
export function healthRoutes(application: Pick<Application, "readiness">, authMode: Config["AUTH_MODE"]): ApiApp {
  const api = newApi();
  api.openapi(routes.healthz, (c) => answer(c, aliveSchema, { status: "ok" }));
  api.openapi(routes.readyz, async (c) => {
    const { status, parts } = await application.readiness();
    const shown = Object.entries(parts).map(([name, part]) => [name, authMode === "local" ? part : { status: part.status }] as const);
    c.header("Cache-Control", "no-store");
    if (status === "down") c.header("Retry-After", "5");
    return answer(c, readinessSchema, { status, parts: Object.fromEntries(shown) }, status === "down" ? 503 : 200);
  });
  return api;
}

/** What a proxy on this machine adds to what it passes on. */
const FORWARDED = ["Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP"];

export type MetricsConfig = Pick<Config, "AUTH_MODE"> & Partial<Pick<Config, "METRICS_TOKEN">>;

/** For this machine itself, or whoever has the token; to others there is no such page. */
export function metricsRoutes(metrics: ReadableMetrics, config: MetricsConfig): ApiApp {
  const api = newApi();
  const token = sharedSecret(config.METRICS_TOKEN);
  api.openapi(routes.metrics, async (c) => {
    if (!token.heldBy(c.req.header("Authorization")) && !isFromHere(c, config.AUTH_MODE)) throw new AppError("NOT_FOUND");
    return c.body(await metrics.text(), 200, { "Content-Type": metrics.contentType, "Cache-Control": "no-store" });
  });
  return api;
}

/**
 * By the connection, and not passed on by a proxy that stands here too. Without a connection to look at, where the application is called as
 * a function, `local` mode has looked at the address already.
 */
function isFromHere(c: Context<HttpEnv>, authMode: Config["AUTH_MODE"]): boolean {
  if (FORWARDED.some((name) => c.req.header(name) !== undefined)) return false;
  if (!isLoopback(new URL(c.req.url).hostname)) return false;
  const from = c.env?.incoming?.socket?.remoteAddress;
  return from === undefined ? authMode === "local" : isLoopback(from.replace(/^::ffff:/i, ""));
}
