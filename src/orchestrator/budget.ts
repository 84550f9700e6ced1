/** The window of a model that doesn't say how large it is, in tokens. */
const DEFAULT_WINDOW = 128_000;
/** Kept free for the answer, the descriptions and results of tools, and what a tokenizer counts differently. */
const HEADROOM = 8_000;

/**
 * Tokens that the context of a turn may take: what is configured, or what the model's window leaves, whichever is less. A window under
 * twice the headroom keeps half of itself free.
 */
export function contextBudget(configured: number, windowTokens: number = DEFAULT_WINDOW): number {
  return Math.min(configured, windowTokens - Math.min(HEADROOM, Math.floor(windowTokens / 2)));
}
