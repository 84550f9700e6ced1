import { AppError } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import type { ChatModel, ModelMessage, ModelRequest } from "../ports/agent.js";
import type { MessageReader, MessageToRead, NeedsReading, Reading } from "../ports/extraction.js";
import { QuotedMessage } from "./checks/locate-quote.js";
import { earlierRefOf, idByRef, messageDocument } from "./message-document.js";
import { ANSWER_FORMAT, NEEDS_FORMAT, TOGETHER_FORMAT } from "./prompts/answer-format.js";
import { promptFor, type ReadDomain } from "./prompts/prompt-for-domain.js";
import { readNeedsPrompt } from "./prompts/read-needs-prompt.js";
import { READ_TOGETHER_PROMPT } from "./prompts/read-together-prompt.js";
import { needsReadingFrom, readingFrom, readingsFrom, type Unreadable } from "./reading-text.js";

const MAX_OUTPUT_TOKENS = 3_000;
/** For each message that is read along. */
const MORE_OUTPUT_TOKENS = 500;

/** What is said to the model about an answer that can't be read. */
const REPAIR: Readonly<Record<Unreadable, string>> = {
  empty: "it was empty",
  not_json: "it was not JSON",
  wrong_form: "it did not follow the schema",
};

export interface LlmReaderOptions extends ReadDomain {
  readonly logger?: Logger;
}

/**
 * Reads messages by a language model: one call for a message and those that are read along, structured output. An answer that can't be
 * read at all is asked for once more; one that stays so fails the reading, to be tried again, lest what was said is lost. Of an answer
 * that can be read in part, the rest is counted.
 */
export class LlmReader implements MessageReader {
  readonly name: string;
  readonly #model: ChatModel;
  readonly #prompt: string;
  readonly #logger: Logger | undefined;

  constructor(model: ChatModel, options: LlmReaderOptions) {
    this.name = model.name;
    this.#model = model;
    this.#prompt = promptFor(options);
    this.#logger = options.logger;
  }

  /** @throws EXTRACTION_FAILED, and what the model throws: MODEL_UNAVAILABLE, MODEL_TIMEOUT, ABORTED */
  async read(message: MessageToRead, { signal }: { readonly signal: AbortSignal }): Promise<Reading> {
    const idOf = idByRef(message);
    const request = requestOf(this.#prompt, messageDocument(message), ANSWER_FORMAT);
    return this.#reading(request, message.message_id, (answer) => readingFrom(answer, idOf), signal);
  }

  /** @throws as {@link read} */
  async readTogether(
    messages: readonly MessageToRead[],
    { signal }: { readonly signal: AbortSignal },
  ): Promise<readonly (Reading | null)[]> {
    const newest = messages.at(-1);
    const earlier = messages.slice(0, -1);
    if (newest === undefined) return [];
    if (earlier.length === 0) return [await this.read(newest, { signal })];
    const idOf = idByRef(newest);
    const places = messages.map(({ text }, place) => {
      const quoted = new QuotedMessage(text);
      return {
        ref: place < earlier.length ? earlierRefOf(place) : "",
        holds: (quote: string) => quoted.locate(quote) !== null,
      };
    });
    const request = {
      ...requestOf(`${this.#prompt}${READ_TOGETHER_PROMPT}`, messageDocument(newest, earlier), TOGETHER_FORMAT),
      maxOutputTokens: MAX_OUTPUT_TOKENS + earlier.length * MORE_OUTPUT_TOKENS,
    };
    return this.#reading(request, newest.message_id, (answer) => readingsFrom(answer, idOf, places), signal);
  }

  /** By one call, and no other where its answer can't be read. @throws as {@link read} */
  async readNeeds(message: MessageToRead, needs: readonly string[], { signal }: { readonly signal: AbortSignal }): Promise<NeedsReading> {
    const request = requestOf(`${this.#prompt}${readNeedsPrompt(needs)}`, messageDocument(message), NEEDS_FORMAT);
    const reading = needsReadingFrom(await this.#ask(request, signal), idByRef(message));
    if (typeof reading === "string") throw new AppError("EXTRACTION_FAILED", { detail: `The model's answer: ${REPAIR[reading]}.` });
    return reading;
  }

  /** @throws EXTRACTION_FAILED for what stays unreadable */
  async #reading<T extends object>(
    request: ReadRequest,
    messageId: string,
    parse: (answer: string) => T | Unreadable,
    signal: AbortSignal,
  ): Promise<T> {
    const first = await this.#ask(request, signal);
    const reading = parse(first);
    if (typeof reading !== "string") return reading;
    this.#logger?.warn({ message_id: messageId, problem: reading }, "a reading can't be understood and is asked for once more");
    const again = { ...request, messages: [...request.messages, ...repairOf(first, reading)] };
    const repaired = parse(await this.#ask(again, signal));
    if (typeof repaired === "string") throw new AppError("EXTRACTION_FAILED", { detail: `The model's answer: ${REPAIR[repaired]}.` });
    return repaired;
  }

  async #ask(request: ReadRequest, signal: AbortSignal): Promise<string> {
    let text = "";
    for await (const event of this.#model.stream(request, { signal })) if (event.type === "text") text += event.delta;
    if (signal.aborted) throw new AppError("ABORTED", { cause: signal.reason });
    return text;
  }
}

type ReadRequest = ModelRequest & { readonly json: NonNullable<ModelRequest["json"]> };

function requestOf(prompt: string, document: string, json: ReadRequest["json"]): ReadRequest {
  const messages: readonly ModelMessage[] = [
    { role: "system", content: prompt },
    { role: "user", content: document },
  ];
  return { messages, json, maxOutputTokens: MAX_OUTPUT_TOKENS, task: "extraction" };
}

const MAX_REPEATED_CHARS = 8_000;

function repairOf(answer: string, problem: Unreadable): readonly ModelMessage[] {
  const request: ModelMessage = {
    role: "user",
    content: `Your last answer could not be used (${REPAIR[problem]}). Answer again, with the JSON alone.`,
  };
  return answer.trim() === "" ? [request] : [{ role: "assistant", content: answer.slice(0, MAX_REPEATED_CHARS) }, request];
}
