import { knownOptions } from "../library/library.js";
import { type LoggedItem, type LogItem, toJsonObject } from "../sessions/log-items.js";
import { type Conversation, conversationOf, itemsIn, OF_A_THREAD, type OfThread, textOf } from "./of-user.js";

/** What the Agents SDK keeps of a conversation: messages, tool calls, results, reasoning. */
export type AgentItem = object;

const CHANNEL = "openai-agents";

/**
 * A `Session` for `@openai/agents`: `run(agent, input, { session: new MaitredSession({ user: ada, thread: "t1" }) })`. Items come back as
 * they were given, in order; what was said can be found with history search, and what the user says forms memories: see
 * {@link memoryInstructions}. Pass the SDK's own item type for typed items: `MaitredSession<AgentInputItem>`.
 */
export class MaitredSession<Item extends AgentItem = AgentItem> {
  readonly #conversation: Conversation;

  /** @throws INVALID_REQUEST where user or thread is missing, UNKNOWN_FIELD for another option, INVALID_SESSION_ID, SHUTTING_DOWN */
  constructor(options: OfThread) {
    this.#conversation = conversationOf(knownOptions<OfThread>(options, OF_A_THREAD), CHANNEL);
  }

  /** The thread, or the id that Maitred gave the session, as it was named. */
  async getSessionId(): Promise<string> {
    const { thread, sessionId = "" } = this.#conversation.name;
    return thread ?? sessionId;
  }

  /** Oldest first; with `limit`, the newest so many. */
  async getItems(limit?: number): Promise<Item[]> {
    const { log, key } = this.#conversation;
    return itemsIn(await log.items(await key(), limit), agentItem<Item>);
  }

  async addItems(items: readonly Item[]): Promise<void> {
    const { log, key } = this.#conversation;
    await log.append(await key(), items.map(logItem));
  }

  /** The newest item, taken back: with it goes what it alone gave to memory. */
  async popItem(): Promise<Item | undefined> {
    const { log, key } = this.#conversation;
    const popped = await log.pop(await key());
    return popped === null ? undefined : itemsIn([popped], agentItem<Item>)[0];
  }

  /** Takes all items out, from journal and search alike. The memories that came from them stay. */
  async clearSession(): Promise<void> {
    const { log, key } = this.#conversation;
    await log.empty(await key());
  }
}

/** What is told to an agent, and of whom. */
export interface MemoryInstructionsOptions extends OfThread {
  /** Of what is known. Default 2,000. */
  readonly maxTokens?: number;
}

/**
 * An agent's `instructions` with what is known of the user behind them, marked as data: preferences, memories, and what must hold, read
 * anew for each run. `new Agent({ instructions: memoryInstructions("…", { user: ada, thread: "t1" }) })`.
 * @throws as {@link MaitredSession}'s constructor
 */
export function memoryInstructions(instructions: string, options: MemoryInstructionsOptions): () => Promise<string> {
  const { maxTokens, ...of } = knownOptions<MemoryInstructionsOptions>(options, { ...OF_A_THREAD, maxTokens: true });
  const conversation = conversationOf(of, CHANNEL);
  return async () => {
    const text = await conversation.known(maxTokens);
    return text === "" ? instructions : `${instructions}\n\n${text}`;
  };
}

/** What was said there without the SDK. */
function agentItem<Item>({ role, text }: LoggedItem): Item {
  const said = role === "assistant" ? { status: "completed", content: [{ type: "output_text", text }] } : { content: text };
  return { type: "message", role, ...said } as Item;
}

function logItem(given: AgentItem): LogItem {
  const item = toJsonObject(given);
  const role = item.role === "user" || item.role === "assistant" ? item.role : "system";
  return { role, text: role === "system" ? "" : textOf(item.content), item };
}
