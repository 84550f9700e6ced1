import { broughtAlong } from "./checks/brought-along.js";
import { QuotedMessage } from "./checks/locate-quote.js";
import { overlaps } from "./checks/spans.js";

/** Whether a quote stands in the guest's own words of a message: typos and all, outside what they brought along. Linear. */
export function inOwnWords(quote: string, message: string): boolean {
  const span = new QuotedMessage(message).locate(quote);
  return span !== null && !broughtAlong(message).some((brought) => overlaps(span, brought));
}
