import { hash } from "node:crypto";
import type * as O200k from "gpt-tokenizer/encoding/o200k_base";
import { LRUCache } from "lru-cache";
import { type Logger, silentLogger } from "./logger.js";
import { missingPackage } from "./optional-package.js";

/** Counts the tokens of a text as a model would. */
export interface TokenCounter {
  /** The tokenizer's name, or "estimate". */
  readonly name: string;
  count(text: string): number;
}

/**
 * Where no tokenizer is known for a model: one token for three UTF-8 bytes, rounded up.
 * That is above what current tokenizers need for European languages, and near it for Chinese or Japanese.
 */
export const estimatedTokens: TokenCounter = {
  name: "estimate",
  count: (text) => Math.ceil(Buffer.byteLength(text) / 3),
};

const CL100K = /^(gpt-3\.5|gpt-4(-|$)|text-embedding-)/;
const O200K = /^(gpt-4o|gpt-4\.\d|gpt-5|chatgpt-|o\d)/;

/**
 * The tokenizer of an OpenAI model by its name; {@link estimatedTokens} for any other, and where the optional peer isn't installed, which
 * is logged. Loads its table once, at start.
 */
export async function tokenCounterFor(model: string, logger: Logger = silentLogger): Promise<TokenCounter> {
  try {
    if (O200K.test(model)) return fromLibrary("o200k_base", await import("gpt-tokenizer/encoding/o200k_base"));
    if (CL100K.test(model)) return fromLibrary("cl100k_base", await import("gpt-tokenizer/encoding/cl100k_base"));
  } catch (cause) {
    const { message, hint } = missingPackage({ name: "gpt-tokenizer", setting: `An exact count of the tokens of ${model}` }, cause);
    logger.info({ model }, `${message} ${hint} Until then they are estimated, from above.`);
  }
  return estimatedTokens;
}

/** The library's time grows with the square of a run of one character: texts are counted piece by piece, with a token too many for each. */
const PIECE = 1_024;

/** Texts of which the count is remembered, by their hash: a window is the same texts turn after turn. */
const COUNTED_TEXTS = 20_000;
/** What is shorter is counted as quickly as it is looked up. */
const SHORT_CHARS = 12;

function fromLibrary(name: string, library: Pick<typeof O200k, "countTokens">): TokenCounter {
  const countPiece = (text: string) => library.countTokens(text, { allowedSpecial: new Set(), disallowedSpecial: new Set() });
  const counted = new LRUCache<string, number>({ max: COUNTED_TEXTS });
  const count = (text: string) => {
    let tokens = 0;
    for (let at = 0; at < text.length; at += PIECE) tokens += countPiece(text.slice(at, at + PIECE));
    return tokens;
  };
  return {
    name,
    count: (text) => {
      if (text.length <= SHORT_CHARS) return count(text);
      const key = hash("sha256", text, "base64");
      const known = counted.get(key);
      if (known !== undefined) return known;
      const tokens = count(text);
      counted.set(key, tokens);
      return tokens;
    },
  };
}
