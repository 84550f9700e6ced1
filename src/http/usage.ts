import { z } from "@hono/zod-openapi";

/** What models cost, as the API tells it. */

const taskTokens = z
  .object({
    calls: z.number().int(),
    input: z.number(),
    cached: z.number().openapi({ description: "Of the input; 0 also where the provider doesn't tell." }),
    output: z.number(),
    estimated: z.literal(true).optional().openapi({ description: "Some of it was counted here: the provider told nothing." }),
    cost: z.number().optional().openapi({ description: "Absent where the price of any of the calls is unknown." }),
  })
  .openapi("TaskTokens");

export const sessionUsage = z
  .object({
    chat: taskTokens,
    extraction: taskTokens,
    summary: taskTokens,
    title: taskTokens,
    embeddings: taskTokens,
    total: taskTokens,
    cost: z.number().nullable().openapi({ description: "In the currency of MODEL_PRICES_FILE; null where a price is unknown." }),
  })
  .openapi("SessionUsage");
