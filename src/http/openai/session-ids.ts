import { isId, newId } from "../../platform/ids.js";

/** Ids of responses and conversations, as OpenAI's look: each tells its session. */

const HEX_OF_ID = 32;

export function responseIdOf(sessionId: string): string {
  return `resp_${bare(sessionId)}${bare(newId())}`;
}

export function conversationIdOf(sessionId: string): string {
  return `conv_${bare(sessionId)}`;
}

/** The session that a response or a conversation belongs to; an id of a session is its own. Null for what can't be any of them. */
export function sessionOf(id: string): string | null {
  if (isId(id)) return id;
  const [, hex = ""] = /^(?:resp|conv)_([0-9a-f]{32})(?:[0-9a-f]{32})?$/.exec(id) ?? [];
  if (hex.length !== HEX_OF_ID) return null;
  const sessionId = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
  return isId(sessionId) ? sessionId : null;
}

function bare(id: string): string {
  return id.replaceAll("-", "");
}
