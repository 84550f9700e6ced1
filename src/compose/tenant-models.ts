import { KnownCapabilities } from "../agent/models/known-capabilities.js";
import { AppError } from "../platform/errors.js";
import type { ChatModel, Domain } from "../ports/agent.js";
import { EngineMeasuredModels } from "../state/endpoints/measured-models.js";
import type { StateEngine } from "../state/engine.js";
import { type Costs, metered } from "./costs.js";
import { type Models, openModels, sameFor } from "./models.js";
import { tracedModels, tracedProvider } from "./telemetry.js";
import type { Wiring } from "./wiring.js";

const HOUR_MS = 60 * 60_000;

interface OpenedModels {
  readonly models: Models;
  /** Whose they are, as traces name it. */
  readonly provider: string;
}

/**
 * Opens the models of a tenant, by what its settings say of them: none, a name, or a model of its own. The same name is opened once; what
 * is learnt of an endpoint's model is known to all that call it. The opener throws INVALID_CONFIG for a name without a provider.
 */
export async function openTenantModels(
  { config, overrides, logger, clock, closing }: Wiring,
  domain: Domain,
  costs: Costs,
  engine: StateEngine,
): Promise<(model: string | ChatModel | undefined) => Promise<OpenedModels>> {
  const hours = config.MODEL_MEASURE_HOURS;
  const kept = hours === 0 ? {} : { store: new EngineMeasuredModels(engine), maxAgeMs: hours * HOUR_MS };
  const known = closing(await KnownCapabilities.open({ ...kept, clock, logger }), (it) => it.flush());
  const opened = new Map<string, Promise<OpenedModels>>();
  const used = (models: Models, own: boolean): OpenedModels => {
    const provider = tracedProvider(config, own);
    return { models: metered(tracedModels(models, provider), costs), provider };
  };
  const named = async (name: string) => {
    if (config.LLM_PROVIDER === "offline") {
      const detail = `A tenant's model "${name.slice(0, 64)}" needs a provider of models: set OPENAI_API_KEY or LLM_PROVIDER.`;
      throw new AppError("INVALID_CONFIG", { detail });
    }
    return used(await openModels({ ...config, LLM_MODEL: name }, domain, logger, known), false);
  };
  const { model: own } = overrides;
  const common = used(own === undefined ? await openModels(config, domain, logger, known) : sameFor(own), own !== undefined);
  return async (model) => {
    if (model === undefined) return common;
    if (typeof model !== "string") return used(sameFor(model), true);
    const open = opened.get(model) ?? named(model);
    opened.set(model, open);
    return open;
  };
}
