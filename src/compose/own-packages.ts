import type { DomainToOpen } from "../gate/constraint-gate.js";
import { assistant } from "../languages/assistant.js";
import type { AppError } from "../platform/errors.js";
import { missingPackage } from "../platform/optional-package.js";
import type { Domain } from "../ports/agent.js";

/** What stands in for a model. @throws INVALID_CONFIG */
export async function standIn() {
  // In a `try` of its own: a bundler takes what it doesn't find there for optional.
  try {
    return await import("@maitred/offline");
  } catch (cause) {
    throw missing("@maitred/offline", "LLM_PROVIDER=offline", cause);
  }
}

/** Where the example product is not installed: an assistant without tools. */
export const NO_PRODUCT = assistant();

/**
 * The product where no domain is named: the concierge, or {@link NO_PRODUCT}.
 * @throws INVALID_CONFIG where it is installed and can't be loaded
 */
export async function exampleProduct(): Promise<Domain | DomainToOpen> {
  const name = "@maitred/concierge";
  try {
    return (await import("@maitred/concierge")).concierge;
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes(`'${name}'`))
      throw missingPackage({ name, setting: "A server without a domain of its own" }, cause);
    return NO_PRODUCT;
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
