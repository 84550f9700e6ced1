import { AppError } from "../platform/errors.js";

/** What runs where no model and no embedder is configured. */
const WITHOUT_A_KEY = "@maitred/offline @maitred/minilm";

/** What stands in for a model. @throws INVALID_CONFIG */
export function standIn() {
  return fromPackage("@maitred/offline", "LLM_PROVIDER=offline", () => import("@maitred/offline"));
}

/** Models of meanings. `setting`: what asks for them, as a person set it. @throws INVALID_CONFIG */
export function meanings(setting: string) {
  return fromPackage("@maitred/minilm", setting, () => import("@maitred/minilm"));
}

/** What a package of Maitred's own exports, which an installation may do without. */
async function fromPackage<T>(name: string, setting: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    throw new AppError("INVALID_CONFIG", {
      detail: `${setting} needs the package ${name}, which can't be loaded.`,
      hint: `Run \`npm install ${WITHOUT_A_KEY}\`, which is what runs without a key, or set OPENAI_API_KEY.`,
      cause,
    });
  }
}
