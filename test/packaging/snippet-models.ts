/**
 * What stands for the reader's own model in each snippet of docs/own-agent.md: it prints what it was told, and answers the same to all.
 * By the word behind `ts` of the snippet, the files that it imports.
 */
export const models: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  any: {
    "agent.ts": `
      export async function agent(prompt: string, message: string): Promise<string> {
        console.log("TOLD:", JSON.stringify(prompt), message);
        console.log("Very well.");
        return "Very well.";
      }`,
  },
  "ai-sdk": aiSdkModel(),
  "openai-agents": {
    "model.ts": `
      import { type Model, Usage } from "@openai/agents";
      export const model: Model = {
        async getResponse(request) {
          console.log("TOLD:", JSON.stringify(request.systemInstructions));
          const content = [{ type: "output_text" as const, text: "Very well." }];
          return { usage: new Usage(), output: [{ type: "message", role: "assistant", status: "completed", content }] };
        },
        getStreamedResponse() {
          throw new Error("not expected");
        },
      };`,
  },
  langchain: langChainModel(),
  langgraph: langChainModel(),
  adk: {
    "model.ts": `
      import { BaseLlm, type LlmRequest, type LlmResponse } from "@google/adk";
      class Scripted extends BaseLlm {
        override async *generateContentAsync(request: LlmRequest): AsyncGenerator<LlmResponse, void> {
          console.log("TOLD:", JSON.stringify([request.config?.systemInstruction, request.contents]));
          yield { content: { role: "model", parts: [{ text: "Very well." }] } };
        }
        override connect(): never {
          throw new Error("not expected");
        }
      }
      export const model = new Scripted({ model: "scripted" });`,
  },
  mastra: aiSdkModel(),
};

function aiSdkModel(): Readonly<Record<string, string>> {
  return {
    "model.ts": `
      import { MockLanguageModelV3 } from "ai/test";
      export const model = new MockLanguageModelV3({
        doGenerate: async ({ prompt }) => {
          console.log("TOLD:", JSON.stringify(prompt));
          const none = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 };
          const usage = { inputTokens: none, outputTokens: { total: 0, text: 0, reasoning: 0 } };
          return { content: [{ type: "text", text: "Very well." }], finishReason: { unified: "stop", raw: "stop" }, usage, warnings: [] };
        },
      });`,
  };
}

function langChainModel(): Readonly<Record<string, string>> {
  return {
    "model.ts": `
      import { FakeListChatModel } from "@langchain/core/utils/testing";
      class Told extends FakeListChatModel {
        override async _generate(...args: Parameters<FakeListChatModel["_generate"]>) {
          console.log("TOLD:", JSON.stringify(args[0].map(({ text }) => text)));
          return super._generate(...args);
        }
      }
      export const model = new Told({ responses: ["Very well."] });`,
  };
}
