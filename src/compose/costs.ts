import { z } from "zod";
import { CostLimits, type DailyLimit, type Limit } from "../agent/cost-limits.js";
import { meteredModel, TokenMeter } from "../agent/token-meter.js";
import { parseOwner } from "../domain/owner.js";
import type { PlotSums } from "../domain/plots.js";
import type { ModelPrice, ModelPrices, TaskTokens } from "../domain/tokens.js";
import { type ErrorDetail, pointerTo } from "../platform/errors.js";
import { invalidConfig, readNamedJson, wrongVariable } from "../platform/invalid-config.js";
import type { Logger } from "../platform/logger.js";
import type { Plots } from "../ports/counters.js";
import { EngineDailyCounts } from "../state/counters/daily-counts.js";
import type { Config } from "./config.js";
import type { Models } from "./models.js";
import type { Stores, Wiring } from "./wiring.js";

export interface Costs {
  readonly tokens: TokenMeter;
  /** Null where no limit is set: then nothing is counted by the day. */
  readonly limits: CostLimits | null;
  /** Null where none are known. */
  readonly prices: ModelPrices | null;
}

/** Money is counted in billionths of its currency: the least that a call costs is a whole number of them. */
const BILLION = 1_000_000_000;

/** @throws INVALID_CONFIG for prices that are wrong, or a limit in money without prices */
export async function openCosts({ config, clock, logger, closing, metrics }: Wiring, { engine }: Stores, plots: Plots): Promise<Costs> {
  const prices = await readModelPrices(config.MODEL_PRICES_FILE);
  const daily = limitsOf(config, prices).map(({ prefix, ...limit }): DailyLimit => {
    const counts = closing(new EngineDailyCounts(engine, prefix), (it) => it.close());
    return { ...limit, counts };
  });
  const limits = daily.length === 0 ? null : new CostLimits({ clock, logger }, daily);
  const tokens = new TokenMeter({
    onCall: ({ task, model, tokens: spent, owner }) => {
      metrics.tokensUsed(task, spent);
      const tenant = owner === null ? null : parseOwner(owner).tenant;
      if (prices !== null) metrics.costSpent?.({ model, tenant, cost: spent.cost ?? null });
      // What nobody asked for, a check at the start, is no part of what happens.
      if (tenant !== null) plots.add(tenant, spentSums(model, spent));
    },
    onSpent: (owner, spent) => void limits?.count(owner, spent),
    priceOf: (model) => prices?.byModel.get(model) ?? null,
  });
  return { tokens, limits, prices };
}

function spentSums(model: string, { input, output, calls, cost }: TaskTokens): Partial<PlotSums> {
  const tokens = input + output;
  return cost === undefined ? { tokens, unpriced: calls } : { tokens, cost, costByModel: { [model]: cost } };
}

type Counted = Omit<DailyLimit, "counts"> & { readonly prefix: string };

function limitsOf(config: Config, prices: ModelPrices | null): readonly Counted[] {
  const { COST_SOFT_LIMIT_TOKENS, COST_HARD_LIMIT_TOKENS, COST_SOFT_LIMIT_MONEY, COST_HARD_LIMIT_MONEY } = config;
  const inTokens = (variable: string, most: number | undefined): Limit | undefined =>
    most === undefined ? undefined : { most, shown: `${most} tokens`, variable };
  const inMoney = (variable: string, amount: number | undefined): Limit | undefined => {
    if (amount === undefined) return undefined;
    if (prices === null)
      throw wrongVariable("MODEL_PRICES_FILE", `is needed by ${variable}: a limit in money needs to know what models cost`);
    return { most: Math.round(amount * BILLION), shown: `${amount} ${prices.currency}`, variable };
  };
  const both: readonly Counted[] = [
    {
      prefix: "count",
      countOf: ({ input, output }) => Math.round(input + output),
      soft: inTokens("COST_SOFT_LIMIT_TOKENS", COST_SOFT_LIMIT_TOKENS),
      hard: inTokens("COST_HARD_LIMIT_TOKENS", COST_HARD_LIMIT_TOKENS),
    },
    {
      prefix: "cost",
      countOf: ({ cost = 0 }) => Math.round(cost * BILLION),
      soft: inMoney("COST_SOFT_LIMIT_MONEY", COST_SOFT_LIMIT_MONEY),
      hard: inMoney("COST_HARD_LIMIT_MONEY", COST_HARD_LIMIT_MONEY),
    },
  ];
  return both.filter(({ soft, hard }) => soft !== undefined || hard !== undefined);
}

/** Names the models that are called and have no price, once: what they cost is unknown, and no limit in money holds them. */
export function warnOfUnpriced({ prices }: Pick<Costs, "prices">, models: readonly string[], logger: Logger): void {
  const unpriced = [...new Set(models)].filter((model) => prices !== null && !prices.byModel.has(model));
  if (unpriced.length > 0) logger.warn({ models: unpriced }, "MODEL_PRICES_FILE has no price of these models: what they cost is unknown");
}

/** Models whose calls are counted. Those that no reply waits for ask first whether they may. */
export function metered({ chat, extraction, summary, title }: Models, { tokens, limits }: Costs): Models {
  const background = (model: Models["chat"]) => meteredModel(model, tokens, async (owner) => limits?.requireBackground(owner));
  return {
    chat: meteredModel(chat, tokens),
    extraction: background(extraction),
    summary: background(summary),
    title: background(title),
  };
}

const VARIABLE = "MODEL_PRICES_FILE";
const DEFAULT_CURRENCY = "USD";
const MOST = 1_000_000;

const amount = z
  .number({ error: `a number from 0 to ${MOST}, for a million tokens` })
  .min(0)
  .max(MOST);
const price = z.strictObject(
  {
    input: amount,
    cached_input: amount.optional(),
    output: amount,
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/, 'three letters of ISO 4217, such as "EUR"')
      .optional(),
  },
  { error: (issue) => (issue.code === "invalid_type" ? "an object of `input`, `output`, `cached_input`, `currency`" : undefined) },
);

/** By model, as configured. Null where no file is named. @throws INVALID_CONFIG naming the place of each price that is wrong */
async function readModelPrices(path: string | undefined): Promise<ModelPrices | null> {
  if (path === undefined) return null;
  const list = z.record(z.string(), z.unknown()).safeParse(await readNamedJson(VARIABLE, path));
  if (!list.success) throw wrongVariable(VARIABLE, 'an object of prices by model, such as {"gpt-5":{"input":1.25,"output":10}}');
  const errors: ErrorDetail[] = [];
  const byModel = new Map<string, ModelPrice>();
  const currencies = new Set<string>();
  for (const [model, given] of Object.entries(list.data)) {
    const parsed = price.safeParse(given);
    if (parsed.success) {
      const { input, cached_input: cachedInput = input, output, currency = DEFAULT_CURRENCY } = parsed.data;
      byModel.set(model, { input, cachedInput, output });
      currencies.add(currency);
    } else for (const { path, message } of parsed.error.issues) errors.push(wrong([model, ...path], message));
  }
  if (currencies.size > 1) errors.push(wrong([], `one currency for all, not ${[...currencies].join(" and ")}: their sums mean nothing`));
  if (errors.length > 0) throw invalidConfig(errors);
  return { currency: [...currencies][0] ?? DEFAULT_CURRENCY, byModel };
}

function wrong(path: readonly PropertyKey[], why: string): ErrorDetail {
  const at = pointerTo(path);
  return { pointer: `/${VARIABLE}${at}`, detail: `${VARIABLE}: ${at === "" ? "" : `${at}: `}${why}` };
}
