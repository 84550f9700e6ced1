import { setTimeout as pause } from "node:timers/promises";
import { AppError } from "../../platform/errors.js";
import { orAbort } from "../../platform/or-abort.js";
import type { ModelEvent } from "../../ports/chat-model.js";
import type { ProviderEvent } from "./provider-events.js";

/** How long a guest's answer waits behind calls that nobody waits for, in milliseconds. */
const PATIENCE_MS = 1_500;
/** At one slot nothing begins within this of an answer: a turn goes on with its tools' results. */
const QUIET_MS = 300;
/** An answer that still comes so long after another has begun does not come out of a buffer. */
const BESIDE_MS = 250;

interface Call {
  /** When its first piece came; null: it waits. */
  beganAt: number | null;
  /** Set where it may be broken off and begun anew. */
  readonly giveWay?: AbortController;
}

/**
 * The calls of this process at one endpoint. Whether it answers several at once is learnt: two that come side by side show it. Until then a
 * call that nobody waits for is broken off when a guest's answer waits behind it, and begun anew; from the first time on such calls come
 * one at a time, and not beside a guest's answer.
 */
export class Traffic {
  #slots: "unknown" | "one" | "many" = "unknown";
  readonly #answers = new Set<Call>();
  readonly #background = new Set<Call>();
  #lastAnswerAt = Number.NEGATIVE_INFINITY;
  #changed: (() => void)[] = [];

  /** A call that a guest waits for. */
  async *answer(open: (watch: Watch) => AsyncIterable<ModelEvent>): AsyncGenerator<ModelEvent, void, undefined> {
    const call: Call = { beganAt: null };
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
      const call: Call = { beganAt: null, giveWay };
      await this.#begin(call, signal);
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
  async #begin(call: Call, signal: AbortSignal): Promise<void> {
    try {
      while (this.#slots === "one") {
        const quietMs = this.#lastAnswerAt + QUIET_MS - performance.now();
        if (this.#answers.size + this.#background.size > 0) await orAbort(this.#change(), signal);
        else if (quietMs > 0) await pause(quietMs, undefined, { signal });
        else break;
      }
      this.#background.add(call);
    } catch (error) {
      throw new AppError("ABORTED", { cause: error });
    }
  }

  #makeWay(call: Call): void {
    if (call.beganAt !== null || this.#slots === "many" || this.#background.size === 0) return;
    this.#slots = "one";
    for (const { giveWay } of this.#background) giveWay?.abort();
  }

  async *#watched(events: AsyncIterable<ProviderEvent>, call: Call): AsyncGenerator<ProviderEvent, void, undefined> {
    for await (const event of events) {
      const now = performance.now();
      const since = now - BESIDE_MS;
      const began = call.beganAt ?? now;
      for (const other of [...this.#answers, ...this.#background])
        if (other !== call && other.beganAt !== null && other.beganAt > began && other.beganAt < since) this.#slots = "many";
      call.beganAt ??= now;
      yield event;
    }
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
