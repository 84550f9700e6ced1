import { LRUCache } from "lru-cache";
import type { HeldBack, RecalledMemory, RecallStatus } from "../domain/session.js";
import { type TimingRecord, textHash } from "../domain/turn-record.js";
import type { TokenCounter } from "../platform/tokens.js";
import type { TimedWork } from "../ports/tool-context.js";
import type { EndedTurn } from "../ports/turn-records.js";
import type { Context } from "./context.js";
import type { OpenTurn } from "./open-turn.js";

/** More are no part of one turn's picture. */
const MOST_TIMINGS = 200;

/** A system prompt is the same in all turns of a product, and the longest of what is measured. */
const LONG_CHARS = 1_000;
type Measured = { readonly tokens: number; readonly hash: string };
const known = new WeakMap<TokenCounter, LRUCache<string, Measured>>();

function measured(counter: TokenCounter, text: string, tokens?: number): Measured {
  const made = () => ({ tokens: tokens ?? counter.count(text), hash: textHash(text) });
  if (text.length < LONG_CHARS) return made();
  const measures = known.get(counter) ?? new LRUCache<string, Measured>({ max: 20 });
  known.set(counter, measures);
  const found = measures.get(text) ?? made();
  measures.set(text, found);
  return found;
}

/** What a turn is seen to do while it runs, for its record. */
export class TurnTrace {
  firstTokenMs: number | null = null;
  context: Context | null = null;
  readonly #open: OpenTurn;
  readonly #timed: TimedWork[] = [];

  constructor(open: OpenTurn) {
    this.#open = open;
  }

  readonly onTimed = (work: TimedWork): void => {
    if (this.#timed.length < MOST_TIMINGS) this.#timed.push(work);
  };

  /** The first text goes out now. */
  tokenSent(): void {
    this.firstTokenMs ??= performance.now() - this.#open.timing.started;
  }

  ended(
    how: Pick<EndedTurn, "outcome" | "errorCode" | "model" | "cachedTokens">,
    recalled: {
      readonly status: RecallStatus;
      readonly recalled: readonly RecalledMemory[];
      readonly held_back?: HeldBack | undefined;
    },
    counter: TokenCounter,
  ): EndedTurn {
    const { sessionId, turn, incognito, timing } = this.#open;
    const { context } = this;
    return {
      ...how,
      session_id: sessionId,
      turn,
      incognito,
      memoryStatus: recalled.status,
      recalled: recalled.recalled,
      heldBack: recalled.held_back ?? null,
      firstTokenMs: this.firstTokenMs,
      totalMs: performance.now() - timing.started,
      timings: [...this.#opening(), ...this.#timed.map((work) => this.#fromBeginning(work))],
      blocks: () =>
        context?.blocks().map(({ name, text, tokens, chars = text.length }) => ({ name, chars, ...measured(counter, text, tokens) })) ?? [],
    };
  }

  #opening(): readonly TimingRecord[] {
    const { windowMs, recallMs } = this.#open.timing;
    return [
      { name: "window", started_ms: 0, duration_ms: windowMs },
      { name: "recall", started_ms: windowMs, duration_ms: recallMs },
    ];
  }

  #fromBeginning({ name, startedMs, endedMs, error }: TimedWork): TimingRecord {
    const started_ms = startedMs - this.#open.timing.started;
    return { name, started_ms, duration_ms: endedMs - startedMs, ...(error !== undefined && { error }) };
  }
}
