import type { Logger } from "../platform/logger.js";
import { cosine } from "../platform/numbers.js";
import type { Embedder } from "../ports/embedding.js";
import type { MessageToRead, Reading } from "../ports/extraction.js";
import type { CheckedReading } from "./checked-operation.js";
import { borneOutByWords } from "./checks/borne-out.js";
import { type CheckOptions, check } from "./checks/check.js";
import { isHard } from "./checks/statement.js";

/** Of the way from texts that have to do with each other to the same text: from here on one says what the other says. */
const SAYS_THE_SAME = 0.4;
const MAX_CHARS = 500;

export interface WitnessParts extends Omit<CheckOptions, "isAlike"> {
  /** One that knows meanings. Default: words alone bear witness. */
  readonly embedder?: Embedder;
  readonly logger: Logger;
}

/**
 * A reading, checked. For a need that the words of its quote don't bear out, the likeness of its text to the quote is asked of the embedder
 * first; one that fails, or tells nothing of what is alike, bears no witness.
 */
export async function checkWithWitness(
  message: MessageToRead,
  reading: Reading,
  { embedder, logger, ...options }: WitnessParts,
): Promise<CheckedReading> {
  const alike = new Set<string>();
  if (embedder !== undefined && !embedder.lexical && embedder.relevantFrom !== undefined) {
    for (const proposal of reading.operations) {
      const { text, quote } = proposal;
      if (text.trim() === "" || quote.trim() === "" || alike.has(text) || !isHard(proposal, options)) continue;
      if (borneOutByWords(proposal, [quote], options.needs) !== "unclear") continue;
      try {
        if (await saysTheSame(embedder, text, quote)) alike.add(text);
      } catch (error) {
        logger.debug({ err: error }, "An embedder bore no witness");
        break;
      }
    }
  }
  return check(message, reading, { ...options, isAlike: ({ text }) => alike.has(text) });
}

async function saysTheSame(embedder: Embedder, text: string, quote: string): Promise<boolean> {
  const [one, other] = await embedder.embed([quote.slice(0, MAX_CHARS), text.slice(0, MAX_CHARS)]);
  if (one === undefined || other === undefined) return false;
  const from = embedder.relevantFrom?.(one) ?? Number.POSITIVE_INFINITY;
  return cosine(one, other) >= from + (1 - from) * SAYS_THE_SAME;
}
