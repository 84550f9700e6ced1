import { asSaid } from "./draft.js";
import { english, relationAt } from "./language.js";
import { type Form, often, thingIn } from "./said.js";

/** Forms of statements of how somebody lives: home, budget, party, company, what they are and what they do again and again. */

const MAX_BARE_WORDS = 9;
/** Of a habit that no category knows. */
const MAX_PLAIN = 8;
const MAX_COMPANY_WORDS = 16;

/** "I live in Cork", "home is Pune", "we moved to Lund". A place is a name. */
export const home: Form = ({ read, own, thing, plain, negated, past, words, rest }) => {
  const moved = words.includes("moved") || words.includes("relocated");
  const theirs = own || thing === "home" || (read.who.kind === "nobody" && plain[0] === "home");
  if (!theirs || negated || words.includes("used") || (past && !moved) || read.language.home.in(words) === -1) return null;
  const { text } = read.clause;
  // All in small letters: the one word that ends it.
  const small = /\p{Lu}/u.test(text) ? undefined : /^(?:based )?in (?!the |a |an |my |our )(\p{L}{3,})$/u.exec(rest)?.[1];
  const place = small ?? /\b(?:in|is|to)\s+(\p{Lu}[\p{L}'’-]*(?:\s+(?:upon|on|am|de|la|\p{Lu}[\p{L}'’-]*)){0,3})/u.exec(text)?.[1];
  return place === undefined ? null : { text: `Lives in ${place}`, about: place, category: "location", aspect: "home" };
};

/** "My budget is 80", "nothing over £160", "never more than 40 euros". */
export const budget: Form = ({ read, thing, words }) => {
  const amount = /\p{Sc}?\s?\d[\d.,]{1,6}\s?(?:\p{Sc}|k\b)?/u.exec(read.clause.text)?.[0]?.trim();
  if (amount === undefined) return null;
  const money = /\p{Sc}/u.test(amount) || english.money.in(words) !== -1;
  const own = english.limits.has(thing) || (english.limits.in(words) !== -1 && words.length <= 8 && english.bounds.in(words) !== 0);
  const bounded = english.bounds.in(words) !== -1 && ["nothing", "never", "not", "max"].some((word) => words.includes(word));
  if (!own && !(money && bounded) && !(money && read.goesOn && words.length <= 4)) return null;
  const text = read.clause.text.replace(/^(?:(?:my|our|so|and|but|budget|keep it)\s+)+|[\s.!]+$/giu, "");
  return { text: `Budget: ${text}`, about: amount, category: "budget", aspect: "budget" };
};

const isNumber = (word = "") => /^\d{1,2}$/u.test(word) || english.numbers.has(word);

/** "There are always five of us", "always two tickets", "we're usually four". */
export const party: Form = ({ read, usual, words, restWords, verb }) => {
  const at = words.findIndex(
    (word, index) =>
      isNumber(word) &&
      (english.counted.at(words, index + 1) > 0 || (words[index - 1] === "of" && ["party", "group"].includes(words[index - 2] ?? ""))),
  );
  const count = words[at] ?? (verb === "be" && restWords.length <= 2 && isNumber(restWords[0]) ? restWords[0] : undefined);
  if (count === undefined || !usual || read.who.kind === "companion") return null;
  const bare = verb === "be" || verb === "";
  return { about: count, category: "party_size", aspect: "party size", ...(bare && { text: `Usually a party of ${count}` }) };
};

/** "I've got three kids", "I travel with two toddlers", "it's nearly always just me and my sister", "my mother is always with us". */
export const company: Form = ({ read, own, negated, usual, verb, words, restWords }) => {
  const at = restWords.findIndex((_, index) => relationAt(restWords, index) !== undefined);
  const relation = relationAt(restWords, at)?.relation ?? "";
  if (negated || words.length > MAX_COMPANY_WORDS) return null;
  if (read.who.kind === "companion")
    return usual && (words.includes("me") || words.includes("us")) ? { about: read.who.relation, category: "companions" } : null;
  const counted = verb === "have" && (isNumber(restWords[0]) || /^\d/u.test(restWords[0] ?? "") || restWords[0] === "a");
  const along = english.join.has(verb) && words.includes("with");
  const told = own ? counted || along : usual && words.includes("me") && read.who.kind === "other";
  return at === -1 || !told
    ? null
    : { about: restWords[at] ?? "", category: "companions", aspect: relation, ...(!own && { text: asSaid(read.clause.text) }) };
};

