import { type Shape, shape } from "./draft.js";
import { capital, inThirdPerson } from "./third-person.js";

/** Where a guest stops paying: an amount and a word that caps it, in a clause of the guest's own. English. */

const AMOUNT =
  /[€£$]\s?\d|\b\d{1,5}(?:[.,]\d{1,2})?\s?(?:€|£|\$|euros?|eur|pounds?|gbp|quid|dollars?|usd|bucks|chf|francs?|(?:a|per|each) ?(?:night|ticket|head|person|seat|meal)?\b)/iu;
const CAP =
  /\b(?:(?:not|never|no|nothing|rather not|do not|would not|can not|hardly)\b.{0,40}\b(?:more than|over|above|beyond|past|exceed)|under|below|up to|within|at most|max(?:imum)?|limit|budget|no more than|less than|too much|too (?:expensive|dear|steep)|can go (?:up )?to|stretch to)\b/iu;
/** A cap that is the guest's own and lasts: "I try to", "my limit", "we normally". */
const OWN_CAP =
  /^I (?:try|like|prefer|aim|want|need|have|can|can not|do not|never|would rather|will|will not|would not|could|am (?:happy|willing|prepared|not (?:happy|willing|prepared))|keep|stay|tend)\b|^my\b|^(?:anything|everything|nothing)\b|^.{0,3}\d.* is my\b/iu;
const ASKS = /\b(?:find|book|get|show|looking for|search|see|look for|have you|is there|tickets? (?:for|to) (?:the|a)\b)\b/iu;
const PAYS = /^I (?:pay|spend|budget|allow|have got|have|fork out|set aside)\b/iu;

export const SPENDING: readonly Shape[] = [
  (clause) => {
    const { text, usual, changed, passing } = clause;
    if (!AMOUNT.test(text) || text.split(" ").length > 18 || ASKS.test(text)) return [];
    const capped =
      CAP.test(text) &&
      OWN_CAP.test(text) &&
      (!/^I (?:want|need|like|have|would like)\b/iu.test(text) || usual || / (?:to|not) /iu.test(text));
    const paid = PAYS.test(text) && (usual || passing || changed);
    const plain = text.replace(/^I (?:try|aim|like|prefer|want|am trying) (?<not>not )?to (?<not2>not )?/iu, (all) =>
      / not /iu.test(all) ? "I do not " : "I ",
    );
    return capped || paid ? [{ category: "budget", aspect: spentOn(text), text: inThirdPerson(plain) }] : [];
  },
  shape(/^I do not (?:care|mind) (?:what it costs|about the (?:price|cost)|how much it (?:costs|is))$/iu, (_, { text }) => ({
    category: "budget",
    aspect: "budget",
    text: inThirdPerson(text),
  })),
  shape(
    /^(?:money|price|cost|the (?:price|cost|money)) (?:is|does) (?:no object|not (?:really |much of |a big |that )*(?:an? )?(?:issue|problem|concern|important|matter)|secondary|no (?:issue|problem))(?: (?:for|to) me)?(?: when it comes to .{3,40}| for .{3,40})?$/iu,
    (_, { text }) => ({ category: "budget", aspect: "budget", text: capital(text.replace(/ (?:for|to) me$/iu, "")) }),
  ),
  shape(
    /^I (?:do not mind|am happy|am willing|am prepared|do not object to) (?:to )?(?:pay|spend|paying|spending) (?:a bit |a little )?(?:more|extra)\b.{0,50}$/iu,
    (_, { text }) => ({
      category: "budget",
      aspect: "ticket class",
      text: inThirdPerson(text),
    }),
  ),
  shape(
    /^I (?:look for|hunt for|go for|wait for|want|take|book) (?:the |an? )?(?<what>(?:best |good |cheap )?(?:deals?|bargains?|discounts?|special offers?|last-minute deals?|sales?))$/iu,
    (_, { text, usual }) => (usual ? { category: "budget", aspect: "ticket class", text: inThirdPerson(text) } : null),
  ),
  shape(
    /^(?<what>(?:cheap|the cheapest|inexpensive|affordable) (?:seats?|tickets?|rooms?|places?|restaurants?|hotels?))$/iu,
    ({ what = "" }, { usual, reasoned }) =>
      usual || reasoned ? { category: "budget", aspect: "ticket class", text: capital(what) } : null,
  ),
];

function spentOn(text: string): string {
  if (/\b(?:night|hotels?|rooms?|suite)\b/iu.test(text)) return "room budget";
  return /\b(?:dinners?|lunch|meals?|eat(?:ing)?|restaurants?|food|wine)\b/iu.test(text) ? "meal budget" : "budget";
}
