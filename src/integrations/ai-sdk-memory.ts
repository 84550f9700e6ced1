import type { GivenMessage } from "../domain/given-messages.js";
import { knownOptions } from "../library/library.js";
import { invalidField } from "../platform/errors.js";
import { BESIDE_THE_MESSAGES, type Conversation, conversationOf, OF_A_THREAD, type OfThread } from "./of-user.js";

/** Whose memory a model has, and of which conversation. */
export interface WithMemoryOptions extends OfThread {
  /** Of what is known, 100 to 100,000. Default 2,000. */
  readonly maxTokens?: number;
}

/** What is used of a language model of the AI SDK (specification v2 or v3). */
export interface RememberingModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: unknown;
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<unknown>;
}

interface Part {
  readonly type: string;
  readonly text?: string;
  /** Of a tool's call: the model goes on by itself. */
  readonly providerExecuted?: boolean;
}
interface PromptMessage {
  readonly role: string;
  readonly content: string | readonly Part[];
}
interface Call {
  readonly prompt: readonly PromptMessage[];
  readonly abortSignal?: AbortSignal;
}
interface Generated {
  readonly content: readonly Part[];
}
interface StreamPart extends Part {
  readonly delta?: string;
}
interface Streamed {
  readonly stream: ReadableStream<StreamPart>;
}

const CHANNEL = "ai-sdk";
/** As much as is read of what a user says, and kept of an answer, in UTF-16 units. */
const MAX_USER_UNITS = 8_000;
const MAX_ANSWER_UNITS = 64_000;

/**
 * A language model of the AI SDK that remembers: `generateText({ model: withMemory(model, { user: ada, thread: "t1" }), prompt })`. What is
 * known of the user goes before their newest message, marked as data: where the call holds that message alone, also the thread so far;
 * where it holds a conversation, what that can't tell. The user's message and the answer are added to the thread once the answer is there,
 * a stream's when it ends: once for all steps of a loop of tools, whose calls and results are not kept. What is aborted or fails keeps the
 * user's message. A memory that fails never fails the call: that goes on without, and Maitred's logger is told.
 * @throws INVALID_REQUEST where user, thread or model is missing, UNKNOWN_FIELD for another option, INVALID_SESSION_ID, SHUTTING_DOWN
 */
export function withMemory<Model extends RememberingModel>(model: Model, options: WithMemoryOptions): Model {
  requireModel(model);
  const { maxTokens, ...of } = knownOptions<WithMemoryOptions>(options, { ...OF_A_THREAD, maxTokens: true });
  const memory: ThreadMemory = { conversation: conversationOf(of, CHANNEL), maxTokens, kept: new WeakSet(), told: { of: "", text: "" } };
  const remembering: RememberingModel = {
    specificationVersion: model.specificationVersion,
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: async (call: Call) => {
      const step = new RememberedStep(memory, call);
      return step.during(async (known) => {
        const generated = (await model.doGenerate(known as never)) as Generated;
        await step.end(generated.content);
        return generated;
      });
    },
    doStream: async (call: Call) => {
      const step = new RememberedStep(memory, call);
      return step.during(async (known) => {
        const streamed = (await model.doStream(known as never)) as Streamed;
        return { ...streamed, stream: step.watched(streamed.stream) };
      });
    },
  };
  return remembering as Model;
}

function requireModel(model: unknown): void {
  const { doGenerate, doStream }: Partial<RememberingModel> = typeof model === "object" && model !== null ? model : {};
  if (typeof doGenerate === "function" && typeof doStream === "function") return;
  const hint = 'Give what a provider makes, such as `openai("gpt-5")`; the name of a model alone is none.';
  throw invalidField("/model", "not a language model of the AI SDK", hint);
}

/** What the calls of one model share. */
interface ThreadMemory {
  readonly conversation: Conversation;
  readonly maxTokens: number | undefined;
  /** User's messages that are kept already: a call that is tried again has the same. */
  readonly kept: WeakSet<object>;
  /** What the newest turn was told: its later steps are told the same. */
  told: { readonly of: string; readonly text: string };
}

/** One call of the model: a turn, or a step of one that calls tools. */
class RememberedStep {
  readonly #memory: ThreadMemory;
  readonly #call: Call;
  /** Of the newest user's message; -1 where there is none. */
  readonly #at: number;
  readonly #asked: string;
  /** Tools were called since: the user's message was kept with an earlier step. */
  readonly #goesOn: boolean;
  #ended = false;