/** "I'm Hilton Diamond", "Flying Blue Gold here", "my railcard …", "I've a season ticket". */
export const loyalty: Form = ({ read, own, thing, negated, plain, vocabulary, rest, verb }) => {
  const begin = plain.slice(0, 8);
  if (negated || !vocabulary.has("loyalty", begin) || (read.who.kind !== "self" && read.who.kind !== "nobody")) return null;
  const about = verb === "be" || verb === "have" ? rest : plain.join(" ");
  if (own && (verb === "be" || verb === "have") && begin.length <= 8) return { about, category: "loyalty" };
  const card = begin.findIndex((word) => english.cards.has(word));
  const mine = thing !== "" && card !== -1;
  const held = mine ? `Has a ${thingIn(read, plain.slice(1, card + 1))}` : asSaid(read.clause.text);
  return mine || (read.who.kind === "nobody" && read.clause.index === 0 && plain.length > 1 && plain.length <= 6 && verb === "")
    ? { about, text: held, category: "loyalty" }
    : null;
};

/** "Only contact me by text", "email me instead", "call me Theo" is none. */
export const channel: Form = ({ read, words, plain }) => {
  const way = words.find((word) => english.contact.has(word));
  const only = read.standing || ["only", "just", "always", "instead", "never", "not"].some((word) => words.includes(word));
  const asks = ["if", "when", "i", "you"].some((word) => words.includes(word)) || words.length > 10;
  if (way === undefined || !only || asks || !(words.includes("me") || plain.length <= 4)) return null;
  return { about: way, text: asSaid(read.clause.text), category: "communication", aspect: "channel" };
};

/** "I always take the aisle", "we come by car", "I don't drink": an action in the present tense is a habit. */
export const habit: Form = ({
  read,
  own,
  someone,
  usual,
  verb,
  adverbs,
  auxiliaries,
  negated,
  rest,
  restWords,
  tellsOf,
  vocabulary,
  words,
}) => {
  const regular = usual || adverbs.includes("only");
  const action = verb !== "" && !english.states.has(verb);
  const isOwnState = usual && own && verb !== "" && (verb !== "be" || (often(words) && !negated)) && (tellsOf || rest === "");
  if (!someone || !(action || isOwnState) || (restWords.length > 0 && restWords.length < 3 && !tellsOf)) return null;
  if (auxiliaries.some((word) => !["do", "does"].includes(word)) && verb !== "be") return null;
  const category = vocabulary.categoryOf(restWords);
  const shuns = negated && auxiliaries.length > 0 && english.shunned.is(verb);
  if (negated && !regular && !shuns) return null;
  // Of others, and by itself, only what is known to last: "he snores", "I drink".
  if (!regular && !shuns && (rest === "" || !own || category === undefined) && !english.take.has(verb)) return null;
  if (!own && rest === "" && (usual || !english.take.has(verb))) return null;
  // What has no place among the categories is small talk as often as not: "I always get lost".
  if (
    category === undefined &&
    (read.laughs || (!action && !often(words)) || restWords.length > MAX_PLAIN || (negated && !shuns && !words.includes("never")))
  )
    return null;
  return { about: rest === "" ? verb : rest, ...(category !== undefined && { category }) };
};

/** "Window seat always", "no ground floor please", "nothing before 11", "never on Mondays", "front rows for me". */
export const bare: Form = ({ read, plain, vocabulary }) => {
  const { who, language, standing, goesOn, clause, laughs } = read;
  if (
    who.kind !== "nobody" ||
    english.nothings.has(plain[1]) ||
    plain.length < 2 ||
    plain.length > MAX_BARE_WORDS ||
    english.requests.in(plain) !== -1
  )
    return null;
  const [first = "", second = ""] = plain;
  const thing = plain.filter((word) => !english.seldom.is(word) && !english.tails.is(word) && !["no", "not", "for", "me"].includes(word));
  const category = vocabulary.categoryOf(plain);
  const bounded = english.bounds.is(second);
  const forMe = plain.at(-1) === "me" && plain.at(-2) === "for";
  const always = clause.words.some((word) => english.seldom.has(word)) || language.always.in(clause.words) !== -1;
  const shown = plain.some((word) => word === "one" || /^\d+(?:st|nd|rd|th)$/u.test(word));
  const polite = forMe || /\b(?:please|pls|ever)\b/iu.test(clause.text);
  const refused = first === "no" && plain.length <= 3 && (polite || (clause.index > 0 && category !== undefined));
  const ruledOut = (first === "nothing" && bounded) || (["never", "not"].includes(first) && (bounded || second === "the"));
  const says = !plain.some((word) => english.be.is(word));
  const known = category !== undefined && (always || ruledOut || refused || (says && (forMe || standing || goesOn)));
  const plainly = (refused && plain.length === 2) || (first === "nothing" && bounded) || (first === "never" && plain.includes("me"));
  if (shown || !(known || (plainly && !laughs))) return null;
  return {
    about: thing.join(" "),
    text: asSaid(clause.text),
    ...(category !== undefined && { category }),
    ...(category === "seating" && { aspect: "position" }),
  };
};
