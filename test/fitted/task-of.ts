import type { ChatBody } from "../support/openai-stub.js";

/** What a call is for, by what it is given. */
export function taskOf({ messages }: ChatBody): "reading" | "title" | "turn" {
  const texts = messages.map(({ content }) => String(content));
  if (texts.some((text) => text.includes('"MESSAGE":'))) return "reading";
  return texts.some((text) => text.includes('"said_on":')) ? "title" : "turn";
}

/** The document of a reading's request. */
export function documentOf({ messages }: ChatBody): Readonly<Record<string, unknown>> {
  const text = messages.map(({ content }) => String(content)).find((content) => content.includes('"MESSAGE":')) ?? "{}";
  return JSON.parse(text.slice(text.indexOf("{"))) as Readonly<Record<string, unknown>>;
}
