import { addSums, NO_SUMS, type PlotSums, quantile } from "../../domain/plots.js";
import { sumOf } from "../../domain/tokens.js";
import type { Clock } from "../../platform/clock.js";
import { AppError } from "../../platform/errors.js";
import type { Plots, PlottedSums } from "../../ports/counters.js";
import type { PlotQuery } from "../../ports/studio.js";
import type { PlotStep } from "../../ports/studio-views.js";

const HOUR_MS = 60 * 60 * 1_000;
const STEP_MS = { hour: HOUR_MS, day: 24 * HOUR_MS } as const;
/** Steps that are shown where no range is named. */
const BY_DEFAULT = { hour: 24, day: 30 } as const;
const MOST_STEPS = 1_000;
/** Of an hour's name, and of a day's. */
const LENGTH = { hour: "2027-03-28T09".length, day: "2027-03-28".length } as const;

/** @throws INVALID_REQUEST */
export async function plotSteps(plots: Plots, query: PlotQuery, clock: Clock): Promise<readonly PlotStep[]> {
  const { step, tenant } = query;
  const stepMs = STEP_MS[step];
  const to = query.to === undefined ? clock.now().getTime() : Date.parse(query.to);
  const begin = Math.floor((query.from === undefined ? to - (BY_DEFAULT[step] - 1) * stepMs : Date.parse(query.from)) / stepMs) * stepMs;
  const count = Math.ceil((to - begin) / stepMs) || 1;
  if (count < 1 || count > MOST_STEPS) {
    const detail = `a range of 1 to ${MOST_STEPS} steps that ends behind where it begins`;
    throw new AppError("INVALID_REQUEST", { errors: [{ pointer: "/from", detail }] });
  }
  const names = Array.from({ length: count }, (_, place) => new Date(begin + place * stepMs).toISOString().slice(0, LENGTH[step]));
  const [sums, first] = await Promise.all([plots.between(names[0] ?? "", `${names.at(-1)}~`, step), plots.first(step)]);
  const asked = sums.filter((each) => tenant === undefined || each.tenant === tenant);
  const byStep = grouped(asked, ({ period }) => period);
  // Before the first that is kept nobody counted.
  const isCounted = (name: string) => first !== null && name >= first;
  return names.map((name) => stepOf(new Date(step === "day" ? name : `${name}:00Z`), isCounted(name) ? (byStep.get(name) ?? []) : null));
}

function stepOf(at: Date, hours: readonly PlottedSums[] | null): PlotStep {
  if (hours === null) return { at: at.toISOString(), ...UNKNOWN };
  const sums = hours.map((hour) => hour.sums).reduce(addSums, NO_SUMS);
  const byTenant = grouped(hours, ({ tenant }) => tenant);
  return {
    at: at.toISOString(),
    turns: sums.turns,
    failed: sums.failed,
    p50_first_token_ms: quantile(sums.firstToken, 0.5),
    p95_first_token_ms: quantile(sums.firstToken, 0.95),
    recall: sums.recall,
    given: sums.given,
    held_back: sums.heldBack,
    proposals: { kept: sums.proposals.kept ?? 0, asked: sums.proposals.asked ?? 0, refused: sums.proposals.refused ?? 0 },
    cost: costOf(sums),
    cost_by_model: sums.costByModel,
    cost_by_tenant: Object.fromEntries([...byTenant].map(([tenant, own]) => [tenant, sumOf(own.map((hour) => costOf(hour.sums)))])),
    tokens: sums.tokens,
    erasures: sums.erasures,
  };
}

const UNKNOWN: Omit<PlotStep, "at"> = {
  turns: null,
  failed: null,
  p50_first_token_ms: null,
  p95_first_token_ms: null,
  recall: null,
  given: null,
  held_back: null,
  proposals: null,
  cost: null,
  cost_by_model: null,
  cost_by_tenant: null,
  tokens: null,
  erasures: null,
};

function grouped(hours: readonly PlottedSums[], by: (hour: PlottedSums) => string | null): ReadonlyMap<string, PlottedSums[]> {
  const groups = new Map<string, PlottedSums[]>();
  for (const hour of hours) {
    const name = by(hour);
    if (name !== null) groups.set(name, [...(groups.get(name) ?? []), hour]);
  }
  return groups;
}

/** Null where the price of any call is unknown. */
function costOf({ cost, unpriced }: PlotSums): number | null {
  return unpriced > 0 ? null : sumOf([cost]);
}
