/** The window of a model that doesn't say how large it is, in tokens. */
const DEFAULT_WINDOW = 128_000;
/** Kept free for the answer, the results of tools, and what a tokenizer counts differently. */
const HEADROOM = 8_000;

/**
 * Tokens that the messages of a turn may take: what is configured, or what the model's window leaves, whichever is less, without what the
 * tools take. A window under twice the headroom keeps half of itself free.
 */
export function contextBudget(configured: number, windowTokens: number = DEFAULT_WINDOW, toolTokens = 0): number {
  return Math.max(0, Math.min(configured, windowTokens - Math.min(HEADROOM, Math.floor(windowTokens / 2))) - toolTokens);
}
