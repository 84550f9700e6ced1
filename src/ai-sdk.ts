/** `maitred/ai-sdk`: any model of the AI SDK's providers as Maitred's model, or with Maitred's memory. */
export { type AiSdkLanguageModel, type AiSdkModelOptions, aiSdkModel } from "./agent/models/ai-sdk-model.js";
export { type RememberingModel, type WithMemoryOptions, withMemory } from "./integrations/ai-sdk-memory.js";
export type { OfThread } from "./integrations/of-user.js";
export type { ChatModel } from "./ports/chat-model.js";
