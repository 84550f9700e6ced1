import { isSigningIn, Problem, request } from "./api.js";
import { eventsIn } from "./event-stream.js";
import { QUIET_MS, QuietWatch } from "./quiet-watch.js";

/** Before the stream opens the server may wait for the turn before, some 30 seconds, and sends nothing meanwhile. */
const OPENS_MS = 45_000;

export const brokeOff = () => new Problem({ detail: "The connection broke off before the answer was complete.", code: "DISCONNECTED" });

/**
 * One request for a turn, from when it is made: the same body under the same key does nothing twice. What comes is told as it comes:
 * `onEvent(stream, event, data)`, all but the last; `onAnswer(answer)` or `onProblem(stream, error)` once; `onQuiet(stream)` where nothing
 * has come for so long that the connection may be dead; `onBytes(stream)` with whatever comes. After `stop` nothing is told any more.
 */
export class TurnStream {
  #abort = new AbortController();
  #told;
  #quiet;
  /** The server has taken it: from here on it is this request that the turn runs for. */
  open = false;

  constructor(attempt, told) {
    this.#told = told;
    this.#quiet = new QuietWatch(() => (isSigningIn() ? this.#quiet.heard() : told.onQuiet(this)));
    this.#quiet.watch(OPENS_MS);
    void this.#hear(attempt);
  }

  stop() {
    this.#quiet.end();
    this.#abort.abort();
  }

  async #hear({ body, key }) {
    try {
      const answer = await this.#answer({ body, headers: { "Idempotency-Key": key, Accept: "text/event-stream" } });
      if (!this.#abort.signal.aborted) this.#told.onAnswer(answer);
    } catch (error) {
      if (!this.#abort.signal.aborted) this.#told.onProblem(this, error instanceof Problem ? error : brokeOff());
    } finally {
      this.#quiet.end();
    }
  }

  async #answer(options) {
    const { signal } = this.#abort;
    const response = await request("POST", "/v1/chat", { ...options, signal });
    this.open = true;
    this.#quiet.watch(QUIET_MS);
    const onBytes = () => {
      if (signal.aborted) return;
      this.#quiet.heard();
      this.#told.onBytes(this);
    };
    for await (const { event, data } of eventsIn(response.body, onBytes)) {
      if (signal.aborted) break;
      if (event === "error") throw new Problem(data);
      if (event === "message") return data;
      this.#told.onEvent(this, event, data);
    }
    throw brokeOff();
  }
}
