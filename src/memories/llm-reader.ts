import { AppError, isAppError } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import { estimatedTokens } from "../platform/tokens.js";
import type { ChatModel, ModelRequest } from "../ports/agent.js";
import {
  type AlsoAsked,
  CALLS_A_MESSAGE,
  type MessageReader,
  type MessageToRead,
  type NeedsReading,
  type Reading,
} from "../ports/extraction.js";
import { QuotedMessage } from "./checks/locate-quote.js";
import { type Beside, earlierRefOf, idByRef, messageDocument } from "./message-document.js";
import { ANSWER_FORMAT, SHORT_FORMAT } from "./prompts/answer-format.js";
import { promptFor, type ReadDomain, shortPromptFor } from "./prompts/read-message-prompt.js";
import { alsoIn, needsReadingFrom, readingFrom, readingsFrom, type Unreadable } from "./reading-text.js";

/** How a message is asked to be read. */
interface Form {
  readonly prompt: string;
  readonly json: NonNullable<ModelRequest["json"]>;
  /** Tokens of its answer: `base`, so many more for each character of what is read, and `most` in all. */
  readonly output: { readonly base: number; readonly perChar: number; readonly most: number };
}

/** Statements of all fields, one for every few words. */
const OUTPUT = { base: 500, perChar: 6, most: 3_000 };
/** The same of few fields. */
const SHORT_OUTPUT = { base: 300, perChar: 3, most: 1_500 };
/** For each message that is read along. */
const MORE_OUTPUT_TOKENS = 500;
/** Of that an answer gets no less where the window is small: half of a form's output is read more often than not. */
const LEAST_OUTPUT = 0.5;
/** So many known memories are told where not all fit; the first are those that matter most. */
const ALL = Number.POSITIVE_INFINITY;
const FEWER_KNOWN = [ALL, 20, 10, 4, 0];
/** Names of roles, marks between messages: what an endpoint's template adds. */
const TEMPLATE_TOKENS = 32;

/** What was wrong with an answer that can't be read. */
const PROBLEMS: Readonly<Record<Unreadable, string>> = {
  empty: "it was empty",
  not_json: "it was not JSON",
  wrong_form: "it did not follow the schema",
};

export interface LlmReaderOptions extends ReadDomain {
  readonly logger?: Logger;
}

/**
 * Reads messages by a language model: one call for a message and those that are read along, structured output, as much of it as the
 * message can need and the model's window leaves. An answer that can't be read at all is asked for once more, in short, without the answer
 * that failed; of messages that were read together each is then asked for by itself. One that stays so fails the reading, and no further
 * call is made for it. Of an answer that can be read in part, the rest is counted.
 */
export class LlmReader implements MessageReader {
  readonly name: string;
  readonly #model: ChatModel;
  readonly #full: Form;
  readonly #short: Form;
  readonly #logger: Logger | undefined;

  constructor(model: ChatModel, options: LlmReaderOptions) {
    this.name = model.name;
    this.#model = model;
    this.#full = { prompt: promptFor(options), json: ANSWER_FORMAT, output: OUTPUT };
    this.#short = { prompt: shortPromptFor(options), json: SHORT_FORMAT, output: SHORT_OUTPUT };
    this.#logger = options.logger;
  }

