import { type ConversationLog, type LogItem, toJsonObject } from "./conversation-log.js";
import type { Owner } from "./owner.js";
import type { JsonValue } from "./session.js";

/** What the Agents SDK keeps of a conversation: messages, tool calls, results, reasoning. */
export type AgentItem = object;

export interface OpenAIAgentsSessionOptions {
  readonly log: ConversationLog;
  /** Whose conversation it is: from the server's own knowledge, never from a request. */
  readonly owner: Owner;
  readonly sessionId: string;
}

const CHANNEL = "openai-agents";

/**
 * A `Session` for `@openai/agents`: `run(agent, input, { session: new MaitredSession({ … }) })`. Items come back as they were given, in
 * order; what was said can be found with history search. Pass the SDK's own item type for typed items: `MaitredSession<AgentInputItem>`.
 */
export class MaitredSession<Item extends AgentItem = AgentItem> {
  readonly #log: ConversationLog;
  readonly #key: { readonly owner: Owner; readonly channel: string; readonly conversation: string };

  constructor(options: OpenAIAgentsSessionOptions) {
    this.#log = options.log;
    this.#key = { owner: options.owner, channel: CHANNEL, conversation: options.sessionId };
  }

  async getSessionId(): Promise<string> {
    return this.#key.conversation;
  }

  /** Oldest first; with `limit`, the newest so many. */
  async getItems(limit?: number): Promise<Item[]> {
    return (await this.#log.items(this.#key, limit)).map(({ item }) => item as unknown as Item);
  }

  async addItems(items: readonly Item[]): Promise<void> {
    await this.#log.append(this.#key, items.map(logItem));
  }

  async popItem(): Promise<Item | undefined> {
    return ((await this.#log.pop(this.#key))?.item ?? undefined) as unknown as Item | undefined;
  }

  /** Deletes the conversation, from journal and search alike. */
  async clearSession(): Promise<void> {
    await this.#log.remove(this.#key);
  }
}

function logItem(given: AgentItem): LogItem {
  const item = toJsonObject(given);
  const role = item.role === "user" || item.role === "assistant" ? item.role : "system";
  return { role, text: role === "system" ? "" : textOf(item.content), item };
}

/** The text of a message: a string, or parts of which those of text count. */
function textOf(content: JsonValue | undefined): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((part) =>
      typeof part === "object" && part !== null && !Array.isArray(part) && typeof part.text === "string" ? [part.text] : [],
    )
    .join("\n");
}
