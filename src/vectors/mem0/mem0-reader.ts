import { join } from "node:path";
import { z } from "zod";
import { AsyncValue } from "../../platform/async-value.js";
import { AppError } from "../../platform/errors.js";
import { wordSegments } from "../../platform/language/word-segments.js";
import type { ChatModel } from "../../ports/agent.js";
import { type MessageReader, type MessageToRead, proposedOperationSchema, type Reading } from "../../ports/extraction.js";
import { loadMem0 } from "./mem0-client.js";

/** The vectors that Mem0 makes on the way are looked at by nobody. */
const DIMENSION = 2;
/** Mem0 says nothing of how sure it is. Just above the default gate. */
const CONFIDENCE = 0.7;

const captured = z.looseObject({ points: z.array(z.looseObject({ payload: z.looseObject({ data: z.string().min(1) }) })) });

const NOTHING = JSON.stringify({ memory: [] });

interface Capture {
  readonly texts: string[];
  readonly signal: AbortSignal;
  failure: unknown;
}

interface Extracting {
  add(text: string, options: { userId: string; infer: true }): Promise<unknown>;
}

/**
 * Reading by Mem0's own prompt (`MEM0_INFER=true`). Mem0 is given the user's own words alone, with a store that keeps
 * nothing: what it would have added becomes a proposal, which takes the way of all others (checks, rules, verified writes).
 * What lapses with it: categories, aspects, strength, subjects and dates, so that a changed mind stands beside the old one,
 * and nothing is told apart as a constraint; one long prompt (7,600 tokens) for every message.
 */
export class Mem0Reader implements MessageReader {
  readonly name: string;
  readonly #mem0: Extracting;
  readonly #captures: AsyncValue<Capture>;

  private constructor(name: string, mem0: Extracting, captures: AsyncValue<Capture>) {
    this.name = name;
    this.#mem0 = mem0;
    this.#captures = captures;
  }

  static async open(options: { readonly dir: string; readonly model: ChatModel }): Promise<Mem0Reader> {
    const { Memory, LLMFactory } = await loadMem0(join(options.dir, "mem0"));
    const captures = new AsyncValue<Capture>();
    // Mem0 takes models by the name of their vendor alone; ours is put in the place of the factory's answer, once.
    const create = LLMFactory.create;
    LLMFactory.create = () => modelFor(options.model, captures) as never;
    try {
      const mem0 = new Memory({
        disableHistory: true,
        embedder: { provider: "langchain", config: { model: noVectors } },
        llm: { provider: "openai", config: {} },
        vectorStore: { provider: "qdrant", config: { client: capturing(captures), collectionName: "proposals", dimension: DIMENSION } },
      });
      return new Mem0Reader(`mem0:${options.model.name}`, mem0, captures);
    } finally {
      LLMFactory.create = create;
    }
  }

  async read(message: MessageToRead, { signal }: { readonly signal: AbortSignal }): Promise<Reading> {
    const capture: Capture = { texts: [], signal, failure: null };
    const work = this.#captures.run(capture, () => this.#mem0.add(message.text, { userId: message.owner, infer: true }));
    await work.catch((error: unknown) => {
      capture.failure ??= error;
    });
    if (capture.failure !== null) throw capture.failure;
    const operations = capture.texts.flatMap((text) => {
      const quote = nearestSentence(message.text, text);
      return quote === null ? [] : [proposedOperationSchema.parse({ op: "add", quote, text, type: "fact", confidence: CONFIDENCE })];
    });
    return { operations, off_record: null, unreadable: capture.texts.length - operations.length };
  }
}

const sentences = new Intl.Segmenter("und", { granularity: "sentence" });

/** The user's sentence that shares most words with what Mem0 made of it. */
function nearestSentence(message: string, text: string): string | null {
  const wanted = new Set(wordsOf(text));
  let best: { quote: string; shared: number } | null = null;
  for (const { segment } of sentences.segment(message)) {
    const shared = wordsOf(segment).filter((word) => wanted.has(word)).length;
    if (shared > (best?.shared ?? 0)) best = { quote: segment.trim(), shared };
  }
  return best?.quote ?? null;
}

function wordsOf(text: string): string[] {
  return [...wordSegments(text)].flatMap(({ segment, isWordLike }) => (isWordLike ? [segment.normalize("NFKC").toLowerCase()] : []));
}

function modelFor(model: ChatModel, captures: AsyncValue<Capture>) {
  return {
    async generateResponse(messages: readonly { readonly role: string; readonly content: unknown }[]): Promise<string> {
      const capture = captures.get();
      if (capture === undefined) throw new AppError("INTERNAL", { detail: "Mem0 asked the model outside of an extraction." });
      try {
        const answer = await answerOf(model, messages, capture.signal);
        // Mem0 takes what it can't read for "nothing to remember"; that would lose it silently.
        if (answer.lastIndexOf("}") <= answer.indexOf("{"))
          throw new AppError("EXTRACTION_FAILED", { detail: "The model's extraction can't be read." });
        return answer;
      } catch (error) {
        // Thrown at `read`; Mem0 would print it.
        capture.failure = error;
        return NOTHING;
      }
    },
  };
}

async function answerOf(model: ChatModel, messages: readonly { role: string; content: unknown }[], signal: AbortSignal): Promise<string> {
  const said = (bySystem: boolean) =>
    messages.flatMap(({ role, content }) => ((role === "system") === bySystem ? [String(content)] : [])).join("\n\n");
  const request = {
    messages: [
      { role: "system" as const, content: said(true) },
      { role: "user" as const, content: said(false) },
    ],
    task: "extraction" as const,
  };
  let answer = "";
  for await (const event of model.stream(request, { signal })) if (event.type === "text") answer += event.delta;
  return answer;
}

const noVectors = {
  embedQuery: async () => new Array<number>(DIMENSION).fill(0),
  embedDocuments: async (texts: readonly string[]) => texts.map(() => new Array<number>(DIMENSION).fill(0)),
};

/** A store that is empty, and remembers what was to be put into the collection of proposals. */
function capturing(captures: AsyncValue<Capture>) {
  return {
    createCollection: async () => true,
    getCollection: async () => ({ config: { params: { vectors: { size: DIMENSION } } } }),
    createPayloadIndex: async () => true,
    search: async () => [],
    query: async () => ({ points: [] }),
    scroll: async () => ({ points: [] }),
    retrieve: async () => [],
    delete: async () => true,
    async upsert(collection: string, args: unknown) {
      if (collection === "proposals") captures.get()?.texts.push(...captured.parse(args).points.map(({ payload }) => payload.data));
      return true;
    },
  };
}
