import { CostLimits } from "../agent/cost-limits.js";
import { meteredModel } from "../agent/models/metered-model.js";
import { TokenMeter } from "../agent/token-meter.js";
import { EngineDailyTokens } from "../state/counters/daily-tokens.js";
import type { Models } from "./models.js";
import type { Stores } from "./stores.js";
import type { Wiring } from "./wiring.js";

/** What is counted, and what it may come to. */
export interface Costs {
  readonly tokens: TokenMeter;
  /** Null where no limit is set: then nothing is counted by the day. */
  readonly limits: CostLimits | null;
}

export async function openCosts({ config, clock, logger, closing, metrics }: Wiring, { engine }: Stores): Promise<Costs> {
  const { COST_SOFT_LIMIT_TOKENS: soft, COST_HARD_LIMIT_TOKENS: hard } = config;
  const onCall = metrics.tokensUsed.bind(metrics);
  if (soft === undefined && hard === undefined) return { tokens: new TokenMeter({ onCall }), limits: null };
  const daily = closing(new EngineDailyTokens(engine), (it) => it.close());
  const limits = new CostLimits({ daily, clock, logger }, { soft, hard });
  return { tokens: new TokenMeter({ onTokens: (owner, count) => void limits.count(owner, count), onCall }), limits };
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
