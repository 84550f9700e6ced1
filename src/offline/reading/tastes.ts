import { asSaid } from "./draft.js";
import { english } from "./language.js";
import { type Form, thingIn } from "./said.js";

/** Forms of statements of what somebody likes, and what they don't. */

/** "I love jazz", "my husband doesn't like techno", "I can't stand crowds". */
export const taste: Form = ({ read, verb, rest, restWords, auxiliaries, negated, someone, tellsOf }) => {
  const unable = negated && auxiliaries.join() === "can" && english.borne.is(verb) && !restWords.includes("for");
  const likes = read.language.like.has(verb) || (read.language.dislike.has(verb) && !negated);
  if (!tellsOf || !(unable || (likes && !auxiliaries.includes("can")))) return null;
  // "Like" without a subject is as often "such as", "love waiting" a sigh.
  if (read.who.kind === "nobody" && restWords[0]?.endsWith("ing")) return null;
  return someone || (read.who.kind === "nobody" && (verb !== "like" || (negated && read.clause.index > 0))) ? { about: rest } : null;
};

/** "Big fan of …", "we're not keen on …", "she's into …". */
export const fond: Form = ({ plain, verb, someone, read }) => {
  const at = plain.findIndex((_, index) => english.fond.at(plain, index) > 0);
  if (at === -1 || at > 6 || !((someone && verb === "be") || read.who.kind === "nobody")) return null;
  const thing = plain.slice(at + english.fond.at(plain, at)).filter((word) => !english.tails.is(word));
  return thing.length === 0 || english.vague.at(thing, 0) > 0 || /^my$|ing$/u.test(thing[0] ?? "") ? null : { about: thingIn(read, thing) };
};

/** "Techno is my thing", "opera's not for me", "Sunday matinees suit me best", "the balcony is where we like to sit". */
export const suits: Form = ({ read, plain }) => {
  if (read.who.kind !== "nobody" && read.who.kind !== "other") return null;
  const at = plain.findIndex((_, index) => index > 0 && english.suits.at(plain, index) > 0);
  const theme = plain.slice(0, Math.max(0, at)).filter((word) => !/^(?:is|are|not|do)$/u.test(word) && !english.seldom.is(word));
  const [first = ""] = theme;
  // "The 8 pm one is not for me" is about what was shown; "the balcony is where we sit" lasts.
  const shown = english.shown.is(first) && plain[at + 1] !== "where";
  const last = theme.at(-1) ?? "";
  if (theme.length === 0 || theme.length > 5 || shown || !/^\p{L}{2,}/u.test(last) || english.stand_for.is(last)) return null;
  return { about: thingIn(read, theme), text: asSaid(read.clause.text) };
};

/** "My favourite band is Big Thief", "my usual is a table by the window", "my seat is always C12". */
export const favourite: Form = ({ read, own, thing, plain, usual }) => {
  const at = plain.findIndex((word) => word === "is" || word === "are");
  const named = plain.slice(0, 4).some((word) => english.favourite.has(word)) || (english.owned.has(thing) && usual);
  const about = plain.slice(at + 1);
  if (!named || own || at < 1 || at > 6 || about.length === 0 || english.vague.at(about, 0) > 0) return null;
  if (read.who.kind === "companion" || read.who.kind === "other") return null;
  return { about: thingIn(read, about), text: asSaid(read.clause.text), aspect: plain.slice(0, 4).join(" ") };
};

/** "For the future, I'd like to be near the exit". */
export const wished: Form = ({ read, own, verb, auxiliaries, negated, tellsOf, rest }) => {
  const wants = verb === "need" || verb === "want" || (verb === "like" && auxiliaries.includes("would"));
  if (!read.standing || !own || negated || !wants || !tellsOf) return null;
  return { about: rest, text: `${verb === "need" ? "Needs" : "Wants"} ${rest}` };
};

/** "I can't do Mondays", "we won't sit upstairs". */
export const refuses: Form = ({ own, negated, verb, auxiliaries, restWords, rest, tellsOf, vocabulary, read }) => {
  const unable = auxiliaries.join() === "can" && english.managed.has(verb);
  const refused = auxiliaries.join() === "will" && !english.states.has(verb);
  if (!(own || read.who.kind === "nobody") || !negated || !(unable || refused) || !tellsOf) return null;
  return vocabulary.categoryOf(restWords) === undefined ? null : { about: rest };
};

/** "I gave up alcohol", "I no longer drink": what ended is a statement of what holds now. */
export const ended: Form = ({ read, words, vocabulary }) => {
  const at = english.gave_up.in(words);
  const thing = words.slice(at + english.gave_up.at(words, at), at + 6);
  if (at === -1 || at > 4 || read.who.kind !== "self" || vocabulary.categoryOf(thing) === undefined) return null;
  return { text: `No longer: ${thing.slice(0, 4).join(" ")}`, about: thing[0] ?? "" };
};
