/**
 * OpenAI's own client, pointed at Maitred: chat completions and responses, streamed, with a session that goes on by itself. Runs without
 * keys: `npx tsx examples/openai-client.ts`. In an application of your own only `baseURL` changes: its prompt and its tools are what the
 * model is given. This one has neither, and asks for the concierge's tools.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { createMaitred } from "maitred";
import { createApp } from "maitred/http";
import OpenAI from "openai";

// A server for this example; `npx maitred serve` is one of its own.
const maitred = await createMaitred({ shortTermBackend: "memory", openaiApiKey: process.env.OPENAI_API_KEY });
const app = await createApp(maitred);
const server = createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false }));
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const { port } = server.address() as AddressInfo;

const client = new OpenAI({
  baseURL: `http://127.0.0.1:${port}/v1`,
  // Whose key this is, AUTH_MODE decides; on this machine alone a header names the guest.
  apiKey: "none",
  defaultHeaders: { "X-User-Id": "ada", "X-Maitred-Tools": "domain" },
});
const model = "maitred";

const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "I'm allergic to nuts, and I like jazz." }];
const { data: first, response } = await client.chat.completions.create({ model, messages }).withResponse();
console.log("Said:", first.choices[0]?.message.content);
const session = response.headers.get("X-Session-Id") ?? "";
await maitred.for({ user: "ada" }).sessions.flush(session);

// Another conversation, which knows what the first one was told.
const stream = await client.responses.create({ model, input: "Find me a concert for tonight, please.", stream: true });
let last = "";
for await (const event of stream) {
  if (event.type === "response.output_text.delta") process.stdout.write(event.delta);
  if (event.type === "response.completed") last = event.response.id;
}
const thanks = await client.responses.create({ model, input: "Thank you.", previous_response_id: last });
console.log("\nThen:", thanks.output_text);

const { data } = await maitred.for({ user: "ada" }).memories.list();
console.log("Remembered:", data.map(({ text }) => text).join("; "));
server.close();
server.closeIdleConnections();
await maitred.close();
