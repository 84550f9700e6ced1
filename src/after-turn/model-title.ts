import { readFileSync } from "node:fs";
import type { ChatModel } from "../ports/agent.js";

/** A name has some ten; the rest is for models that think first and count it. */
const MAX_OUTPUT_TOKENS = 200;

const PROMPT = readFileSync(new URL("./prompts/title.txt", import.meta.url), "utf8").trim();

/**
 * A name for a conversation by the model, as it wrote it; null for an empty one, and for one that was cut. @throws
 * MODEL_UNAVAILABLE, MODEL_TIMEOUT, ABORTED
 */
export async function modelTitle(
  model: ChatModel,
  exchange: {
    readonly user: string;
    readonly assistant: string;
    /** The user's day when it was said: "Saturday 28 March 2026". */
    readonly day: string;
  },
  signal: AbortSignal,
): Promise<string | null> {
  const content = JSON.stringify({
    said_on: exchange.day,
    user: exchange.user.slice(0, 2000),
    assistant: exchange.assistant.slice(0, 2000),
  });
  let text = "";
  const messages = [
    { role: "system", content: PROMPT },
    { role: "user", content },
  ] as const;
  for await (const event of model.stream({ messages, maxOutputTokens: MAX_OUTPUT_TOKENS, task: "title" }, { signal })) {
    if (event.type === "text") text += event.delta;
    if (event.type === "end" && event.reason !== "stop") return null;
  }
  const name = text.trim().replace(/^["'“”„«»]+|["'“”«».。]+$/gu, "");
  return name === "" ? null : name;
}
