/** One provider package of the AI SDK: what makes a provider in it, and the variable in which its key usually stands. */
interface ProviderPackage {
  readonly module: string;
  /** The last major version that runs on Node 20 (with `ai` 6). */
  readonly forNode20: number;
  readonly create: string;
  readonly key: string | null;
  /** Where it asks by default; null where that follows from a region or a resource. */
  readonly origin: string | null;
}

/** What LLM_PROVIDER may name beside `openai` and `offline`. The packages are optional: each is installed by who uses it. */
export const AI_SDK_PACKAGES = {
  anthropic: {
    forNode20: 3,
    module: "@ai-sdk/anthropic",
    create: "createAnthropic",
    key: "ANTHROPIC_API_KEY",
    origin: "https://api.anthropic.com",
  },
  google: {
    forNode20: 3,
    module: "@ai-sdk/google",
    create: "createGoogleGenerativeAI",
    key: "GOOGLE_GENERATIVE_AI_API_KEY",
    origin: "https://generativelanguage.googleapis.com",
  },
  "google-vertex": { forNode20: 4, module: "@ai-sdk/google-vertex", create: "createVertex", key: null, origin: null },
  mistral: { forNode20: 3, module: "@ai-sdk/mistral", create: "createMistral", key: "MISTRAL_API_KEY", origin: "https://api.mistral.ai" },
  deepseek: {
    forNode20: 2,
    module: "@ai-sdk/deepseek",
    create: "createDeepSeek",
    key: "DEEPSEEK_API_KEY",
    origin: "https://api.deepseek.com",
  },
  "amazon-bedrock": {
    forNode20: 4,
    module: "@ai-sdk/amazon-bedrock",
    create: "createAmazonBedrock",
    key: "AWS_BEARER_TOKEN_BEDROCK",
    origin: null,
  },
  azure: { forNode20: 3, module: "@ai-sdk/azure", create: "createAzure", key: "AZURE_API_KEY", origin: null },
  xai: { forNode20: 3, module: "@ai-sdk/xai", create: "createXai", key: "XAI_API_KEY", origin: "https://api.x.ai" },
  groq: { forNode20: 3, module: "@ai-sdk/groq", create: "createGroq", key: "GROQ_API_KEY", origin: "https://api.groq.com" },
  cohere: { forNode20: 3, module: "@ai-sdk/cohere", create: "createCohere", key: "COHERE_API_KEY", origin: "https://api.cohere.com" },
} as const satisfies Readonly<Record<string, ProviderPackage>>;

export type AiSdkProvider = keyof typeof AI_SDK_PACKAGES;

export function isAiSdkProvider(name: string): name is AiSdkProvider {
  return Object.hasOwn(AI_SDK_PACKAGES, name);
}
