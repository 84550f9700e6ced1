import { ReactAgent } from "../../src/agent/react-agent.js";
import { recapOf } from "../../src/agent/recap.js";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import type { RecalledMemory, Round } from "../../src/domain/session.js";
import { newId } from "../../src/platform/ids.js";
import { silentLogger } from "../../src/platform/logger.js";
import { estimatedTokens } from "../../src/platform/tokens.js";
import type { AgentResult, ChatModel, Domain, ToolContext } from "../../src/ports/agent.js";
import { buildContext } from "../../src/turn/context.js";

/** A memory as recall gives it. */
export function recalled(text: string, category: string, more: Partial<RecalledMemory> = {}): RecalledMemory {
  return {
    id: newId(),
    text,
    category,
    strength: "soft",
    subject: "self",
    score: null,
    source: null,
    created_at: "2026-01-10T10:00:00.000Z",
    ...more,
  };
}

/** Talks to a domain through the real agent and the real context, turn by turn, with a window in memory. */
export class Conversation {
  readonly owner: Owner;
  readonly sessionId = newId();
  readonly rounds: Round[] = [];
  now: Date;
  memories: readonly RecalledMemory[] = [];
  summary: string | null = null;
  readonly #agent: ReactAgent;
  readonly #domain: Domain;
  readonly #windowRounds: number;
  #turn = 0;

  constructor(options: {
    readonly domain: Domain;
    readonly model: ChatModel;
    readonly now: Date;
    readonly owner?: Owner;
    readonly memories?: readonly RecalledMemory[];
    readonly windowRounds?: number;
  }) {
    this.owner = options.owner ?? ownerOf("default", `guest-${newId()}`);
    this.now = options.now;
    this.memories = options.memories ?? [];
    this.#domain = options.domain;
    this.#windowRounds = options.windowRounds ?? 10;
    this.#agent = new ReactAgent({
      model: options.model,
      tools: options.domain.tools,
      clock: { now: () => this.now },
      logger: silentLogger,
    });
  }

  /** `shown`: what the page shows, as its button sends it. */
  async say(message: string, more: Partial<Omit<ToolContext, "callId">> = {}, shown: object | null = null): Promise<AgentResult> {
    this.#turn += 1;
    const at = this.now.toISOString();
    const envelope = { v: 1 as const, type: "message" as const, turn: this.#turn, at };
    const body = { name: null, channel: "api", metadata: {}, remember: true };
    const user = { ...envelope, seq: this.#turn * 10, id: newId(), body: { ...body, role: "user" as const, content: message } };
    const { input } = buildContext(
      {
        prompt: this.#domain.prompt,
        summary: this.summary,
        rounds: this.rounds.slice(-this.#windowRounds),
        recap: recapOf(this.#domain.tools),
        recalled: this.memories,
        history: [],
        pageContext: shown === null ? null : JSON.stringify(shown),
        question: message,
        now: this.now,
        timeZone: "UTC",
      },
      { maxTokens: 100_000, counter: estimatedTokens },
    );
    const result = await this.#agent.run(input, {
      context: {
        owner: this.owner,
        sessionId: this.sessionId,
        turn: this.#turn,
        userMessage: { id: user.id, content: message },
        recalled: this.memories,
        now: this.now,
        timeZone: "UTC",
        signal: new AbortController().signal,
        remembering: {
          channel: "api",
          context: this.rounds.flatMap(({ user: { body: asked }, assistant: { body: answered } }) => [
            { role: "user" as const, content: asked.content },
            { role: "assistant" as const, content: answered.content },
          ]),
        },
        ...more,
      },
    });
    const assistant = {
      ...envelope,
      seq: this.#turn * 10 + 9,
      id: newId(),
      body: { ...body, role: "assistant" as const, content: result.content },
    };
    this.rounds.push({ turn: this.#turn, user, steps: result.steps, assistant });
    return result;
  }
}
