/** `maitred/ai-sdk`: any model of the AI SDK's providers as Maitred's model. */
export { type AiSdkLanguageModel, type AiSdkModelOptions, aiSdkModel } from "./agent/models/ai-sdk-model.js";
export type { ChatModel } from "./ports/chat-model.js";