  constructor(memory: ThreadMemory, call: Call) {
    const { prompt, abortSignal } = call;
    this.#memory = memory;
    this.#call = call;
    this.#at = prompt.findLastIndex(({ role }) => role === "user");
    this.#asked = textOf(prompt[this.#at]?.content ?? "").slice(0, MAX_USER_UNITS);
    this.#goesOn = prompt.slice(this.#at + 1).some(({ role }) => role === "tool");
    abortSignal?.addEventListener("abort", this.#broken, { once: true });
  }

  /** The call with what is known; where it fails the user's message is kept. */
  async during<T>(ask: (known: Call) => Promise<T>): Promise<T> {
    try {
      return await ask(await this.#withKnown());
    } catch (error) {
      await this.#keep("");
      throw error;
    }
  }

  /** With an answer, unless the model goes on with a tool. */
  async end(content: readonly Part[]): Promise<void> {
    const calls = content.some(({ type, providerExecuted }) => type === "tool-call" && providerExecuted !== true);
    await this.#keep(calls ? "" : textOf(content));
  }

  /** The stream as it is; it ends when what was said is kept. */
  watched(stream: ReadableStream<StreamPart>): ReadableStream<StreamPart> {
    const reader = stream.getReader();
    const said: Part[] = [];
    let failed = false;
    return new ReadableStream<StreamPart>({
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read();
          if (done) {
            await (failed ? this.#keep("") : this.end(said));
            controller.close();
            return;
          }
          if (value.type === "text-delta") said.push({ type: "text", text: value.delta ?? "" });
          else if (value.type === "tool-call") said.push(value);
          else if (value.type === "error") failed = true;
          controller.enqueue(value);
        } catch (error) {
          await this.#keep("");
          controller.error(error);
        }
      },
      cancel: async (reason) => {
        await this.#keep("");
        await reader.cancel(reason);
      },
    });
  }

  readonly #broken = (): void => void this.#keep("");

  async #withKnown(): Promise<Call> {
    const text = await this.#known();
    const message = this.#call.prompt[this.#at];
    if (text === "" || message === undefined) return this.#call;
    const own = typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
    const told = { ...message, content: [{ type: "text", text }, ...own] };
    return { ...this.#call, prompt: this.#call.prompt.with(this.#at, told) };
  }

  async #known(): Promise<string> {
    const { conversation, maxTokens, told } = this.#memory;
    const { prompt, abortSignal: signal } = this.#call;
    const of = JSON.stringify([this.#at, this.#asked]);
    if (this.#goesOn && told.of === of) return told.text;
    const include = prompt.slice(0, this.#at).some(({ role }) => role !== "system") ? { include: BESIDE_THE_MESSAGES } : {};
    const options = { ...conversation.name, ...include, ...(maxTokens !== undefined && { maxTokens }), ...(signal && { signal }) };
    try {
      const { text } = await conversation.user.context(this.#asked.trim() === "" ? undefined : this.#asked, options);
      this.#memory.told = { of, text };
      return text;
    } catch (error) {
      conversation.logger.warn({ err: error }, "the model is asked without what is known of the user");
      return "";
    }
  }

  async #keep(answer: string): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    this.#call.abortSignal?.removeEventListener("abort", this.#broken);
    const { conversation, kept } = this.#memory;
    const message = this.#call.prompt[this.#at];
    if (message === undefined) return;
    const messages: GivenMessage[] = [];
    if (!this.#goesOn && !kept.has(message) && this.#asked.trim() !== "") messages.push({ role: "user", content: this.#asked });
    if (answer.trim() !== "") messages.push({ role: "assistant", content: answer.slice(0, MAX_ANSWER_UNITS) });
    if (messages.length === 0) return;
    kept.add(message);
    try {
      await conversation.user.add(messages, conversation.name);
    } catch (error) {
      conversation.logger.warn({ err: error }, "what was said with the model is not kept");
    }
  }
}

function textOf(content: string | readonly Part[]): string {
  if (typeof content === "string") return content;
  return content.map(({ type, text = "" }) => (type === "text" ? text : "")).join("");
}
