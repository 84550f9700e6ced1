import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { aiSdkModel } from "../../../src/agent/models/ai-sdk-model.js";
import { openAIModel } from "../../../src/agent/models/openai-model.js";
import { describeChatModelContract, KEY } from "../../contract/chat-model.contract.js";
import { anthropicWire } from "../../support/providers/anthropic-wire.js";
import { chatWire } from "../../support/providers/chat-wire.js";
import { geminiWire } from "../../support/providers/gemini-wire.js";
import { responsesWire } from "../../support/providers/responses-wire.js";

const ONCE = { maxRetries: 1 };

describeChatModelContract("openAIModel over Chat Completions", {
  wire: chatWire,
  make: (baseUrl) => openAIModel({ model: "m", apiKey: KEY, baseUrl, api: "chat", ...ONCE }),
});
describeChatModelContract("openAIModel over the Responses API", {
  wire: responsesWire,
  make: (baseUrl) => openAIModel({ model: "m", apiKey: KEY, baseUrl, api: "responses", ...ONCE }),
});
describeChatModelContract("aiSdkModel over @ai-sdk/openai-compatible", {
  wire: chatWire,
  make: (baseURL) => aiSdkModel(createOpenAICompatible({ name: "loopback", apiKey: KEY, baseURL, includeUsage: true })("m"), ONCE),
});
describeChatModelContract("aiSdkModel over @ai-sdk/anthropic", {
  wire: anthropicWire,
  make: (baseURL) => aiSdkModel(createAnthropic({ apiKey: KEY, baseURL })("claude-sonnet-4-5"), ONCE),
});
describeChatModelContract("aiSdkModel over @ai-sdk/google", {
  wire: geminiWire,
  make: (baseURL) => aiSdkModel(createGoogleGenerativeAI({ apiKey: KEY, baseURL })("gemini-2.5-flash"), ONCE),
});
