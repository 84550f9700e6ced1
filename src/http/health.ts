import { z } from "@hono/zod-openapi";
import type { Config } from "../compose/config.js";
import type { Application } from "../ports/application.js";
import { readinessSchema } from "../ports/resources.js";
import { type ApiApp, answer, answers, newApi, orElse, routesOf } from "./routes.js";

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
