import { z } from "@hono/zod-openapi";
import type { Application } from "../../ports/application.js";
import { type ApiApp, answer, answers, newApi, routesOf } from "../routes.js";
import { COMPLETIONS_PATH, completionRoutes } from "./chat-completions.js";
import { RESPONSES_PATH, responseRoutes } from "./responses.js";
import { type OpenAiParts, openAiErrors } from "./turn-route.js";

export { openAiErrorResponse } from "./errors.js";

const MODELS_PATH = "/v1/models";

const modelsSchema = z
  .object({
    object: z.literal("list"),
    data: z.array(z.object({ id: z.string(), object: z.literal("model"), created: z.number().int(), owned_by: z.string() })),
  })
  .openapi("ModelList");

const route = routesOf("OpenAI")("get", MODELS_PATH, "listModels", {
  summary: "The model that answers, as OpenAI lists models",
  responses: answers(modelsSchema, "The one model that there is. Requests may name any."),
  errorContent: openAiErrors,
});

/** `since`: what is told as the model's age, in Unix seconds. */
function modelRoutes({ modelOf }: Pick<Application, "modelOf">, since: number): ApiApp {
  const api = newApi();
  api.openapi(route, (c) =>
    answer(c, modelsSchema, {
      object: "list",
      data: [{ id: modelOf(c.get("owner")).name, object: "model", created: since, owned_by: "maitred" }],
    }),
  );
  return api;
}

/** Whose bodies hold a whole conversation. */
export const CONVERSATION_PATHS = [COMPLETIONS_PATH, RESPONSES_PATH] as const;
const PATHS: ReadonlySet<string> = new Set([...CONVERSATION_PATHS, MODELS_PATH]);

/** Whether the clients of a path expect OpenAI's errors. */
export function isOpenAiPath(path: string): boolean {
  return PATHS.has(path);
}

/** `since`: when the server began, in Unix seconds. */
export function openAiRoutes(parts: OpenAiParts & { readonly since: number }): readonly ApiApp[] {
  return [modelRoutes(parts.application, parts.since), completionRoutes(parts), responseRoutes(parts)];
}
