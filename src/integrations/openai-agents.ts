import type { Owner } from "../domain/owner.js";
import type { JsonValue } from "../domain/session.js";
import type { ConversationLog } from "../sessions/conversation-log.js";
import { type LogItem, type LogKey, toJsonObject } from "../sessions/log-items.js";
import { type KnownOfUser, knownIn } from "./known-of-user.js";

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
 * order; what was said can be found with history search, and what the user says forms memories: see {@link memoryInstructions}. Pass the
 * SDK's own item type for typed items: `MaitredSession<AgentInputItem>`.
 */
export class MaitredSession<Item extends AgentItem = AgentItem> {
  readonly #log: ConversationLog;
  readonly #key: LogKey;

  constructor(options: OpenAIAgentsSessionOptions) {
    this.#log = options.log;
    this.#key = { owner: options.owner, channel: CHANNEL, conversation: options.sessionId };
  }

  async getSessionId(): Promise<string> {
    return this.#key.conversation;
  }

  get owner(): Owner {
    return this.#key.owner;
  }

  /** The id of the session in Maitred's own API. */
  get maitredSessionId(): string {
    return this.#log.sessionId(this.#key);
  }

  /** Oldest first; with `limit`, the newest so many. */
  async getItems(limit?: number): Promise<Item[]> {
    return (await this.#log.items(this.#key, limit)).map(({ item }) => item as unknown as Item);
  }

  async addItems(items: readonly Item[]): Promise<void> {
    await this.#log.append(this.#key, items.map(logItem));
  }

  /** The newest item, taken back: with it goes what it alone gave to memory. */
  async popItem(): Promise<Item | undefined> {
    return ((await this.#log.pop(this.#key))?.item ?? undefined) as unknown as Item | undefined;
  }

  /** Takes all items out, from journal and search alike. The memories that came from them stay. */
  async clearSession(): Promise<void> {
    await this.#log.empty(this.#key);
  }
}

/**
 * An agent's `instructions` with what is known of the user behind them, marked as data: preferences, memories, and what must hold, read
 * anew for each run. `new Agent({ instructions: memoryInstructions("…", { known: maitred.ownAgent, session }) })`.
 */
export function memoryInstructions(
  instructions: string,
  options: {
    readonly known: KnownOfUser;
    readonly session: Pick<MaitredSession, "owner" | "maitredSessionId">;
    /** Of what is known. Default 2,000. */
    readonly maxTokens?: number;
  },
): () => Promise<string> {
  const { known, session, maxTokens } = options;
  const { owner, maitredSessionId: sessionId } = session;
  const limit = maxTokens === undefined ? {} : { maxTokens };
  return async () => {
    const text = await knownIn(known, owner, { ...limit, sessionId });
    return text === "" ? instructions : `${instructions}\n\n${text}`;
  };
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
