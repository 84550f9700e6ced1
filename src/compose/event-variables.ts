import { flag, integer, variable } from "./variable.js";

/** Variables of what is told to the outside, in the order of the README's table. */
export const EVENT_VARIABLES = {
  EVENTS_RETENTION_DAYS: variable(integer(1, 365).default(7), "7", "Days for which events are kept for those who list or follow them."),
  EVENTS_CONTENT: variable(
    flag.default(false),
    "false",
    "`true`: events also hold the words that they tell of, as they are when they are told; else ids alone.",
  ),
} as const;
