import { z } from "@hono/zod-openapi";
import type { Config } from "../compose/config.js";
import { parseOwner } from "../domain/owner.js";
import { AppError } from "../platform/errors.js";
import type { Application, ApplicationInfo } from "../ports/application.js";
import { exportSchema } from "./export-document.js";
import { flagQuery } from "./fields.js";
import { meSchema, receiptSchema } from "./resources.js";
import { type ApiApp, answer, answers, answersAs, createRoute, newApi } from "./routes.js";
import { textStream } from "./text-stream.js";

const tags = ["Privacy"];
const routes = {
  me: createRoute({
    method: "get",
    path: "/v1/me",
    operationId: "getMe",
    tags,
    summary: "Who the server takes the caller for, and what it runs on",
    responses: answers(meSchema, "The user and the server."),
  }),
  export: createRoute({
    method: "get",
    path: "/v1/me/export",
    operationId: "exportMe",
    tags,
    summary: "Everything about the user, streamed; POST /v1/import takes it back",
    responses: answersAs({ "application/json": exportSchema }, "The export.", ["Content-Disposition"]),
    fails: ["LONG_TERM_MEMORY_UNAVAILABLE"],
  }),
  erase: createRoute({
    method: "delete",
    path: "/v1/me",
    operationId: "eraseMe",
    tags,
    summary: "Erase everything about the user",
    request: { query: z.strictObject({ confirm: flagQuery }) },
    responses: answers(receiptSchema, "The receipt."),
    fails: ["CONFIRMATION_REQUIRED", "LONG_TERM_MEMORY_UNAVAILABLE", "HISTORY_UNAVAILABLE"],
  }),
};

/** Where things are is for the machine's own user; others need not know. */
function serverInfo(info: ApplicationInfo, authMode: Config["AUTH_MODE"]) {
  return {
    version: info.version,
    auth_mode: authMode,
    model: { name: info.model.name, stand_in: info.model.standIn },
    long_term: { enabled: info.longTerm.enabled, location: authMode === "local" ? info.longTerm.location : null },
    embedder: { id: info.embedder.id, lexical: info.embedder.lexical },
    history: { backend: info.history.backend },
    short_term: info.shortTerm,
  };
}

export function privacyRoutes(
  application: Pick<Application, "identities" | "info" | "modelOf" | "privacy" | "user">,
  authMode: Config["AUTH_MODE"],
): ApiApp {
  const api = newApi();
  api.openapi(routes.me, async (c) => {
    const owner = c.get("owner");
    const record = await application.user(owner);
    const { tenant, user } = parseOwner(await application.identities.resolve(owner));
    return answer(c, meSchema, {
      user: {
        tenant,
        id: user,
        display_name: record?.displayName ?? c.get("identity").displayName ?? null,
        provider: record?.provider ?? c.get("identity").provider ?? null,
        time_zone: record?.timeZone ?? null,
        first_seen_at: record?.firstSeenAt ?? null,
        last_seen_at: record?.lastSeenAt ?? null,
      },
      server: serverInfo({ ...application.info, model: application.modelOf(owner) }, authMode),
    });
  });
  api.openapi(routes.export, async (c) => {
    const stream = await textStream(application.privacy.export(c.get("owner"), { by: "user" }));
    return c.body(stream, 200, {
      "Content-Type": "application/json",
      "Content-Disposition": 'attachment; filename="maitred-export.json"',
    });
  });
  api.openapi(routes.erase, async (c) => {
    if (!c.req.valid("query").confirm) throw new AppError("CONFIRMATION_REQUIRED");
    return answer(c, receiptSchema, await application.privacy.erase(c.get("owner"), { by: "user" }));
  });
  return api;
}
