export const CUTS = [1, 5, 10, 20] as const;

export interface Tally {
  questions: number;
  readonly fraction: number[];
  readonly any: number[];
  readonly all: number[];
  /** As the fraction @10, but with a soft edge: it moves with every place that evidence moves. */
  soft: number;
}

export function newTally(): Tally {
  return { questions: 0, fraction: CUTS.map(() => 0), any: CUTS.map(() => 0), all: CUTS.map(() => 0), soft: 0 };
}

/** Counts one question: how much of its evidence is among the first of what was found. */
export function count(tally: Tally, found: readonly string[], evidence: readonly string[]): void {
  const wanted = new Set(evidence);
  tally.questions += 1;
  for (const id of wanted) tally.soft += softHit(found.indexOf(id)) / wanted.size;
  CUTS.forEach((cut, i) => {
    const hits = new Set(found.slice(0, cut).filter((id) => wanted.has(id))).size;
    tally.fraction[i] = (tally.fraction[i] ?? 0) + hits / wanted.size;
    tally.any[i] = (tally.any[i] ?? 0) + (hits > 0 ? 1 : 0);
    tally.all[i] = (tally.all[i] ?? 0) + (hits === wanted.size ? 1 : 0);
  });
}

/** 1 for the first places, one half between the tenth and the eleventh, then soon 0. */
function softHit(place: number): number {
  return place < 0 ? 0 : 1 / (1 + Math.exp((place - 9.5) / 2));
}

/** `fraction@1 @5 @10 @20 | any … | all …` as shares, three digits. */
export function row(label: string, tally: Tally): string {
  const part = (sums: readonly number[]) => sums.map((sum) => (sum / Math.max(1, tally.questions)).toFixed(3).replace(/^0/, "")).join("  ");
  return `${label.padEnd(34)} ${part(tally.fraction)}   ${part(tally.any)}   ${part(tally.all)}`;
}

export const HEADER = `${"".padEnd(34)} fraction found @${CUTS.join(" @")}   any @${CUTS.join(" @")}         all @${CUTS.join(" @")}`;

export function fractionAt(tally: Tally, cut: (typeof CUTS)[number]): number {
  return (tally.fraction[CUTS.indexOf(cut)] ?? 0) / Math.max(1, tally.questions);
}
