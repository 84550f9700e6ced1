import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import OpenAI from "openai";
import { onTestFinished } from "vitest";
import { createApp, type HttpLimits } from "../../src/http.js";
import { createMaitred, type MaitredOptions } from "../../src/index.js";
import type { ScriptedStep } from "../../src/testing/scripted-model.js";
import { ChatScript } from "./chat-script.js";

/** The whole product on a loopback port, its model scripted, for clients of others. Ends with the test. */
export async function openDoor(steps: readonly ScriptedStep[], options: MaitredOptions = {}, limits: HttpLimits = {}) {
  const model = new ChatScript(steps);
  const maitred = await createMaitred({
    model,
    prompt: "You help.",
    shortTermBackend: "memory",
    embeddingProvider: "hashing",
    recallDeadlineMs: 5_000,
    ...options,
  });
  const app = await createApp(maitred, { limits });
  const server = createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false }));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await maitred.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const openai = (user = "ada", maxRetries = 0) =>
    new OpenAI({ baseURL: url, apiKey: "none", maxRetries, defaultHeaders: { "X-User-Id": user, Authorization: null } });
  const thread = async (id: string, user = "ada") => (await maitred.for({ user }).sessions.thread(id)).steps;
  return { model, maitred, url, openai, thread };
}

/** All that an iterable gives. */
export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}
