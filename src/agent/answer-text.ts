/**
 * Sorts a model's streamed text into thought and answer, so that what was streamed is the answer, no more and no less.
 *
 * While tools are on offer, the first `holdBackChars` of an iteration are held back, for `holdBackMs` at most: a short "Let me look …"
 * before a tool call becomes the thought of that iteration and is never streamed. Longer text, and that of a slow model, is streamed as
 * it comes; should tool calls follow it all the same, it stays part of the answer and is no thought, so that no word counts twice.
 */
export class AnswerText {
  readonly #emit: (delta: string) => Promise<void>;
  readonly #holdBackChars: number;
  readonly #holdBackMs: number;
  #answer = "";
  #held = "";
  #heldSince = 0;
  #flowing = false;

  constructor(options: {
    readonly emit: (delta: string) => Promise<void>;
    readonly holdBackChars: number;
    readonly holdBackMs: number;
  }) {
    this.#emit = options.emit;
    this.#holdBackChars = options.holdBackChars;
    this.#holdBackMs = options.holdBackMs;
  }

  /** All that was streamed so far. */
  get answer(): string {
    return this.#answer;
  }

  async push(delta: string, toolsOffered: boolean): Promise<void> {
    if (delta === "") return;
    if (this.#flowing) return this.#send(delta);
    if (this.#held === "") this.#heldSince = performance.now();
    this.#held += delta;
    const long = this.#held.length > this.#holdBackChars || performance.now() - this.#heldSince >= this.#holdBackMs;
    if (!toolsOffered || long) await this.#flush();
  }

  /** Ends an iteration that answered. */
  async endAnswer(): Promise<void> {
    await this.#flush();
    this.#flowing = false;
  }

  /** Ends an iteration that called tools; returns its thought, or undefined. */
  endThought(): string | undefined {
    const thought = this.#held.trim();
    this.#held = "";
    this.#flowing = false;
    return thought === "" ? undefined : thought;
  }

  async #flush(): Promise<void> {
    const text = this.#held;
    this.#held = "";
    if (text === "") return;
    this.#flowing = true;
    await this.#send(this.#answer === "" || this.#answer.endsWith("\n") ? text : `\n\n${text}`);
  }

  async #send(delta: string): Promise<void> {
    this.#answer += delta;
    await this.#emit(delta);
  }
}