  /** @throws EXTRACTION_FAILED, CONTEXT_TOO_LARGE, and what the model throws: MODEL_UNAVAILABLE, MODEL_TIMEOUT, ABORTED */
  async read(message: MessageToRead, { signal }: { readonly signal: AbortSignal }): Promise<Reading> {
    const said = { ...message, calls: message.calls ?? { left: CALLS_A_MESSAGE } };
    const isRepair = said.calls.left < CALLS_A_MESSAGE;
    const reading = await this.#asked([said], isRepair ? [this.#short] : [this.#full, this.#short], readingFrom, signal);
    if (typeof reading !== "string") return reading;
    if (said.calls.left === 0) throw failed(reading);
    this.#logger?.warn({ message_id: message.message_id, problem: reading }, "a reading can't be understood and is asked for once more");
    const repaired = await this.#asked([said], [this.#short], readingFrom, signal);
    if (typeof repaired === "string") throw failed(repaired);
    return repaired;
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
    const places = messages.map(({ text }, place) => {
      const quoted = new QuotedMessage(text);
      return {
        ref: place < earlier.length ? earlierRefOf(place) : "",
        holds: (quote: string) => quoted.locate(quote) !== null,
      };
    });
    const most = OUTPUT.most + earlier.length * MORE_OUTPUT_TOKENS;
    const form = { ...this.#full, output: { ...OUTPUT, most } };
    const readings = await this.#asked(messages, [form], (answer, idOf) => readingsFrom(answer, idOf, places), signal);
    if (typeof readings === "string") throw failed(readings);
    return readings;
  }

  /** By one call, and no other where its answer can't be read; by none where the first reading took two. @throws as {@link read} */
  async readNeeds(message: MessageToRead, needs: readonly string[], { signal }: { readonly signal: AbortSignal }): Promise<NeedsReading> {
    if ((message.calls?.left ?? CALLS_A_MESSAGE) < CALLS_A_MESSAGE) throw new AppError("EXTRACTION_FAILED", { detail: "It was repaired." });
    const { also: _, ...again } = message;
    const reading = await this.#asked([again], [this.#full], needsReadingFrom, signal, needs);
    if (typeof reading === "string") throw failed(reading);
    return reading;
  }

  /**
   * One answer, in the first of the forms that fits the model's window, as far as it is known: a refusal may tell it.
   * @throws EXTRACTION_FAILED where no call is left, CONTEXT_TOO_LARGE where no form fits
   */
  async #asked<T>(
    messages: readonly MessageToRead[],
    forms: readonly Form[],
    parse: (answer: string, idOf: (ref: string) => string | undefined) => T,
    signal: AbortSignal,
    again: readonly string[] = [],
  ): Promise<T> {
    const also = messages.at(-1)?.also;
    const budgets = messages.flatMap(({ calls }) => calls ?? []);
    if (budgets.some(({ left }) => left <= 0)) throw new AppError("EXTRACTION_FAILED", { detail: "It was read in vain before." });
    const count = async () => {
      for (const calls of budgets) {
        calls.left -= 1;
        await calls.keep?.(calls.left);
      }
    };
    let left = forms;
    for (;;) {
      const fitted = this.#fitted(messages, left, again);
      try {
        const answer = await this.#answer(fitted.request, signal);
        const read = parse(answer, fitted.idOf);
        if (typeof read === "string") await count();
        else for (const each of fitted.also) if (alsoIn(answer)[each.task] !== "") also?.answered(each, alsoIn(answer)[each.task]);
        return read;
      } catch (error) {
        if (isAppError(error, "MODEL_CONTENT_FILTER")) await count();
        if (!isAppError(error, "CONTEXT_TOO_LARGE")) throw error;
        left = left.slice(left.indexOf(fitted.form) + (this.#fits(fitted.request) ? 1 : 0));
        if (left.length === 0) throw error;
      }
    }
  }

  async #answer(request: ModelRequest, signal: AbortSignal): Promise<string> {
    let text = "";
    for await (const event of this.#model.stream(request, { signal })) if (event.type === "text") text += event.delta;
    if (signal.aborted) throw new AppError("ABORTED", { cause: signal.reason });
    return text;
  }

  /** With what is due beside it where all fits, and with as many known memories as do. @throws CONTEXT_TOO_LARGE */
  #fitted(messages: readonly MessageToRead[], forms: readonly Form[], again: readonly string[]) {
    const chars = messages.reduce((sum, { text }) => sum + text.length, 0);
    const due = messages.at(-1)?.also?.asked ?? [];
    for (const form of forms)
      for (const [also, limit] of [...(form === forms[0] && due.length > 0 ? [[due, ALL] as const] : []), ...FEWER_KNOWN.map(withNone)]) {
        if (also.length > 0 && form.json === SHORT_FORMAT) continue;
        const said = messages.map((message) => ({ ...message, known: message.known.slice(0, limit) }));
        const newest = said.at(-1);
        if (newest === undefined) continue;
        const beside: Beside = { earlier: said.slice(0, -1), again, also };
        const document = messageDocument(newest, beside);
        const { base, perChar, most } = form.output;
        const forAlso = also.reduce((sum, each) => sum + each.maxOutputTokens, 0);
        const wanted = Math.min(most, Math.round(base + perChar * chars)) + forAlso;
        const maxOutputTokens = Math.min(wanted, this.#window - inputTokens(form, document));
        if (maxOutputTokens < wanted * LEAST_OUTPUT) continue;
        return { form, also, request: requestOf(form, document, maxOutputTokens), idOf: idByRef(newest) };
      }
    throw new AppError("CONTEXT_TOO_LARGE", {
      detail: `The model reads ${this.#window} tokens: too few for a message and how to read it.`,
    });
  }

  /** Whether it was meant to: what is refused all the same is refused for what nobody told. */
  #fits({ messages: [prompt, document], json, maxOutputTokens = 0 }: ModelRequest): boolean {
    const input = json === undefined ? 0 : inputTokens({ prompt: prompt?.content ?? "", json }, document?.content ?? "");
    return input + maxOutputTokens <= this.#window;
  }

  get #window(): number {
    return this.#model.measured?.().contextTokens ?? Number.POSITIVE_INFINITY;
  }
}

function withNone(limit: number): readonly [readonly AlsoAsked[], number] {
  return [[], limit];
}

function failed(problem: Unreadable): AppError {
  return new AppError("EXTRACTION_FAILED", { detail: `The model's answer: ${PROBLEMS[problem]}.` });
}

/** From above: where an endpoint has no JSON mode, the schema stands in the prompt. */
function inputTokens({ prompt, json }: Pick<Form, "prompt" | "json">, document: string): number {
  return estimatedTokens.count(`${prompt}${document}${JSON.stringify(json.schema)}`) + TEMPLATE_TOKENS;
}

function requestOf({ prompt, json }: Form, document: string, maxOutputTokens: number): ModelRequest {
  return {
    messages: [
      { role: "system", content: prompt },
      { role: "user", content: document },
    ],
    json,
    maxOutputTokens,
    task: "extraction",
  };
}
