import { z } from "zod";
import type { ChatModel, ModelMessage } from "../agent.js";
import { AppError } from "../errors.js";
import { type ExtractionInput, type Extractor, type ProposedOperation, proposedOperationSchema } from "../long-term.js";
import type { Logger } from "../platform/logger.js";
import { type Category, CONCIERGE_CATEGORIES } from "./categories.js";
import {
  ANSWER_FORMAT,
  type AnsweredOperation,
  answeredOperationSchema,
  type KnownMemory,
  knownMemories,
  systemPrompt,
  userPrompt,
} from "./llm-prompt.js";
import { isInMessage, OwnVoice } from "./promotable/quote.js";
import { validUntil } from "./valid-until.js";

const MAX_OUTPUT_TOKENS = 2_000;
const MAX_OPERATIONS = 30;
/** The first try and one more. */
const TRIES = 2;

export interface LlmExtractorOptions {
  readonly categories?: readonly Category[];
  readonly logger?: Logger;
}

/**
 * Extraction by a model: one structured-output call for each user message. What comes back is `unknown` until it is parsed.
 * An answer that can't be read (cut, prose, wrong schema, empty) or of which nothing is usable (quotes that are not in the
 * message, targets that are not known) is asked for once more and is an error then, so that the write-back retries and in the
 * end shows the turn as failed. Of an answer that is usable in part, the valid operations are kept and the others are logged.
 */
export class LlmExtractor implements Extractor {
  readonly name: string;
  readonly #model: ChatModel;
  readonly #categories: readonly Category[];
  readonly #logger: Logger | undefined;

  constructor(model: ChatModel, options: LlmExtractorOptions = {}) {
    this.name = model.name;
    this.#model = model;
    this.#categories = options.categories ?? CONCIERGE_CATEGORIES;
    this.#logger = options.logger;
  }

  /** @throws EXTRACTION_FAILED, and what the model throws: MODEL_UNAVAILABLE, MODEL_TIMEOUT, ABORTED */
  async extract(input: ExtractionInput, { signal }: { readonly signal: AbortSignal }): Promise<readonly ProposedOperation[]> {
    const messages: ModelMessage[] = [
      { role: "system", content: systemPrompt(this.#categories) },
      { role: "user", content: userPrompt(input) },
    ];
    let problem: Problem = "empty";
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      const read = readAnswer(await this.#ask(messages, signal), input);
      if (typeof read !== "string") {
        if (read.rejected.length > 0) this.#report(input, read.rejected, read.operations.length);
        return read.operations;
      }
      problem = read;
      this.#logger?.warn({ message_id: input.message_id, problem, attempt }, "the extraction's answer can't be used");
      if (attempt === 1)
        messages.push({
          role: "user",
          content: `Your last answer could not be used (${HINTS[problem]}). Answer again, with the JSON alone.`,
        });
    }
    throw new AppError("EXTRACTION_FAILED", { detail: `The model's extraction can't be used: ${HINTS[problem]}.` });
  }

  async #ask(messages: readonly ModelMessage[], signal: AbortSignal): Promise<{ readonly text: string; readonly whole: boolean }> {
    let text = "";
    let whole = false;
    for await (const event of this.#model.stream({ messages, json: ANSWER_FORMAT, maxOutputTokens: MAX_OUTPUT_TOKENS }, { signal })) {
      if (event.type === "text") text += event.delta;
      if (event.type === "end") whole = event.reason !== "length";
    }
    if (signal.aborted) throw new AppError("ABORTED", { cause: signal.reason });
    return { text, whole };
  }

  #report(input: ExtractionInput, rejected: readonly string[], kept: number): void {
    this.#logger?.warn(
      { message_id: input.message_id, rejected: rejected.length, reasons: [...new Set(rejected)], kept },
      "part of an extraction was rejected",
    );
  }
}

type Problem = "empty" | "truncated" | "not_json" | "wrong_schema" | "nothing_usable";
const HINTS: Readonly<Record<Problem, string>> = {
  empty: "it was empty",
  truncated: "it was cut off",
  not_json: "it was not JSON",
  wrong_schema: "it did not follow the schema",
  nothing_usable: "no quote stands in the message word for word, or no target is known",
};

interface ReadAnswer {
  readonly operations: readonly ProposedOperation[];
  readonly rejected: readonly string[];
}

function readAnswer({ text, whole }: { readonly text: string; readonly whole: boolean }, input: ExtractionInput): ReadAnswer | Problem {
  if (text.trim() === "") return "empty";
  if (!whole) return "truncated";
  let json: unknown;
  try {
    json = JSON.parse(withoutFence(text));
  } catch {
    return "not_json";
  }
  const list = z.object({ operations: z.array(z.unknown()).max(MAX_OPERATIONS) }).safeParse(json);
  if (!list.success) return "wrong_schema";
  const known = knownMemories(input);
  const voice = new OwnVoice(input.text);
  const operations: ProposedOperation[] = [];
  const rejected: string[] = [];
  let unread = 0;
  for (const item of list.data.operations) {
    const answered = answeredOperationSchema.safeParse(item);
    if (!answered.success) {
      unread++;
      rejected.push("schema");
      continue;
    }
    const proposal = proposalOf(answered.data, input, known, voice);
    if (typeof proposal === "string") rejected.push(proposal);
    else operations.push(proposal);
  }
  if (operations.length === 0 && rejected.length > 0) return unread === rejected.length ? "wrong_schema" : "nothing_usable";
  return { operations, rejected };
}

/** Some endpoints wrap JSON in a Markdown fence, asked or not. */
function withoutFence(text: string): string {
  return /^\s*```(?:json)?\s*([\s\S]*?)\s*```\s*$/u.exec(text)?.[1] ?? text;
}

/** The operation in the port's words, or why it can't be one. */
function proposalOf(
  answered: AnsweredOperation,
  input: ExtractionInput,
  known: readonly KnownMemory[],
  voice: OwnVoice,
): ProposedOperation | string {
  // Words that are in the message but not the user's own are no slip of the model's: the guards refuse them, for good.
  if (!isInMessage(input.text, answered.quote)) return "quote";
  const quote = voice.locate(answered.quote) ?? { text: answered.quote, sentences: [] };
  const target = known.find(({ ref }) => ref === answered.target)?.id;
  if (answered.op !== "add" && target === undefined) return "target";
  const spoken = quote.sentences.map((sentence) => sentence.text).join(" ");
  const ends = validUntil(answered, spoken, input);
  const statement = {
    text: answered.text,
    category: answered.category,
    aspect: answered.aspect.slice(0, 64),
    type: answered.type,
    strength: answered.strength,
    subject: answered.subject === "" ? "self" : answered.subject,
    scope: answered.scope,
    valid_until: ends,
    confidence: Math.min(1, Math.max(0, answered.confidence)),
    explicit: answered.explicit,
    entities: answered.entities,
    tags: [],
  };
  const proposal =
    answered.op === "add"
      ? { op: "add", quote: quote.text, statement }
      : answered.op === "supersede"
        ? { op: "supersede", quote: quote.text, target_id: target, statement: answered.text.trim() === "" ? null : statement }
        : { op: answered.op, quote: quote.text, target_id: target };
  const parsed = proposedOperationSchema.safeParse(proposal);
  return parsed.success ? parsed.data : "schema";
}
