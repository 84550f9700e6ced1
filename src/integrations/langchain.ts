import type { Owner } from "../domain/owner.js";
import type { Role } from "../domain/session.js";
import type { ConversationLog } from "../sessions/conversation-log.js";
import { type LogItem, toJsonObject } from "../sessions/log-items.js";

import { renderSummary } from "../turn/context-blocks.js";
import { type KnownOfUser, knownIn } from "./known-of-user.js";

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
  /**
   * At least so many of the newest answered turns are given back, with all that came after; before them, as a system message, the summary
   * of the session where there is one. Default: all that was said.
   */
  readonly rounds?: number;
  /** Tells what is known of the user, as a system message before all others: `maitred.ownAgent`. Default: nothing is told. */
  readonly known?: KnownOfUser;
  /** Of what is known. Default 2,000. */
  readonly maxTokens?: number;
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
 * Messages come back as they were given, tool calls and all; what was said can be found with history search, and what the user says forms
 * memories. What is told before the messages stays the same until some are added, so that a chain counts them right.
 */
export function chatMessageHistory<Base extends abstract new (...args: never[]) => object, Message>(
  langchain: LangChain<Base, Message>,
  options: ChatMessageHistoryOptions,
): InstanceType<Base> & ListHistory<Message> {
  const { log, owner, sessionId, rounds, known, maxTokens } = options;
  const key = { owner, channel: CHANNEL, conversation: sessionId };
  const Parent = langchain.BaseListChatMessageHistory as unknown as new () => object;
  const told = async (summary: string | null): Promise<object[]> => {
    const limit = maxTokens === undefined ? {} : { maxTokens };
    const about = known === undefined ? "" : await knownIn(known, owner, { ...limit, sessionId: log.sessionId(key) });
    return [about, summary === null ? "" : renderSummary(summary)].filter((text) => text !== "").map(systemMessage);
  };
  class MaitredChatMessageHistory extends Parent implements ListHistory<Message> {
    readonly lc_namespace = ["maitred", "stores", "message"];
    #told: object[] | null = null;

    async getMessages(): Promise<Message[]> {
      const { summary, items } = rounds === undefined ? { summary: null, items: await log.items(key) } : await log.window(key, rounds);
      this.#told ??= await told(summary);
      const stored = [...this.#told, ...items.map(({ item }) => item)] as unknown as never[];
      return langchain.mapStoredMessagesToChatMessages(stored);
    }

    async addMessage(message: Message): Promise<void> {
      await this.addMessages([message]);
    }

    async addMessages(messages: Message[]): Promise<void> {
      this.#told = null;
      await log.append(key, langchain.mapChatMessagesToStoredMessages(messages).map(logItem));
    }

    /** Takes all messages out, from journal and search alike, and keeps the session. The memories that came from them stay. */
    async clear(): Promise<void> {
      this.#told = null;
      await log.empty(key);
    }
  }
  return new MaitredChatMessageHistory() as unknown as InstanceType<Base> & ListHistory<Message>;
}

function systemMessage(content: string): object {
  return { type: "system", data: { content } };
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
  const calls = Array.isArray(data.tool_calls) && data.tool_calls.length > 0;
  return { role, text: role === "system" ? "" : text, item, ...(role === "assistant" && calls && { interim: true }) };
}
