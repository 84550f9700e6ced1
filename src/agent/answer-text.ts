import { AppError } from "../platform/errors.js";
import type { FinishReason } from "../ports/chat-model.js";

/**
 * Sorts a model's streamed text into thought and answer, so that what was streamed is the answer, no more and no less; what the model's
 * adapter takes back is told as taken back.
 *
 * While tools are on offer, the first `holdBackChars` of an iteration are held back, for `holdBackMs` at most: a short "Let me look …"
 * before a tool call becomes the thought of that iteration and is never streamed. Longer text, and that of a slow model, is streamed as
 * it comes; should tool calls follow it all the same, it stays part of the answer and is no thought, so that no word counts twice.
 */
export class AnswerText {
  readonly #emit: (delta: string) => Promise<void>;
  readonly #onRetracted: (content: string) => Promise<void>;
  readonly #holdBackChars: number;
  readonly #holdBackMs: number;
  #answer = "";
  #held = "";
  #heldSince = 0;
  #flowing = false;
  /** What was answered before the present iteration. */
  #before = "";

  constructor(options: {
    readonly emit: (delta: string) => Promise<void>;
    /** Told what is left of the answer where some of what was streamed is taken back. */
    readonly onRetracted: (content: string) => Promise<void>;
    readonly holdBackChars: number;
    readonly holdBackMs: number;
  }) {
    this.#emit = options.emit;
    this.#onRetracted = options.onRetracted;
    this.#holdBackChars = options.holdBackChars;
    this.#holdBackMs = options.holdBackMs;
  }

  /** All that was streamed so far and not taken back. */
  get answer(): string {
    return this.#answer;
  }

  /** True while nothing but blanks has come, streamed or held back. */
  get blank(): boolean {
    return `${this.#answer}${this.#held}`.trim() === "";
  }

  async push(delta: string, toolsOffered: boolean): Promise<void> {
    if (delta === "") return;
    if (this.#flowing) return this.#send(delta);
    if (this.#held === "") this.#heldSince = performance.now();
    this.#held += delta;
    const long = this.#held.length > this.#holdBackChars || performance.now() - this.#heldSince >= this.#holdBackMs;
    if (!toolsOffered || long) await this.#flush();
  }

  /** Takes back all text of the present iteration. */
  async retract(): Promise<void> {
    this.#held = "";
    if (!this.#flowing) return;
    this.#flowing = false;
    this.#answer = this.#before;
    await this.#onRetracted(this.#answer);
  }

  /** Ends an iteration that answered. */
  async endAnswer(): Promise<void> {
    await this.#flush();
    this.#endIteration();
  }

  /** Ends an iteration that called tools; returns its thought, or undefined. */
  endThought(): string | undefined {
    const thought = this.#held.trim();
    this.#held = "";
    this.#endIteration();
    return thought === "" ? undefined : thought;
  }

  #endIteration(): void {
    this.#flowing = false;
    this.#before = this.#answer;
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

/** Why a turn has no answer. */

/** The model ended without a word. */
export function emptyAnswer(finish: FinishReason): AppError {
  if (finish === "content_filter") return new AppError("MODEL_CONTENT_FILTER");
  const detail = finish === "length" ? "The model reached its limit before it answered." : "The model gave an empty answer.";
  return new AppError("MODEL_UNAVAILABLE", { detail });
}

/** It was told to call no tool any more, and called one all the same. */
export function neverAnswered(calls: number): AppError {
  return new AppError("MODEL_UNAVAILABLE", {
    detail: `The model called tools without end: ${calls} ${calls === 1 ? "call" : "calls"}, and no answer.`,
    hint: "Your message is kept. Ask for a part of it; if that ends so too, use a model that heeds `tool_choice: none`.",
  });
}
