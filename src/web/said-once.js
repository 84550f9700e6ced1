import { marked } from "./marked.js";

/**
 * An answer for everyone names what it found in a list; the page shows the same as cards. Here the list's lines are taken out of the
 * text, so that each thing is said once, and what a line says beyond its card is kept for the card.
 */

const WORDS = /[\p{L}\p{N}]+/gu;
/** A shorter word is no abbreviation. */
const SHORTEST = 3;

const wordsOf = (text) => text.toLowerCase().match(WORDS) ?? [];

/** All words of a card: its values, and what they are called. */
function wordsIn(value) {
  if (typeof value === "string" || typeof value === "number") return wordsOf(String(value));
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([name, inner]) => [...wordsOf(name.replaceAll("_", " ")), ...wordsIn(inner)]);
}

const plainOf = (token) => (token.tokens ? token.tokens.map(plainOf).join(" ") : (token.text ?? token.raw ?? ""));

/** What of a line its card doesn't show: the empty string where it is nothing. */
function beyond(line, card) {
  const known = wordsIn(card);
  const isKnown = (word) =>
    known.some((each) => each === word || (word.length >= SHORTEST && each.startsWith(word))) || word.length < SHORTEST || word === "from";
  const parts = line.split(/ [-–—·|] |[,;()]|: |\n|\. /u).map((part) => part.trim());
  return parts.filter((part) => !wordsOf(part).every(isKnown)).join(", ");
}

/** In words that a card doesn't have; with more of them a sentence says something of its own. */
const MOST_OWN_WORDS = 6;
const MOST_OWN_WORDS_SHORT = 3;

/** Whether a sentence only tells again what one card shows: what it is of and two things more, or next to nothing else. */
function tellsAgain(sentence, card) {
  const text = sentence.toLowerCase();
  const facts = FACTS.flatMap((name) => (card[name] === undefined || card[name] === null ? [] : [String(card[name]).toLowerCase()]));
  const told = facts.filter((fact) => text.includes(fact)).length;
  const known = new Set(wordsIn(card));
  const own = wordsOf(sentence).filter((word) => word.length >= SHORTEST && !known.has(word)).length;
  return text.includes(card.title.toLowerCase()) ? told >= 2 && own <= MOST_OWN_WORDS : told >= 1 && own <= MOST_OWN_WORDS_SHORT;
}

const FACTS = ["venue", "section", "time", "day", "total", "total_eur", "reference"];

/** Whether a sentence only says what the answer went by, which stands above it. */
function tellsReasons(sentence, reasons) {
  const text = sentence.toLowerCase();
  const told = reasons.map((reason) => reason.toLowerCase()).filter((reason) => text.includes(reason));
  const known = new Set(told.flatMap(wordsOf));
  const own = wordsOf(sentence).filter((word) => word.length >= SHORTEST && !known.has(word)).length;
  return told.length > 0 && own <= MOST_OWN_WORDS;
}

/** A paragraph without the sentences that only tell an offer or a booking again, or what the answer went by. */
function withoutTold(raw, cards, reasons) {
  const sentences = raw.split(/(?<=[.!?])\s+/u);
  const left = sentences.filter((sentence) => !tellsReasons(sentence, reasons) && !cards.some((card) => tellsAgain(sentence, card)));
  return left.length === sentences.length ? raw : left.join(" ");
}

/**
 * `cards`: what cards show, as objects with a `title`; `reasons`: the texts of the memories above the answer. Gives the text before and
 * after the list, and by title what the lines say beyond their cards. Text that doesn't list them comes back whole, as `before`.
 */
export function saidOnce(text, cards, reasons = []) {
  const titled = cards.filter((card) => typeof card.title === "string" && card.title !== "");
  if (titled.length === 0) return { before: text, after: "", notes: new Map() };
  const notes = new Map();
  let before = "";
  let after = "";
  let cut = false;
  // An event of a list is told of on purpose where it is not a line of a list.
  const offers = titled.filter((card) => card.quantity !== undefined && card.status !== "stopped");
  for (const token of marked.lexer(text)) {
    const lines = token.type === "list" ? token.items.map(plainOf) : [];
    const named = lines.map((line) => titled.find(({ title }) => line.toLowerCase().includes(title.toLowerCase())));
    if (lines.length > 0 && named.every((card) => card !== undefined)) {
      cut = true;
      for (const [index, card] of named.entries()) {
        const note = beyond(lines[index], card);
        if (note) notes.set(card.title, note);
      }
      continue;
    }
    const raw = token.type === "paragraph" ? withoutTold(token.raw, offers, reasons) : token.raw;
    if (cut) after += raw;
    else before += raw;
  }
  return { before: before.trim(), after: after.trim(), notes };
}
