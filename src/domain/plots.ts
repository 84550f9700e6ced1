/** Sums of an hour, for whoever runs the server. Numbers and codes alone. */
export interface PlotSums {
  readonly turns: number;
  readonly failed: number;
  /** How many turns sent their first text within each of {@link FIRST_TOKEN_BOUNDS_MS}, and behind the last. */
  readonly firstToken: readonly number[];
  /** Turns by how recall went. */
  readonly recall: Readonly<Record<string, number>>;
  readonly given: number;
  readonly heldBack: number;
  /** By outcome. */
  readonly proposals: Readonly<Record<string, number>>;
  readonly cost: number;
  /** Calls whose cost is unknown. */
  readonly unpriced: number;
  readonly costByModel: Readonly<Record<string, number>>;
  readonly tokens: number;
  readonly erasures: number;
}

/** Each half as long again as the one before: from 20 ms to six minutes. */
export const FIRST_TOKEN_BOUNDS_MS: readonly number[] = Array.from({ length: 25 }, (_, place) => Math.round(20 * 1.5 ** place));

export const NO_SUMS: PlotSums = {
  turns: 0,
  failed: 0,
  firstToken: [],
  recall: {},
  given: 0,
  heldBack: 0,
  proposals: {},
  cost: 0,
  unpriced: 0,
  costByModel: {},
  tokens: 0,
  erasures: 0,
};

export function addSums(a: PlotSums, b: PlotSums): PlotSums {
  const { length } = a.firstToken.length > b.firstToken.length ? a.firstToken : b.firstToken;
  return {
    turns: a.turns + b.turns,
    failed: a.failed + b.failed,
    firstToken: Array.from({ length }, (_, place) => (a.firstToken[place] ?? 0) + (b.firstToken[place] ?? 0)),
    recall: addCounts(a.recall, b.recall),
    given: a.given + b.given,
    heldBack: a.heldBack + b.heldBack,
    proposals: addCounts(a.proposals, b.proposals),
    cost: a.cost + b.cost,
    unpriced: a.unpriced + b.unpriced,
    costByModel: addCounts(a.costByModel, b.costByModel),
    tokens: a.tokens + b.tokens,
    erasures: a.erasures + b.erasures,
  };
}

/** A turn's first text, as {@link PlotSums.firstToken} counts it. */
export function firstTokenAt(ms: number): readonly number[] {
  const found = FIRST_TOKEN_BOUNDS_MS.findIndex((bound) => ms <= bound);
  const place = found === -1 ? FIRST_TOKEN_BOUNDS_MS.length : found;
  return Array.from({ length: place + 1 }, (_, at) => (at === place ? 1 : 0));
}

/** Within its bounds, as even as they can be; null where nothing was counted. `share`: 0.95 for the 95th of a hundred. */
export function quantile(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let before = 0;
  for (const [place, count] of counts.entries()) {
    if (count > 0 && before + count >= total * share) {
      const [low, high] = [FIRST_TOKEN_BOUNDS_MS[place - 1] ?? 0, FIRST_TOKEN_BOUNDS_MS[place] ?? FIRST_TOKEN_BOUNDS_MS.at(-1) ?? 0];
      return Math.round(low + (high - low) * ((total * share - before) / count));
    }
    before += count;
  }
  return null;
}

function addCounts(a: Readonly<Record<string, number>>, b: Readonly<Record<string, number>>): Record<string, number> {
  const sum: Record<string, number> = { ...a };
  for (const [name, count] of Object.entries(b)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}
