import { backAgain } from "./connection.js";
import { passes } from "./problems.js";
import { brokeOff, TurnStream } from "./turn-stream.js";

/** How often a turn that lost its connection is sent again by itself before the guest is asked. */
const RESENDS = 5;
/** Before it goes out again: most is over by then. */
const FIRST_PAUSE_MS = 200;
const PAUSE_MS = 1500;

/**
 * Runs a turn to its answer and tells `view` what comes. Where the connection is lost on the way, or has gone quiet, the same body goes out
 * again under the same key as soon as the server is back: it runs once, and is answered from what is kept where it has run. One that has
 * gone quiet is listened to still, as it may be the network alone that held it up. Resolves to the answer; null where the guest has
 * stopped it. @throws Problem
 */
export function runTurn(attempt, signal, view) {
  return new Promise((resolve, reject) => {
    const run = new TurnRun(attempt, view, {
      done: (answer) => {
        run.stop();
        resolve(answer);
      },
      failed: (error) => {
        run.stop();
        reject(error);
      },
    });
    const stopped = () => {
      run.stop();
      resolve(null);
    };
    signal.addEventListener("abort", stopped, { once: true });
    if (signal.aborted) resolve(null);
    else run.send();
  });
}

class TurnRun {
  #attempt;
  #view;
  #end;
  #sent = 0;
  #over = false;
  /** Which request is listened to first; null while it is waited for the server. */
  #now = null;
  /** One before it that has gone quiet while the turn ran for it. */
  #quiet = null;
  /** Whose events are shown. */
  #shown = null;

  constructor(attempt, view, end) {
    this.#attempt = attempt;
    this.#view = view;
    this.#end = end;
  }

  send() {
    this.#sent += 1;
    this.#now = new TurnStream(this.#attempt, {
      onEvent: (stream, event, data) => this.#onEvent(stream, event, data),
      onAnswer: (answer) => this.#end.done(answer),
      onProblem: (stream, error) => this.#onProblem(stream, error),
      onQuiet: (stream) => this.#onQuiet(stream),
      onBytes: (stream) => stream === this.#quiet && this.#onBack(),
    });
  }

  stop() {
    this.#over = true;
    this.#now?.stop();
    this.#quiet?.stop();
  }

  #onEvent(stream, event, data) {
    if (this.#shown !== stream) {
      // The turn runs for this one by now.
      this.#quiet?.stop();
      this.#quiet = null;
      if (this.#shown !== null) this.#view.onAgain();
      this.#shown = stream;
    }
    this.#view.onEvent(event, data);
  }

  /** It speaks again: what was sent since only waited for it. */
  #onBack() {
    this.#now?.stop();
    this.#now = this.#quiet;
    this.#quiet = null;
    this.#sent = 1;
    this.#view.onBack();
  }

  #onQuiet(stream) {
    if (stream !== this.#now) return;
    if (stream.open) {
      this.#quiet?.stop();
      this.#quiet = stream;
    } else stream.stop();
    this.#again(brokeOff(), { quiet: true });
  }

  #onProblem(stream, error) {
    if (stream === this.#quiet) this.#quiet = null;
    if (stream !== this.#now) return;
    // Another process of the server may still be at it.
    const busy = this.#sent > 1 && error.code === "SESSION_BUSY";
    if (busy || passes(error)) this.#again(error, { quiet: busy || error.code === "IDEMPOTENCY_IN_PROGRESS" });
    else this.#end.failed(error);
  }

  async #again(error, { quiet }) {
    this.#now = null;
    if (this.#sent > RESENDS) return this.#end.failed(error);
    if (quiet) this.#view.onQuiet();
    else this.#view.onLost();
    await new Promise((resolve) => setTimeout(resolve, this.#sent === 1 ? FIRST_PAUSE_MS : PAUSE_MS));
    if (!this.#isOver()) await backAgain();
    if (this.#isOver()) return;
    if (!quiet) this.#view.onSent();
    this.send();
  }

  /** Or one that was quiet has spoken. */
  #isOver() {
    return this.#over || this.#now !== null;
  }
}
