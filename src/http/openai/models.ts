import { z } from "@hono/zod-openapi";
import type { Owner } from "../../domain/owner.js";
import { type ApiApp, answer, answers, newApi, routesOf } from "../routes.js";
import { openAiErrors } from "./documented.js";

export const MODELS_PATH = "/v1/models";

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
export function modelRoutes(modelName: (owner: Owner) => string, since: number): ApiApp {
  const api = newApi();
  api.openapi(route, (c) =>
    answer(c, modelsSchema, {
      object: "list",
      data: [{ id: modelName(c.get("owner")), object: "model", created: since, owned_by: "maitred" }],
    }),
  );
  return api;
}
