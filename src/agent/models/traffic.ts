import { orAbort } from "../../platform/bounded-signal.js";
import { AppError } from "../../platform/errors.js";
import type { ModelEvent } from "../../ports/chat-model.js";
import type { ProviderEvent } from "./answer-sorter.js";

/** How long a guest's answer waits behind calls that nobody waits for, in milliseconds. */
const PATIENCE_MS = 1_500;
/** At one slot nothing begins within this of an answer: a turn goes on with its tools' results. */
const QUIET_MS = 300;
/** What was asked for so much earlier is answered first where one is answered after the other. */
const EARLIER_MS = 250;

interface Call {
  readonly sentAt: number;
  /** Whether its first piece has come. */
  begun: boolean;
  /** Set where it may be broken off and begun anew. */
  readonly giveWay?: AbortController;
}

/**
 * The calls of this process at one endpoint. Whether it answers several at once is learnt: one that comes while an earlier one still does
 * shows it. Until then a call that nobody waits for is broken off when a guest's answer waits behind it, and begun anew; from the first
 * time on such calls come one at a time, and not beside a guest's answer.
 */
export class Traffic {
  #slots: "unknown" | "one" | "many" = "unknown";
  readonly #answers = new Set<Call>();
  readonly #background = new Set<Call>();
  #lastAnswerAt = Number.NEGATIVE_INFINITY;
  #changed: (() => void)[] = [];

  /** A call that a guest waits for. */
  async *answer(open: (watch: Watch) => AsyncIterable<ModelEvent>): AsyncGenerator<ModelEvent, void, undefined> {
    const call: Call = { sentAt: performance.now(), begun: false };
    this.#answers.add(call);
    const timer = setTimeout(() => this.#makeWay(call), PATIENCE_MS);
    try {
      yield* open((events) => this.#watched(events, call));
    } finally {
      clearTimeout(timer);
      this.#answers.delete(call);
      this.#lastAnswerAt = performance.now();
      this.#tell();
    }
  }

  /** One that nobody waits for, whose events come at its end. `open` may be called more than once. @throws what it throws */
  async *behind(
    open: (watch: Watch, signal: AbortSignal) => AsyncIterable<ModelEvent>,
    signal: AbortSignal,
  ): AsyncGenerator<ModelEvent, void, undefined> {
    for (;;) {
      const giveWay = new AbortController();
      const call = await this.#begin(giveWay, signal);
      let given = false;
      try {
        for await (const event of open((events) => this.#watched(events, call), AbortSignal.any([signal, giveWay.signal]))) {
          given = true;
          yield event;
        }
        return;
      } catch (error) {
        if (given || signal.aborted || !giveWay.signal.aborted) throw error;
      } finally {
        this.#background.delete(call);
        this.#tell();
      }
    }
  }

  /** Resolves when such a call has begun: at once where nothing shows that it would be in anybody's way. */
  async #begin(giveWay: AbortController, signal: AbortSignal): Promise<Call> {
    try {
      while (this.#slots === "one") {
        const quietMs = this.#lastAnswerAt + QUIET_MS - performance.now();
        if (this.#answers.size + this.#background.size > 0) await orAbort(this.#change(), signal);
        else if (quietMs > 0) await orAbort(new Promise((resolve) => setTimeout(resolve, quietMs)), signal);
        else break;
      }
      const call: Call = { sentAt: performance.now(), begun: false, giveWay };
      this.#background.add(call);
      return call;
    } catch (error) {
      throw new AppError("ABORTED", { cause: error });
    }
  }

  #makeWay(call: Call): void {
    if (call.begun || this.#slots === "many" || this.#background.size === 0) return;
    this.#slots = "one";
    for (const { giveWay } of this.#background) giveWay?.abort();
  }

  async *#watched(events: AsyncIterable<ProviderEvent>, call: Call): AsyncGenerator<ProviderEvent, void, undefined> {
    for await (const event of events) {
      if (!call.begun) this.#began(call);
      yield event;
    }
  }

  #began(call: Call): void {
    call.begun = true;
    const stillComes = ({ sentAt, giveWay }: Call) => sentAt < call.sentAt - EARLIER_MS && giveWay?.signal.aborted !== true;
    if ([...this.#answers, ...this.#background].some(stillComes)) this.#slots = "many";
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#changed.push(resolve));
  }

  #tell(): void {
    for (const go of this.#changed.splice(0)) go();
  }
}

/** Sees a call's answer come. */
export type Watch = (events: AsyncIterable<ProviderEvent>) => AsyncIterable<ProviderEvent>;
