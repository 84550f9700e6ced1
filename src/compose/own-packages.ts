import type { AppError } from "../platform/errors.js";
import { missingPackage } from "../platform/optional-package.js";

/** What stands in for a model. @throws INVALID_CONFIG */
export async function standIn() {
  // In a `try` of its own: a bundler takes what it doesn't find there for optional.
  try {
    return await import("@maitred/offline");
  } catch (cause) {
    throw missing("@maitred/offline", "LLM_PROVIDER=offline", cause);
  }
}

/** Models of meanings. `setting`: what asks for them, as a person set it. @throws INVALID_CONFIG */
export async function meanings(setting: string) {
  try {
    return await import("@maitred/minilm");
  } catch (cause) {
    throw missing("@maitred/minilm", setting, cause);
  }
}

/** A package of Maitred's own: both run where no model and no embedder is configured. */
function missing(name: string, setting: string, cause: unknown): AppError {
  const more = ", which is what runs without a key, or set OPENAI_API_KEY";
  return missingPackage({ name, setting, install: "@maitred/offline @maitred/minilm", more }, cause);
}
