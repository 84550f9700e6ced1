import { eventsIn, isSigningIn, QUIET_MS, quietWatch, request } from "./api.js";
import type { Answer } from "./api-types.js";
import { backAgain } from "./connection.js";
import { Problem, type ProblemBody, passes } from "./problems.js";

/** How often a turn that lost its connection is sent again by itself before the guest is asked. */
const RESENDS = 5;
/** Before it goes out again: most is over by then. */
const FIRST_PAUSE_MS = 200;
const PAUSE_MS = 1500;
/** Before the stream opens the server may wait for the turn before, some 30 seconds, and sends nothing meanwhile. */
const OPENS_MS = 45_000;

/** A turn as it is sent: the same body under the same key does nothing twice. */
export type Attempt = Readonly<{ body: Readonly<Record<string, unknown>>; key: string }>;

/** What is told of a turn while it runs. */
export interface TurnView {
  onEvent(event: string, data: unknown): void;
  /** The connection is gone; the answer has gone quiet; it is back; it was sent again; it begins anew. */
  onLost(): void;
  onQuiet(): void;
  onBack(): void;
  onAgain(): void;
}

/**
 * Runs a turn to its answer and tells `view` what comes. Where the connection is lost on the way, or has gone quiet, the same body goes out
 * again under the same key as soon as the server is back: it runs once, and is answered from what is kept where it has run. One that has
 * gone quiet is listened to still, as it may be the network alone that held it up. Resolves to the answer; null where the guest has
 * stopped it. @throws Problem
 */
export function runTurn(attempt: Attempt, signal: AbortSignal, view: TurnView): Promise<Answer | null> {
  let run: TurnRun | undefined;
  const over = new Promise<Answer | null>((resolve, reject) => {
    run = new TurnRun(attempt, view, resolve, reject);
    signal.addEventListener("abort", () => resolve(null), { once: true });
    if (signal.aborted) resolve(null);
    else run.send();
  });
  return over.finally(() => run?.stop());
}

class TurnRun {
  #sent = 0;
  #over = false;
  /** Which request is listened to first; null while it is waited for the server. */
  #now: TurnStream | null = null;
  /** One before it that has gone quiet while the turn ran for it. */
  #quiet: TurnStream | null = null;
  /** Whose events are shown. */
  #shown: TurnStream | null = null;

  constructor(
    private readonly attempt: Attempt,
    private readonly view: TurnView,
    readonly onAnswer: (answer: Answer) => void,
    private readonly failed: (error: Problem) => void,
  ) {}

  send(): void {
    this.#sent += 1;
    this.#now = new TurnStream(this.attempt, this);
  }

  stop(): void {
    this.#over = true;
    this.#now?.stop();
    this.#quiet?.stop();
  }

  onEvent(stream: TurnStream, event: string, data: unknown): void {
    if (this.#shown !== stream) {
      // The turn runs for this one by now.
      this.#quiet?.stop();
      this.#quiet = null;
      if (this.#shown !== null) this.view.onAgain();
      this.#shown = stream;
    }
    this.view.onEvent(event, data);
  }

  /** It speaks again: what was sent since only waited for it. */
  onBytes(stream: TurnStream): void {
    if (stream !== this.#quiet) return;
    this.#now?.stop();
    this.#now = this.#quiet;
    this.#quiet = null;
    this.#sent = 1;
    this.view.onBack();
  }

  onQuiet(stream: TurnStream): void {
    if (stream !== this.#now) return;
    if (stream.open) {
      this.#quiet?.stop();
      this.#quiet = stream;
    } else stream.stop();
    void this.#again(brokeOff(), true);
  }

  onProblem(stream: TurnStream, error: Problem): void {
    if (stream === this.#quiet) this.#quiet = null;
    if (stream !== this.#now) return;
    // Another process of the server may still be at it.
    const busy = this.#sent > 1 && error.code === "SESSION_BUSY";
    if (busy || passes(error)) void this.#again(error, busy || error.code === "IDEMPOTENCY_IN_PROGRESS");
    else this.failed(error);
  }

  async #again(error: Problem, quiet: boolean): Promise<void> {
    this.#now = null;
    if (this.#sent > RESENDS) return this.failed(error);
    if (quiet) this.view.onQuiet();
    else this.view.onLost();
    await new Promise((resolve) => setTimeout(resolve, this.#sent === 1 ? FIRST_PAUSE_MS : PAUSE_MS));
    if (!this.#isOver()) await backAgain();
    if (this.#isOver()) return;
    if (!quiet) this.view.onBack();
    this.send();
  }

  /** Or one that was quiet has spoken. */
  #isOver(): boolean {
    return this.#over || this.#now !== null;
  }
}

const brokeOff = () => new Problem({ detail: "The connection broke off before the answer was complete.", code: "DISCONNECTED" });

/** One request for a turn, from when it is made. `run` is told what comes as it comes; after `stop` nothing any more. */
class TurnStream {
  readonly #abort = new AbortController();
  readonly #quiet: ReturnType<typeof quietWatch> = quietWatch(
    () => (isSigningIn() ? this.#quiet.heard() : this.run.onQuiet(this)),
    OPENS_MS,
  );
  /** The server has taken it: from here on it is this request that the turn runs for. */
  open = false;

  constructor(
    attempt: Attempt,
    private readonly run: TurnRun,
  ) {
    void this.#hear(attempt);
  }

  stop(): void {
    this.#quiet.end();
    this.#abort.abort();
  }

  async #hear(attempt: Attempt): Promise<void> {
    try {
      const answer = await this.#answer(attempt);
      if (!this.#abort.signal.aborted) this.run.onAnswer(answer);
    } catch (error) {
      if (!this.#abort.signal.aborted) this.run.onProblem(this, error instanceof Problem ? error : brokeOff());
    } finally {
      this.#quiet.end();
    }
  }

  async #answer({ body, key }: Attempt): Promise<Answer> {
    const { signal } = this.#abort;
    const headers = { "Idempotency-Key": key, Accept: "text/event-stream" };
    const response = await request("POST", "/v1/chat", { body, headers, signal });
    this.open = true;
    this.#quiet.heard(QUIET_MS);
    const onBytes = () => {
      if (signal.aborted) return;
      this.#quiet.heard();
      this.run.onBytes(this);
    };
    for await (const { event, data } of eventsIn(response, onBytes)) {
      if (signal.aborted) break;
      if (event === "error") throw new Problem(data as ProblemBody);
      if (event === "message") return data as Answer;
      this.run.onEvent(this, event, data);
    }
    throw brokeOff();
  }
}
