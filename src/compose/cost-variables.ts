import { decimal, integer, optionalText, variable } from "./variable.js";

const LIMIT = integer(1, 1_000_000_000_000).optional();

const MONEY = decimal(0.000_001, 1_000_000).optional();

/** Variables of what is spent, in the order of the the table of variables. */
export const COST_VARIABLES = {
  EXTRACTION_DELAY_MS: variable(
    integer(0, 3_600_000).default(0),
    "0",
    "How long an answered turn waits to be read for memories, so that turns which come quickly are read in one call. Flush, a new " +
      "session and a booking don't wait for it.",
  ),
  EXTRACTION_IDLE_MS: variable(
    integer(0, 3_600_000).default(300_000),
    "300000",
    "How long a message that tells nothing urgent (thanks, a question, an order, a wish) waits for the next ones, to be read for " +
      "memories in the same call, at most twelve of them; then it is read by itself. Needs are read at once. Flush, a booking, another " +
      "session and `/v1/context` don't wait for it.",
  ),
  COST_SOFT_LIMIT_TOKENS: variable(
    LIMIT,
    "",
    "Tokens of a tenant in a day (UTC), input and output of all models. Past it extraction, summaries and titles wait for the next day, " +
      "and bookings ask about needs.",
  ),
  COST_HARD_LIMIT_TOKENS: variable(LIMIT, "", "Past it chat answers 429 `COST_LIMIT_REACHED` until 00:00 UTC."),
  MODEL_PRICES_FILE: variable(
    optionalText,
    "",
    'JSON of what models and embedders cost, for a million tokens: `{ "gpt-5": { "input", "cached_input", "output", "currency" } }`. ' +
      "What isn't in it has a cost of `null`.",
  ),
  COST_SOFT_LIMIT_MONEY: variable(MONEY, "", "As `COST_SOFT_LIMIT_TOKENS`, in the currency of `MODEL_PRICES_FILE`."),
  COST_HARD_LIMIT_MONEY: variable(MONEY, "", "As `COST_HARD_LIMIT_TOKENS`, in the currency of `MODEL_PRICES_FILE`."),
} as const;
