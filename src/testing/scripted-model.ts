import { AppError } from "../platform/errors.js";
import type { ChatModel, ModelEvent, ModelRequest, ModelToolCall } from "../ports/agent.js";

/** One model call that the test expects, and what the model answers. */
export interface ScriptedStep {
  /** Looks at the request; throws when it is not the expected one. */
  readonly expect?: (request: ModelRequest) => void;
  readonly text?: string | readonly string[];
  readonly calls?: readonly { readonly id?: string; readonly name: string; readonly arguments: unknown }[];
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number };
  readonly reason?: "stop" | "tool_calls" | "length";
  /** Thrown after the text. */
  readonly fail?: Error;
  /** Ends after the text without an `end`. */
  readonly cut?: boolean;
  /** Never answers; ends with the signal. */
  readonly hang?: boolean;
  /** Never answers and pays no heed to the signal. */
  readonly stuck?: boolean;
  /** Awaited before the answer. */
  readonly gate?: Promise<void>;
}

/** A strict double: throws on a call that the test did not expect; {@link assertDone} throws on a step that was never used. */
export class ScriptedModel implements ChatModel {
  readonly name: string;
  readonly standIn: boolean;
  readonly requests: ModelRequest[] = [];
  readonly #steps: ScriptedStep[];
  #problem: Error | undefined;

  constructor(steps: readonly ScriptedStep[], options: { readonly name?: string; readonly standIn?: boolean } = {}) {
    this.name = options.name ?? "scripted";
    this.standIn = options.standIn ?? false;
    this.#steps = [...steps];
  }

  async *stream(request: ModelRequest, options: { readonly signal: AbortSignal }): AsyncGenerator<ModelEvent, void, undefined> {
    this.requests.push({ ...request, messages: [...request.messages] });
    const step = this.#steps.shift();
    if (step === undefined)
      throw this.#fault(new Error(`The model was called ${this.requests.length} times, which the test did not expect.`));
    try {
      step.expect?.(request);
    } catch (error) {
      throw this.#fault(error instanceof Error ? error : new Error(String(error)));
    }
    if (step.stuck) await new Promise(() => {});
    if (step.hang)
      await new Promise((_, reject) => {
        options.signal.addEventListener("abort", () => reject(new AppError("ABORTED")), { once: true });
      });
    await step.gate;
    for (const delta of typeof step.text === "string" ? [step.text] : (step.text ?? [])) yield { type: "text", delta };
    if (step.fail) throw step.fail;
    if (step.cut) return;
    const calls: ModelToolCall[] = (step.calls ?? []).map((call, index) => ({
      id: call.id ?? `call_${this.requests.length}_${index}`,
      name: call.name,
      arguments: typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments),
    }));
    for (const call of calls) yield { type: "tool_call", call };
    yield {
      type: "end",
      reason: step.reason ?? (calls.length > 0 ? "tool_calls" : "stop"),
      usage: step.usage ?? { input_tokens: 0, output_tokens: 0 },
    };
  }

  /** To be called at the end of a test. @throws when a step was not used, or a call was not as expected */
  assertDone(): void {
    if (this.#problem) throw this.#problem;
    if (this.#steps.length > 0) throw new Error(`${this.#steps.length} steps of the scripted model were never used.`);
  }

  #fault(error: Error): Error {
    this.#problem ??= error;
    return error;
  }
}
