import { randomUUID } from "node:crypto";
import { open } from "node:fs/promises";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import OpenAI from "openai";

/**
 * The least that a chat server can be: a message is appended and synced, the model's stream is passed on, the answer is appended and
 * synced. No memory, no window, no checks. What it takes is what no orchestrator on these parts can be quicker than.
 */
const model = new OpenAI({ apiKey: "none", baseURL: process.env.OPENAI_BASE_URL, maxRetries: 0 });
// With Maitred's storage variables, as it is driven like Maitred.
const file = await open(`${process.env.MEMORY_STORAGE_DIR}/bare.jsonl`, "a");
const append = async (record: object) => {
  await file.write(`${JSON.stringify(record)}\n`);
  await file.datasync();
};

const app = new Hono();
app.get("/healthz", (context) => context.json({ status: "ok" }));
app.post("/v1/chat", async (context) => {
  const { message, session_id: given } = await context.req.json<{ message: string; session_id?: string }>();
  const sessionId = given ?? randomUUID();
  return streamSSE(context, async (stream) => {
    await stream.writeSSE({ event: "session", data: JSON.stringify({ session_id: sessionId }) });
    await append({ session_id: sessionId, role: "user", content: message });
    let content = "";
    const messages = [{ role: "user" as const, content: message }];
    for await (const chunk of await model.chat.completions.create({ model: "bench", messages, stream: true })) {
      const delta = chunk.choices[0]?.delta.content ?? "";
      if (delta === "") continue;
      content += delta;
      await stream.writeSSE({ event: "token", data: JSON.stringify({ delta }) });
    }
    await append({ session_id: sessionId, role: "assistant", content });
    await stream.writeSSE({ event: "message", data: JSON.stringify({ content }) });
  });
});
app.post("/v1/sessions/:id/flush", (context) => context.json({ pending_turns: 0 }));
serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(process.env.PORT) });
