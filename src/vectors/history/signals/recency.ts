/**
 * Each candidate's place in time among all of them: 1 for the newest, 0 for the oldest. `byTime`: their places, the oldest first.
 * Source: time as a prior, Li and Croft, "Time-based language models", CIKM 2003; by rank, as conversations pause for months.
 */
export function recency(byTime: readonly number[]): Float64Array {
  const places = new Float64Array(byTime.length);
  byTime.forEach((candidate, place) => {
    places[candidate] = byTime.length > 1 ? place / (byTime.length - 1) : 1;
  });
  return places;
}
