import { AppError } from "../platform/errors.js";
import { CONTEXT_PARTS, type ContextPart, type ContextRequest } from "../ports/own-agent.js";
import type { ContextForPrompt } from "../ports/resources.js";
import type { WindowRead } from "../ports/session-store.js";
import { ownSession } from "./active-session.js";
import { memoryLine } from "./context-blocks.js";
import { withoutForgotten } from "./forgotten-rounds.js";
import { messageIdsOf } from "./open-turn.js";
import type { OrchestratorParts } from "./orchestrator-parts.js";
import { promptBlock } from "./prompt-block.js";
import { recallFor } from "./recall.js";
import { timeZoneOf } from "./time-zone-of.js";
import { notForgotten } from "./unanswered.js";
import { currentSummary } from "./window.js";

export type PromptContextParts = Pick<
  OrchestratorParts,
  "store" | "lagging" | "recall" | "ledger" | "registry" | "tokens" | "recap" | "counter" | "clock" | "onContext"
>;

const DEFAULT_MAX_TOKENS = 2_000;
const NO_WINDOW: WindowRead = { rounds: [], summary: null, lastUserMessage: null, lastSeq: 0, lastTurn: 0, bytesRead: 0 };

/** What is known of a user, for the prompt of an agent elsewhere. */
export class PromptContext {
  readonly #parts: PromptContextParts;
  readonly #rounds: number;

  constructor(parts: PromptContextParts, options: { /** Of the window, where the request doesn't say. */ readonly rounds: number }) {
    this.#parts = parts;
    this.#rounds = options.rounds;
  }

  async of(request: ContextRequest, options: { readonly signal?: AbortSignal } = {}): Promise<ContextForPrompt> {
    const { owner, sessionId = null } = request;
    await this.#parts.lagging.level(owner);
    return this.#parts.registry.during(owner, options.signal, async (signal) => {
      const work = () => this.#read(request, signal);
      return this.#parts.tokens?.during({ owner, sessionId }, work) ?? work();
    });
  }

  async #read(request: ContextRequest, signal: AbortSignal): Promise<ContextForPrompt> {
    const { recall, ledger, counter, clock, recap } = this.#parts;
    const { owner, sessionId, maxTokens = DEFAULT_MAX_TOKENS, include = CONTEXT_PARTS, rounds = this.#rounds } = request;
    const wants = (part: ContextPart) => include.includes(part);
    const now = clock.now();
    const session = sessionId === undefined ? null : await ownSession(this.#parts, owner, sessionId);
    if (session?.status === "deleted") throw new AppError("SESSION_NOT_ACTIVE");
    const window = session === null ? NO_WINDOW : await this.#window(request, wants("window") ? rounds : 0, signal);
    const query = request.query ?? window.lastUserMessage?.body.content ?? "";
    const looksBack = () => wants("history") && query.trim() !== "";
    const metadata = session?.metadata ?? {};
    const [recalled, tombstones, timeZone] = await Promise.all([
      recallFor(
        { ...recall, turns: null, looksBack },
        {
          owner,
          sessionId: sessionId ?? "",
          text: query,
          now,
          incognito: metadata.incognito === true,
          inWindow: new Set([...messageIdsOf(window), ...(window.lastUserMessage === null ? [] : [window.lastUserMessage.id])]),
          before: null,
          begins: wants("memories"),
          signal,
        },
      ),
      ledger.tombstones(owner),
      timeZoneOf(ledger, request, metadata),
    ]);
    signal.throwIfAborted();
    this.#parts.onContext?.(owner, sessionId);
    const constraints = recalled.memories.filter(({ strength }) => strength === "hard");
    const soft = recalled.memories.filter(({ strength }) => strength !== "hard");
    // Standing ones come whatever the query; those with a score for their likeness to it.
    const standing = wants("profile") ? soft.filter(({ score }) => score === null) : [];
    const similar = wants("memories") ? soft.filter(({ score }) => score !== null) : [];
    const summary = wants("summary") ? currentSummary(window, tombstones) : null;
    const { text, tokens, memories } = promptBlock(
      {
        status: recalled.status,
        constraints,
        toConfirm: recalled.toConfirm,
        memories: [...similar, ...standing],
        summary,
        summarisedTo: window.summary?.body.to_turn ?? 0,
        unread: notForgotten(recalled.unread, tombstones).map(({ body }) => body.content),
        history: recalled.history,
        rounds: withoutForgotten(window.rounds, tombstones),
        ...(recap !== undefined && { recap }),
        now,
        timeZone,
      },
      { maxTokens, counter },
    );
    const told = [...constraints, ...standing, ...similar].filter((memory) => memories.has(memoryLine(memory, now, timeZone)));
    const memory = { status: recalled.status, recalled: told, to_confirm: recalled.toConfirm };
    return { text, memory, history: recalled.history, summary, usage: { tokens } };
  }

  #window({ owner, sessionId = "" }: ContextRequest, rounds: number, signal: AbortSignal): Promise<WindowRead> {
    return this.#parts.store.journal.window(owner, sessionId, { rounds, signal });
  }
}
