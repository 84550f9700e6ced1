import { type ConversationLog, type LogItem, toJsonObject } from "./conversation-log.js";
import type { Owner } from "./owner.js";
import type { Role } from "./session.js";

/** The parts of `@langchain/core` that the history stands on; handed in, so that Maitred works with the version that the caller has. */
export interface LangChain<Base, Message> {
  /** From `@langchain/core/chat_history`. */
  readonly BaseListChatMessageHistory: Base;
  /** From `@langchain/core/messages`. */
  readonly mapChatMessagesToStoredMessages: (messages: Message[]) => readonly object[];
  readonly mapStoredMessagesToChatMessages: (messages: never[]) => Message[];
}

export interface ChatMessageHistoryOptions {
  readonly log: ConversationLog;
  /** Whose conversation it is: from the server's own knowledge, never from a request. */
  readonly owner: Owner;
  readonly sessionId: string;
}

interface ListHistory<Message> {
  getMessages(): Promise<Message[]>;
  addMessage(message: Message): Promise<void>;
  addMessages(messages: Message[]): Promise<void>;
  clear(): Promise<void>;
}

const CHANNEL = "langchain";
const ROLES: Readonly<Record<string, Role>> = { human: "user", ai: "assistant" };

/**
 * A `BaseListChatMessageHistory` over Maitred's journals, for `RunnableWithMessageHistory`:
 * `getMessageHistory: (sessionId) => chatMessageHistory({ BaseListChatMessageHistory, … }, { log, owner, sessionId })`.
 * Messages come back as they were given, tool calls and all; what was said can be found with history search.
 */
export function chatMessageHistory<Base extends abstract new (...args: never[]) => object, Message>(
  langchain: LangChain<Base, Message>,
  options: ChatMessageHistoryOptions,
): InstanceType<Base> & ListHistory<Message> {
  const { log, owner, sessionId } = options;
  const key = { owner, channel: CHANNEL, conversation: sessionId };
  const Parent = langchain.BaseListChatMessageHistory as unknown as new () => object;
  class MaitredChatMessageHistory extends Parent implements ListHistory<Message> {
    readonly lc_namespace = ["maitred", "stores", "message"];

    async getMessages(): Promise<Message[]> {
      const stored = (await log.items(key)).map(({ item }) => item) as unknown as never[];
      return langchain.mapStoredMessagesToChatMessages(stored);
    }

    async addMessage(message: Message): Promise<void> {
      await this.addMessages([message]);
    }

    async addMessages(messages: Message[]): Promise<void> {
      await log.append(key, langchain.mapChatMessagesToStoredMessages(messages).map(logItem));
    }

    /** Deletes the conversation, from journal and search alike. */
    async clear(): Promise<void> {
      await log.remove(key);
    }
  }
  return new MaitredChatMessageHistory() as unknown as InstanceType<Base> & ListHistory<Message>;
}

function logItem(stored: object): LogItem {
  const item = toJsonObject(stored);
  const role = ROLES[typeof item.type === "string" ? item.type : ""] ?? "system";
  const data = typeof item.data === "object" && item.data !== null && !Array.isArray(item.data) ? item.data : {};
  const content = data.content;
  const parts = Array.isArray(content) ? content : [{ text: content ?? "" }];
  const text = parts
    .flatMap((part) =>
      typeof part === "object" && part !== null && !Array.isArray(part) && typeof part.text === "string" ? [part.text] : [],
    )
    .join("\n");
  return { role, text: role === "system" ? "" : text, item };
}
