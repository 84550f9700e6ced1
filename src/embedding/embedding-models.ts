/** What is known of an embedding model by its name. */
interface EmbeddingModelFacts {
  /** Put before a text that is searched by, as the model was trained; often empty. */
  readonly queryPrefix: string;
  /** Put before a text that is to be found. */
  readonly documentPrefix: string;
  /** Tokens of one text. What is longer is cut before it is sent. */
  readonly maxTokens: number;
  /** Whether OpenAI's own tokenizer counts them; else they are estimated from above. */
  readonly openaiTokens: boolean;
}

const INSTRUCTION = "Instruct: Given a message of a conversation, retrieve what was said or is remembered that bears on it\nQuery: ";
const UNKNOWN: EmbeddingModelFacts = { queryPrefix: "", documentPrefix: "", maxTokens: 8_000, openaiTokens: false };

/** The first that fits the model's name. Prefixes are those of the models' own cards. */
const FAMILIES: readonly (readonly [RegExp, Partial<EmbeddingModelFacts>])[] = [
  [/text-embedding-(3|ada)/i, { maxTokens: 8_191, openaiTokens: true }],
  [/text-embedding-00|gemini-embedding|text-multilingual-embedding/i, { maxTokens: 2_048 }],
  [/nomic-embed-text/i, { queryPrefix: "search_query: ", documentPrefix: "search_document: " }],
  [/\be5-(?:mistral-7b-|large-|base-|small-)?instruct/i, { queryPrefix: INSTRUCTION }],
  [/(^|[^a-z0-9])e5([^a-z0-9]|$)/i, { queryPrefix: "query: ", documentPrefix: "passage: ", maxTokens: 512 }],
];

export function embeddingModelFacts(model: string): EmbeddingModelFacts {
  return { ...UNKNOWN, ...FAMILIES.find(([name]) => name.test(model))?.[1] };
}
