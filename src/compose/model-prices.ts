import { z } from "zod";
import type { ModelPrice, ModelPrices } from "../domain/prices.js";
import { AppError, type ErrorDetail } from "../platform/errors.js";
import { readNamedJson, wrongFile } from "../platform/named-file.js";

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
export async function readModelPrices(path: string | undefined): Promise<ModelPrices | null> {
  if (path === undefined) return null;
  const list = z.record(z.string(), z.unknown()).safeParse(await readNamedJson(VARIABLE, path));
  if (!list.success) throw wrongFile(VARIABLE, 'an object of prices by model, such as {"gpt-5":{"input":1.25,"output":10}}');
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
  if (errors.length > 0) throw new AppError("INVALID_CONFIG", { detail: errors.map(({ detail }) => detail).join("\n"), errors });
  return { currency: [...currencies][0] ?? DEFAULT_CURRENCY, byModel };
}

function wrong(path: readonly PropertyKey[], why: string): ErrorDetail {
  const at = path.map((part) => `/${String(part).slice(0, 64).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  return { pointer: `/${VARIABLE}${at}`, detail: `${VARIABLE}: ${at === "" ? "" : `${at}: `}${why}` };
}
