import { checkShape, SHAPES } from "./adversarial.js";

/** What neither a collection of garbage nor a late compilation explains away: measured again this often before it counts. */
const MEASURED_AT_MOST = 5;
/** Milliseconds of the processor below which a ratio says nothing. */
const MEASURABLE_MS = 10;

/**
 * Reads one line for each shape: what 8,000 and 16,000 characters of it cost, least of some runs, and whether twice the text costs three
 * times as much. Says which shape it begins with, for whoever kills it.
 */
const named = process.argv.slice(2);
for (const [name, shape] of Object.entries(SHAPES)) {
  if (named.length > 0 && !named.includes(name)) continue;
  process.stdout.write(`${JSON.stringify({ begins: name })}\n`);
  const cost = (length: number) => Math.min(...Array.from({ length: 3 }, () => checkShape(shape, length)));
  checkShape(shape, 1_000);
  let small = Number.POSITIVE_INFINITY;
  let large = Number.POSITIVE_INFINITY;
  let steep = true;
  for (let measured = 0; steep && measured < MEASURED_AT_MOST; measured += 1) {
    small = cost(8_000);
    large = Math.min(large, cost(16_000));
    steep = small > MEASURABLE_MS && large >= 3 * small;
  }
  process.stdout.write(`${JSON.stringify({ name, small, large, steep })}\n`);
}
