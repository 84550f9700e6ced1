import { AppError } from "../../src/platform/errors.js";
import type { ChatModel, ModelEvent, ModelRequest } from "../../src/ports/chat-model.js";

/**
 * A model that a test steers by what the guest says. `slowly …`: half an answer, and the rest when it is let go on. `fail …`: fails the
 * first time that this is said; `breaks …`: fails in the middle of the answer then. `long …`: an answer of many paragraphs. Anything else is said back.
 */
export class SteeredModel implements ChatModel {
  readonly name = "steered";
  readonly standIn = false;
  readonly #failed = new Set<string>();
  #letGo: () => void = () => {};
  #held: Promise<void> = this.#hold();

  /** Lets what waits go on; what is said slowly after that waits anew. */
  goOn(): void {
    this.#letGo();
    this.#held = this.#hold();
  }

  #hold(): Promise<void> {
    return new Promise((resolve) => {
      this.#letGo = resolve;
    });
  }

  async *stream(request: ModelRequest, { signal }: { readonly signal: AbortSignal }): AsyncGenerator<ModelEvent, void, undefined> {
    if (request.task !== undefined && request.task !== "chat") {
      yield { type: "text", delta: "A talk" };
      yield { type: "end", reason: "stop", usage: { input_tokens: 1, output_tokens: 1 } };
      return;
    }
    const last = request.messages.at(-1);
    const said = last !== undefined && typeof last.content === "string" ? (last.content.split("\n").at(-1) ?? "") : "";
    if (said.startsWith("fail") && !this.#failed.has(said)) {
      this.#failed.add(said);
      throw new AppError("MODEL_UNAVAILABLE");
    }
    yield { type: "text", delta: `You said: ${said}.` };
    if (said.startsWith("long")) for (let n = 0; n < 40; n += 1) yield { type: "text", delta: `\n\nParagraph ${n}.` };
    // The beginning of an answer is held back until it is long enough to be one.
    if (/^(slowly|breaks)/.test(said)) yield { type: "text", delta: `\n\n${"Let me think about that. ".repeat(30)}` };
    if (said.startsWith("breaks") && !this.#failed.has(said)) {
      this.#failed.add(said);
      throw new AppError("MODEL_UNAVAILABLE");
    }
    if (said.startsWith("slowly")) {
      await Promise.race([
        this.#held,
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(new AppError("ABORTED")), { once: true });
        }),
      ]);
      yield { type: "text", delta: " And that is all." };
    }
    yield { type: "end", reason: "stop", usage: { input_tokens: 1, output_tokens: 1 } };
  }
}
