import { text } from "node:stream/consumers";
import type { Owner } from "../../domain/owner.js";
import { AppError } from "../../platform/errors.js";
import type { ConversationName, ReplayOtherwise } from "../../ports/studio.js";
import type { ShownAnswer, TurnReplay } from "../../ports/studio-views.js";
import { type ReplayedAnswer, type ReplayTrial, replayTurn } from "../replay-turn.js";
import { type ConversationsParts, turnNamed } from "./conversations.js";
import { isHidden } from "./turns-read.js";

export interface ReplaysParts extends Omit<ConversationsParts, "list"> {
  /** The user's export, as text. */
  readonly exported: (owner: Owner) => AsyncIterable<string>;
  /** The product over stores of its own, at that time. @throws INVALID_REQUEST for a model that can't be chosen */
  readonly openTrial: (owner: Owner, otherwise: Omit<ReplayOtherwise, "prompt">, at: Date) => Promise<ReplayTrial>;
  /** Aborts when the process stops. */
  readonly stopping: AbortSignal;
}

/** Recorded turns, answered once more beside the answer of then. */
export class Replays {
  readonly #parts: ReplaysParts;
  #isRunning = false;

  constructor(parts: ReplaysParts) {
    this.#parts = parts;
  }

  async one(name: ConversationName, turn: number, { prompt, ...otherwise }: ReplayOtherwise, given: AbortSignal): Promise<TurnReplay> {
    const { store, ledger, exported, openTrial, stopping, looks } = this.#parts;
    const { owner, session, journalled } = await turnNamed(store, name, turn);
    if (session.metadata.incognito === true || isHidden(journalled, await ledger.tombstones(owner)))
      throw new AppError("INVALID_REQUEST", { detail: "What was said in private, or was taken back, is not replayed." });
    if (this.#isRunning) throw new AppError("JOB_RUNNING", { detail: "Another turn is being replayed.", hint: "Wait until it has ended." });
    this.#isRunning = true;
    try {
      await looks.at(owner, "replay");
      const { recorded, replayed } = await replayTurn({
        owner,
        exported: await text(exported(owner)),
        sessionId: session.id,
        turn,
        ...(prompt !== undefined && { prompt }),
        open: (at) => openTrial(owner, otherwise, at),
        signal: AbortSignal.any([given, stopping]),
      });
      const [then, now] = [recorded && this.#shown(recorded), this.#shown(replayed)];
      const difference = { tokens: less(now.tokens, then?.tokens), cost: less(now.cost, then?.cost) };
      return { recorded: then, replayed: now, difference };
    } finally {
      this.#isRunning = false;
    }
  }

  #shown({ content, model, tools, memoryStatus, recalled, used, usage, cost, durationMs }: ReplayedAnswer): ShownAnswer {
    const { show } = this.#parts;
    return {
      ...show("answer", content),
      model,
      tools,
      memory_status: memoryStatus,
      recalled:
        recalled?.map(({ id, text, strength }) => ({ id, ...show("text", text), strength, used: used?.includes(id) ?? null })) ?? null,
      tokens: usage && usage.input_tokens + usage.output_tokens,
      cost,
      duration_ms: durationMs,
    };
  }
}

function less(now: number | null, then: number | null | undefined): number | null {
  return now === null || then === null || then === undefined ? null : now - then;
}
