import { readFileSync } from "node:fs";
import type { ChatModel } from "../ports/agent.js";
import type { AlsoAsked } from "../ports/extraction.js";

/** A name has some ten; the rest is for models that think first and count it. */
const MAX_OUTPUT_TOKENS = 200;

const PROMPT = readFileSync(new URL("./prompts/title.txt", import.meta.url), "utf8").trim();

/** How a conversation is begun. */
export interface FirstExchange {
  readonly user: string;
  readonly assistant: string;
  /** The user's day when it was said: "Saturday 28 March 2026". */
  readonly day: string;
}

/** What a model is asked for a name by. */
export function titleAsked({ user, assistant, day }: FirstExchange): AlsoAsked {
  const of = JSON.stringify({ said_on: day, user: user.slice(0, 2000), assistant: assistant.slice(0, 2000) });
  return { task: "title", how: PROMPT, of, maxOutputTokens: MAX_OUTPUT_TOKENS };
}

/**
 * A name for a conversation by the model; null for an empty one, and for one that was cut.
 * @throws MODEL_UNAVAILABLE, MODEL_TIMEOUT, ABORTED
 */
export async function modelTitle(model: ChatModel, { how, of, maxOutputTokens }: AlsoAsked, signal: AbortSignal): Promise<string | null> {
  let text = "";
  const messages = [
    { role: "system", content: how },
    { role: "user", content: of },
  ] as const;
  for await (const event of model.stream({ messages, maxOutputTokens, task: "title" }, { signal })) {
    if (event.type === "text") text += event.delta;
    if (event.type === "end" && event.reason !== "stop") return null;
  }
  return bareName(text);
}

/** Without the marks that models put around one. */
export function bareName(text: string): string | null {
  const name = text.trim().replace(/^["'“”„«»]+|["'“”«».。]+$/gu, "");
  return name === "" ? null : name;
}
