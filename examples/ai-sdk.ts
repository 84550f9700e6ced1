/**
 * The AI SDK on Maitred: its provider for what is compatible with OpenAI, and the stream that useChat reads. Runs without keys:
 * `npx tsx examples/ai-sdk.ts`. Needs `ai` and `@ai-sdk/openai-compatible`.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { getRequestListener } from "@hono/node-server";
import { DefaultChatTransport, readUIMessageStream, streamText, type UIMessage } from "ai";
import { createMaitred } from "maitred";
import { createApp } from "maitred/http";

// A server for this example; `npx maitred serve` is one of its own.
const maitred = await createMaitred({ shortTermBackend: "memory", openaiApiKey: process.env.OPENAI_API_KEY });
const app = await createApp(maitred);
const server = createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false }));
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
const headers = { "X-User-Id": "ada" };

const provider = createOpenAICompatible({ name: "maitred", baseURL: url, headers });
const { textStream, response } = streamText({ model: provider("maitred"), prompt: "I'm allergic to nuts, and I like jazz." });
for await (const delta of textStream) process.stdout.write(delta);
console.log();
const session = (await response).headers?.["x-session-id"] ?? "";
await maitred.for({ user: "ada" }).sessions.flush(session);

// In React: useChat({ transport }). What it reads are messages that grow.
const transport = new DefaultChatTransport({ api: `${url}/ui/chat`, headers });
const said: UIMessage = { id: "1", role: "user", parts: [{ type: "text", text: "Find me a concert for tonight, please." }] };
const stream = await transport.sendMessages({
  chatId: "my-chat",
  trigger: "submit-message",
  messageId: undefined,
  messages: [said],
  abortSignal: undefined,
});
let answer: UIMessage | undefined;
for await (const message of readUIMessageStream({ stream })) answer = message;
for (const part of answer?.parts ?? []) {
  if (part.type === "text") console.log("Text:", part.text);
  if (part.type === "dynamic-tool") console.log("Tool:", part.toolName);
  if (part.type === "data-memory")
    console.log("Recalled:", (part.data as { recalled: { text: string }[] }).recalled.map(({ text }) => text).join("; "));
}
server.close();
server.closeIdleConnections();
await maitred.close();
