import { checkShape, SHAPES } from "./adversarial.js";

/** Reads one line for each shape: what 8,000 and 16,000 characters of it cost, least of some runs. Says which it begins with, for whoever kills it. */
const named = process.argv.slice(2);
for (const [name, shape] of Object.entries(SHAPES)) {
  if (named.length > 0 && !named.includes(name)) continue;
  process.stdout.write(`${JSON.stringify({ begins: name })}\n`);
  const cost = (length: number) => Math.min(...Array.from({ length: 3 }, () => checkShape(shape, length)));
  checkShape(shape, 1_000);
  process.stdout.write(`${JSON.stringify({ name, small: cost(8_000), large: cost(16_000) })}\n`);
}
