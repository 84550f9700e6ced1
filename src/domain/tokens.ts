import { z } from "zod";

/** What models and embedders were given and gave, in tokens, by what it was for. */

/** `summary` is also the short story of a user that is told from their memories. */
export const TOKEN_TASKS = ["chat", "extraction", "summary", "title", "embeddings"] as const;
export type TokenTask = (typeof TOKEN_TASKS)[number];

export const taskTokensSchema = z.object({
  calls: z.number().int(),
  input: z.number(),
  cached: z.number().meta({ description: "Of the input; 0 also where the provider doesn't tell." }),
  output: z.number(),
  estimated: z.literal(true).optional().meta({ description: "Some of it was counted here: the provider told nothing." }),
  cost: z.number().optional().meta({ description: "Absent where the price of any of the calls is unknown." }),
});
export type TaskTokens = z.infer<typeof taskTokensSchema>;

/** Tasks without a call are left out. */
export const tokensByTaskSchema = z.partialRecord(z.enum(TOKEN_TASKS), taskTokensSchema);
export type TokensByTask = z.infer<typeof tokensByTaskSchema>;

const ofTask = z.object(taskTokensSchema.shape).meta({ id: "TaskTokens" });
/** What a session has cost so far: every task, and all of them together. */
export const sessionUsageSchema = z
  .object({
    chat: ofTask,
    extraction: ofTask,
    summary: ofTask,
    title: ofTask,
    embeddings: ofTask,
    total: ofTask,
    cost: z.number().nullable().meta({ description: "In the currency of MODEL_PRICES_FILE; null where a price is unknown." }),
  })
  .meta({ id: "SessionUsage", description: "What the session has cost so far, in tokens by task." });
export type SessionUsage = Readonly<z.output<typeof sessionUsageSchema>>;

const NONE: TaskTokens = { calls: 0, input: 0, cached: 0, output: 0 };

export const NO_USAGE: SessionUsage = { chat: NONE, extraction: NONE, summary: NONE, title: NONE, embeddings: NONE, total: NONE, cost: 0 };

export function addTaskTokens(a: TaskTokens, b: TaskTokens): TaskTokens {
  const cost = sumOf([costOf(a), costOf(b)]);
  return {
    calls: a.calls + b.calls,
    input: a.input + b.input,
    cached: a.cached + b.cached,
    output: a.output + b.output,
    ...((a.estimated || b.estimated) && { estimated: true }),
    ...(cost !== null && a.calls + b.calls > 0 && { cost }),
  };
}

/** Null where it is unknown. No call costs nothing. */
export function costOf({ calls, cost }: TaskTokens): number | null {
  return cost ?? (calls === 0 ? 0 : null);
}

/** Of all tasks together; null where that of any is unknown. */
export function totalCost(tokens: TokensByTask): number | null {
  return sumOf(TOKEN_TASKS.map((task) => costOf(tokens[task] ?? NONE)));
}

/** Null where any of the costs is. What binary fractions leave behind the twelfth digit is dropped. */
export function sumOf(costs: readonly (number | null)[]): number | null {
  let sum = 0;
  for (const cost of costs) {
    if (cost === null) return null;
    sum += cost;
  }
  return Number(sum.toFixed(12));
}

export function addTokens(a: TokensByTask, b: TokensByTask): TokensByTask {
  const sum: TokensByTask = { ...a };
  for (const task of TOKEN_TASKS) {
    const more = b[task];
    if (more !== undefined) sum[task] = addTaskTokens(sum[task] ?? NONE, more);
  }
  return sum;
}

export function usageWith(usage: SessionUsage, tokens: TokensByTask): SessionUsage {
  const each = TOKEN_TASKS.map((task) => [task, addTaskTokens(usage[task], tokens[task] ?? NONE)] as const);
  const total = each.reduce((sum, [, one]) => addTaskTokens(sum, one), NONE);
  return { ...(Object.fromEntries(each) as Record<TokenTask, TaskTokens>), total, cost: costOf(total) };
}

/** What a model costs, for a million tokens. */
export interface ModelPrice {
  readonly input: number;
  /** Of the input that the provider had cached. */
  readonly cachedInput: number;
  readonly output: number;
}

/** What models cost, by name, all in one currency. */
export interface ModelPrices {
  /** As ISO 4217 names it. */
  readonly currency: string;
  readonly byModel: ReadonlyMap<string, ModelPrice>;
}

const MILLION = 1_000_000;

export function priceFor({ input, cached, output }: TaskTokens, price: ModelPrice): number {
  return ((input - cached) * price.input + cached * price.cachedInput + output * price.output) / MILLION;
}
