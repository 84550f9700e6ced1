import { z } from "zod";

const tokens = z.number().int().positive().optional().catch(undefined);
/**
 * What lists of models tell: vLLM `max_model_len`, OpenRouter `context_length`, Groq `context_window`, Mistral `max_context_length`, LM
 * Studio, llama.cpp.
 */
const listSchema = z.looseObject({
  data: z.array(
    z.looseObject({
      id: z.string(),
      max_model_len: tokens,
      context_length: tokens,
      context_window: tokens,
      max_context_length: tokens,
      loaded_context_length: tokens,
      meta: z.looseObject({ n_ctx: tokens, n_ctx_train: tokens }).nullish().catch(undefined),
    }),
  ),
});

/** How many tokens the model reads at once, as an endpoint's list of models tells it; null where it doesn't. */
export function contextTokensIn(list: unknown, model: string): number | null {
  const parsed = listSchema.safeParse(list);
  const entry = parsed.success ? parsed.data.data.find(({ id }) => id === model) : undefined;
  if (entry === undefined) return null;
  const { loaded_context_length, max_model_len, context_length, context_window, max_context_length, meta } = entry;
  return loaded_context_length ?? max_model_len ?? context_length ?? context_window ?? max_context_length ?? meta?.n_ctx ?? null;
}

const propsSchema = z.looseObject({ default_generation_settings: z.looseObject({ n_ctx: tokens }).optional() });

/** The same of llama.cpp's properties. */
export function propsContextTokens(props: unknown): number | null {
  const parsed = propsSchema.safeParse(props);
  return (parsed.success ? parsed.data.default_generation_settings?.n_ctx : undefined) ?? null;
}

const loadedSchema = z.looseObject({ models: z.array(z.looseObject({ name: z.string(), context_length: tokens })) });

/** The same of Ollama's list of the models that are loaded. */
export function loadedContextTokens(list: unknown, model: string): number | null {
  const parsed = loadedSchema.safeParse(list);
  const named = (name: string) => name === model || name === `${model}:latest`;
  return (parsed.success ? parsed.data.models.find(({ name }) => named(name))?.context_length : undefined) ?? null;
}
