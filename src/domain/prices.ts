import type { TaskTokens } from "./tokens.js";

/** What a model costs, for a million tokens. */
export interface ModelPrice {
  readonly input: number;
  /** Of the input that the provider had cached. */
  readonly cachedInput: number;
  readonly output: number;
}

/** What models cost, by name, all in one currency. */
export interface ModelPrices {
  /** As ISO 4217 names it. */
  readonly currency: string;
  readonly byModel: ReadonlyMap<string, ModelPrice>;
}

const MILLION = 1_000_000;

export function priceFor({ input, cached, output }: TaskTokens, price: ModelPrice): number {
  return ((input - cached) * price.input + cached * price.cachedInput + output * price.output) / MILLION;
}
