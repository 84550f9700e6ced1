import type { ModelRequest } from "../../ports/chat-model.js";

const MAX_CHARS = 300;
/** Shorter texts of a conversation stand in any sentence. */
const MIN_TEXT_CHARS = 6;
/** A conversation's text may be quoted in part: its beginning is looked for. */
const QUOTED_CHARS = 40;
const KEYS = /\b(?:sk|pk|gsk|xai|key)[-_][\w-]{8,80}|\bBearer\s+\S{4,200}|\bAIza[\w-]{20,60}/g;
const IMAGE_DATA = /data:image\/\S+/gi;

/** A provider's words as they may be logged: without keys, and without what they repeat of the conversation. */
export function logWords(words: string, request: ModelRequest, secrets: readonly string[]): string {
  let clean = words;
  for (const secret of secrets) if (secret.length > 3) clean = clean.replaceAll(secret, "[key]");
  clean = clean.replace(KEYS, "[key]");
  clean = clean.replace(IMAGE_DATA, "[image]");
  for (const message of request.messages) {
    for (const image of (message.role === "user" && message.images) || [])
      if ("url" in image) clean = clean.replaceAll(image.url, "[image]");
    const text = message.content.trim();
    if (text.length < MIN_TEXT_CHARS) continue;
    if (clean.includes(text)) clean = clean.replaceAll(text, "[text]");
    const begin = clean.indexOf(text.slice(0, QUOTED_CHARS));
    // How far the quotation reaches is not known: all that follows goes.
    if (begin !== -1) clean = `${clean.slice(0, begin)}[text]`;
  }
  return clean.slice(0, MAX_CHARS);
}
