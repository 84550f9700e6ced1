import type { Usage } from "../../domain/session.js";

/** What an endpoint told of its tokens. `cached` is left out where it told nothing. */
export function usageFrom(told: { readonly input: number; readonly output: number; readonly cached: number | null | undefined }): Usage {
  const { input, output, cached } = told;
  return { input_tokens: input, ...(typeof cached === "number" && { cached_tokens: cached }), output_tokens: output };
}
