import type { Role } from "../domain/session.js";
import { knownOptions } from "../library/library.js";
import { type LoggedItem, type LogItem, toJsonObject } from "../sessions/log-items.js";
import { renderSummary } from "../turn/context-blocks.js";
import { conversationOf, frameworkPart, itemsIn, OF_A_THREAD, type OfThread, textOf } from "./of-user.js";

/** The parts of `@langchain/core` that the history stands on; handed in, so that Maitred works with the version that the caller has. */
export interface LangChain<Base, Message> {
  /** From `@langchain/core/chat_history`. */
  readonly BaseListChatMessageHistory: Base;
  /** From `@langchain/core/messages`. */
  readonly mapChatMessagesToStoredMessages: (messages: Message[]) => readonly object[];
  readonly mapStoredMessagesToChatMessages: (messages: never[]) => Message[];
}

export interface ChatMessageHistoryOptions extends OfThread {
  /**
   * At least so many of the newest answered turns are given back, with all that came after; before them, as a system message, the summary
   * of the session where there is one. Default: all that was said.
   */
  readonly rounds?: number;
  /** Of what is known of the user, which is told as a system message before all others. Default 2,000. */
  readonly maxTokens?: number;
}

interface ListHistory<Message> {
  getMessages(): Promise<Message[]>;
  addMessage(message: Message): Promise<void>;
  addMessages(messages: Message[]): Promise<void>;
  clear(): Promise<void>;
}

const CHANNEL = "langchain";
const TYPES = { user: "human", assistant: "ai", system: "system" } as const satisfies Readonly<Record<Role, string>>;
const ROLES: Readonly<Record<string, Role>> = { human: "user", ai: "assistant" };

/**
 * A `BaseListChatMessageHistory` over Maitred's journals, for `RunnableWithMessageHistory`:
 * `getMessageHistory: (thread) => chatMessageHistory({ BaseListChatMessageHistory, … }, { user: ada, thread })`. What is known of the user
 * comes first, as a system message, where anything is. Messages come back as they were given, tool calls and all; what was said can be
 * found with history search, and what the user says forms memories. What is told before the messages stays the same until some are
 * added, so that a chain counts them right.
 * @throws INVALID_REQUEST where user, thread or a part of LangChain is missing, UNKNOWN_FIELD for another option, INVALID_SESSION_ID,
 *   SHUTTING_DOWN
 */
export function chatMessageHistory<Base extends abstract new (...args: never[]) => object, Message>(
  langchain: LangChain<Base, Message>,
  options: ChatMessageHistoryOptions,
): InstanceType<Base> & ListHistory<Message> {
  const { rounds, maxTokens, ...of } = knownOptions<ChatMessageHistoryOptions>(options, { ...OF_A_THREAD, rounds: true, maxTokens: true });
  const { log, key, known } = conversationOf(of, CHANNEL);
  const part = <Name extends keyof LangChain<Base, Message>>(name: Name, from: string) => frameworkPart(langchain?.[name], name, from);
  const Parent = part("BaseListChatMessageHistory", "@langchain/core/chat_history") as unknown as new () => object;
  const stored = part("mapChatMessagesToStoredMessages", "@langchain/core/messages");
  const fromStored = part("mapStoredMessagesToChatMessages", "@langchain/core/messages");
  const told = async (summary: string | null): Promise<object[]> => {
    const about = await known(maxTokens);
    return [about, summary === null ? "" : renderSummary(summary)]
      .filter((text) => text !== "")
      .map((text) => storedMessage({ role: "system", text }));
  };
  class MaitredChatMessageHistory extends Parent implements ListHistory<Message> {
    readonly lc_namespace = ["maitred", "stores", "message"];
    #told: object[] | null = null;

    async getMessages(): Promise<Message[]> {
      const at = await key();
      const { summary, items } = rounds === undefined ? { summary: null, items: await log.items(at) } : await log.window(at, rounds);
      this.#told ??= await told(summary);
      return fromStored([...this.#told, ...itemsIn(items, storedMessage)] as unknown as never[]);
    }

    async addMessage(message: Message): Promise<void> {
      await this.addMessages([message]);
    }

    async addMessages(messages: Message[]): Promise<void> {
      this.#told = null;
      await log.append(await key(), stored(messages).map(logItem));
    }

    /** Takes all messages out, from journal and search alike, and keeps the session. The memories that came from them stay. */
    async clear(): Promise<void> {
      this.#told = null;
      await log.empty(await key());
    }
  }
  return new MaitredChatMessageHistory() as unknown as InstanceType<Base> & ListHistory<Message>;
}

/** What is told, and what was said there without LangChain. */
function storedMessage({ role, text }: Pick<LoggedItem, "role" | "text">): object {
  return { type: TYPES[role], data: { content: text } };
}

function logItem(stored: object): LogItem {
  const item = toJsonObject(stored);
  const role = ROLES[typeof item.type === "string" ? item.type : ""] ?? "system";
  const data = typeof item.data === "object" && item.data !== null && !Array.isArray(item.data) ? item.data : {};
  const calls = Array.isArray(data.tool_calls) && data.tool_calls.length > 0;
  return { role, text: role === "system" ? "" : textOf(data.content), item, ...(role === "assistant" && calls && { interim: true }) };
}
