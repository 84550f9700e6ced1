/** Names of OpenTelemetry's semantic conventions for generative AI, as far as they are used here, and a few of our own below. */
export const GEN_AI = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  agent: "gen_ai.agent.name",
  conversation: "gen_ai.conversation.id",
  requestModel: "gen_ai.request.model",
  maxTokens: "gen_ai.request.max_tokens",
  responseModel: "gen_ai.response.model",
  finishReasons: "gen_ai.response.finish_reasons",
  inputTokens: "gen_ai.usage.input_tokens",
  cachedTokens: "gen_ai.usage.cache_read.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  tool: "gen_ai.tool.name",
  toolType: "gen_ai.tool.type",
  toolCall: "gen_ai.tool.call.id",
} as const;

export const MAITRED = {
  task: "maitred.task",
  turn: "maitred.turn",
  attempt: "maitred.attempt",
  memoryStatus: "maitred.memory.status",
  memories: "maitred.memory.recalled",
} as const;

/** What the conventions call a provider, where that is not our name for it. */
const PROVIDERS: Readonly<Record<string, string>> = {
  google: "gcp.gemini",
  "google-vertex": "gcp.vertex_ai",
  mistral: "mistral_ai",
  "amazon-bedrock": "aws.bedrock",
  azure: "azure.ai.openai",
  xai: "x_ai",
  offline: "maitred",
};

/** By the value of LLM_PROVIDER; null for a model of the application's own. */
export function providerName(provider: string | null): string {
  return provider === null ? "custom" : (PROVIDERS[provider] ?? provider);
}
