import type { ApiApp } from "../routes.js";
import { COMPLETIONS_PATH, completionRoutes } from "./chat-completions.js";
import { MODELS_PATH, modelRoutes } from "./models.js";
import { RESPONSES_PATH, responseRoutes } from "./responses.js";
import type { OpenAiParts } from "./turn-route.js";

export { openAiErrorResponse } from "./errors.js";

/** Whose bodies hold a whole conversation. */
export const CONVERSATION_PATHS = [COMPLETIONS_PATH, RESPONSES_PATH] as const;
const PATHS: ReadonlySet<string> = new Set([...CONVERSATION_PATHS, MODELS_PATH]);

/** Whether the clients of a path expect OpenAI's errors. */
export function isOpenAiPath(path: string): boolean {
  return PATHS.has(path);
}

/** `since`: when the server began, in Unix seconds. */
export function openAiRoutes(parts: OpenAiParts & { readonly since: number }): readonly ApiApp[] {
  return [modelRoutes(parts.modelName, parts.since), completionRoutes(parts), responseRoutes(parts)];
}
