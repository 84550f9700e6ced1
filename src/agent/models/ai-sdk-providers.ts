import type { AppError } from "../../platform/errors.js";
import { missingPackage } from "../../platform/optional-package.js";
import type { ChatModel } from "../../ports/chat-model.js";
import { type AiSdkLanguageModel, type AiSdkModelOptions, aiSdkModel } from "./ai-sdk-model.js";
import { AI_SDK_PACKAGES, type AiSdkProvider } from "./ai-sdk-packages.js";

export interface AiSdkProviderOptions extends AiSdkModelOptions {
  readonly model: string;
  /** Default: what the package finds in the process environment. */
  readonly apiKey?: string;
  /** Default: the provider's own address. */
  readonly baseUrl?: string;
}

/** A model of a provider package, by name. @throws INVALID_CONFIG naming the package where it isn't installed */
export async function openAiSdkModel(provider: AiSdkProvider, options: AiSdkProviderOptions): Promise<ChatModel> {
  const { create } = AI_SDK_PACKAGES[provider];
  const { model, apiKey, baseUrl, ...rest } = options;
  const made = (await load(provider))[create];
  if (typeof made !== "function") throw missing(provider);
  const settings = { ...(apiKey !== undefined && { apiKey }), ...(baseUrl !== undefined && { baseURL: baseUrl }) };
  return aiSdkModel((made as (settings: object) => (model: string) => AiSdkLanguageModel)(settings)(model), rest);
}

async function load(provider: AiSdkProvider): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(AI_SDK_PACKAGES[provider].module)) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    throw missing(provider, cause);
  }
}

function missing(provider: AiSdkProvider, cause?: unknown): AppError {
  const { module, forNode20 } = AI_SDK_PACKAGES[provider];
  const more = ` (with Node 20: \`${module}@${forNode20}\`), or set another LLM_PROVIDER`;
  return missingPackage({ name: module, setting: `LLM_PROVIDER=${provider}`, more }, cause);
}
