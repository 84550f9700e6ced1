import { AppError } from "../platform/errors.js";

/** What runs where no model and no embedder is configured. */
const WITHOUT_A_KEY = "@maitred/offline @maitred/minilm";

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

/** A package of Maitred's own, which an installation may do without. */
function missing(name: string, setting: string, cause: unknown): AppError {
  return new AppError("INVALID_CONFIG", {
    detail: `${setting} needs the package ${name}, which can't be loaded.`,
    hint: `Run \`npm install ${WITHOUT_A_KEY}\`, which is what runs without a key, or set OPENAI_API_KEY.`,
    cause,
  });
}
