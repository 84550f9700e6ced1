import { type Span, wordsOf } from "../../domain/compared-words.js";
import { folded } from "../../domain/folded-text.js";
import type { MessageToRead } from "../../ports/extraction.js";
import type { SaidWords } from "./said-words.js";

/**
 * Whether numbers and links of a text stand in what was said, and names in one of `named`. Names are words with a capital that don't begin
 * a sentence.
 */
export function isFaithful(text: string, said: string, named: readonly SaidWords[]): boolean {
  return numbersStand(text, said) && linksStand(text, said) && namesStand(text, named);
}

/** "1,000", "1'000" and "1 000" are one number. */
const GROUPING = /(?<=\p{Nd})[.,' ](?=\p{Nd}{3})/gu;

function numbersStand(text: string, said: string): boolean {
  const asWritten = numbersOf(text);
  if (asWritten.length === 0) return true;
  const known = new Set([...numbersOf(said), ...numbersOf(said.replace(GROUPING, ""))]);
  const stand = (numbers: readonly string[]) => numbers.every((number) => known.has(number));
  return stand(asWritten) || stand(numbersOf(text.replace(GROUPING, "")));
}

function numbersOf(text: string): readonly string[] {
  return (text.normalize("NFKC").match(/\p{Nd}+/gu) ?? []).map((digits) => digits.replace(/^0+(?=.)/u, ""));
}

function linksStand(text: string, said: string): boolean {
  const links = text.split(/\s+/u).filter((token) => token.includes("://") || token.includes("@") || /^www\./iu.test(token));
  if (links.length === 0) return true;
  const known = folded(said);
  return links.every((link) => known.includes(folded(link)));
}

const WORD = /[\p{L}\p{N}'’-]+/gu;
const SENTENCE_ENDS = ".!?:\n。！？";

/** Words with a capital that don't begin a sentence: in German every noun, which then must have been said too. */
function namesIn(text: string): readonly string[] {
  return [...text.matchAll(WORD)].flatMap(({ 0: word, index }) => {
    const before = text.slice(Math.max(0, index - 4), index).replace(/[\s"'“”„«»(]/gu, "");
    const begins = index === 0 || before === "" ? text.slice(0, index).trim() === "" : SENTENCE_ENDS.includes(before.at(-1) ?? "");
    return /^\p{Lu}/u.test(word) && !begins ? [word] : [];
  });
}

/** Different words of each that names are looked for among: its first ones. */
const MAX_SAID_WORDS = 2_000;

function namesStand(text: string, named: readonly SaidWords[]): boolean {
  return namesIn(text.slice(0, 500)).every((name) =>
    wordsOf(name).every(({ text: part }) => named.some((said) => said.hasFormOf(part, MAX_SAID_WORDS))),
  );
}

/** A longer quote speaks for itself. */
const MAX_ANSWER_WORDS = 12;
/** Of the assistant's message, its end. */
const MAX_QUESTION_CHARS = 600;
/** Quotation marks and brackets that stand before a sentence's end. */
const MAX_CLOSING = 8;
const QUESTION_MARK = /[?？؟՞\u037e]/u;

/** Whether a stretch ends with the sentence that it is in, and that asks. */
export function isAsked(text: string, { start, end }: Span): boolean {
  const last = [text.slice(start, end), text.slice(end, end + MAX_CLOSING)].map((part) => part.trim());
  return QUESTION_MARK.test(last[0]?.at(-1) ?? "") || QUESTION_MARK.test(last[1]?.replace(/^[\p{Pe}\p{Pf}"'\s]+/u, "")[0] ?? "");
}

/** The assistant's last message where it asks something; empty where nothing was asked. */
export function questionBefore(message: Pick<MessageToRead, "context">): string {
  const last = message.context.at(-1);
  if (last?.role !== "assistant") return "";
  const end = last.content.slice(-MAX_QUESTION_CHARS);
  // The sentence that asks and the one before it: "A vegetarian menu for both? As always?"
  const sentences = end.split(/(?<=[.!?？؟。！\n])/u);
  return sentences.filter((sentence, i) => QUESTION_MARK.test(sentence) || QUESTION_MARK.test(sentences[i + 1] ?? "")).join(" ");
}

/** The question, where the quote is short enough to be its answer: "yes, always". */
export function questionAnswered(question: string, quote: string): string {
  return wordsOf(quote.slice(0, 400)).length <= MAX_ANSWER_WORDS ? question : "";
}
