import type { MemoryCommand } from "maitred";
import { BROUGHT, folded, ownText, type WordList } from "maitred/stand-in";
import commandWords from "./data/commands.json" with { type: "json" };
import { anyLanguage, relationAt } from "./reading/language.js";
import { wordLists } from "./reading/word-lists.js";

/*
 * Commands about memory, found by words: what the stand-in has instead of a model that understands them. Plain forms of some languages.
 * Conservative: what could be small talk or a request ("don't forget to book", "forget it, take the other one") is none.
 */
/** A command and where it stands in the message: UTF-16 units, end exclusive. */
export interface FoundCommand {
  readonly command: MemoryCommand;
  readonly start: number;
  readonly end: number;
}

const lists = wordLists(commandWords);

/** Of a message; what is beyond is not read. */
const MAX_CHARS = 2_000;
/** What may follow "off the record" in its clause: "this time please". */
const MAX_AFTER = 3;
/** "Take the halal thing off my profile": words of what is taken. */
const MAX_TAKEN = 7;
/** "Thanks, by the way, …" before a command. */
const MAX_POLITE_WORDS = 4;

/** All commands in the message, in order; one that nothing be kept comes first. Quoted and pasted text is not searched. */
export function commandsOf(message: string): readonly FoundCommand[] {
  const own = ownText(message.slice(0, MAX_CHARS).replace(/[\u2018\u2019\u02BC]/g, "'"));
  const found: FoundCommand[] = [];
  let at = 0;
  for (const sentence of own.split(/(?<=[.!?…])\s|\n/u)) {
    if (!sentence.includes(BROUGHT)) found.push(...inSentence(sentence, at));
    at += sentence.length + 1;
  }
  const keepsOut = ({ command }: FoundCommand) => command.kind === "do_not_remember";
  return [...found.filter(keepsOut), ...found.filter((each) => !keepsOut(each))];
}

/** The message without the words that ask to keep it out of memory: "Don't remember this: …". `found`: its commands. */
export function besidesKeepOut(message: string, found: readonly FoundCommand[]): string {
  let text = message;
  for (const { command, start, end } of found.toReversed())
    if (command.kind === "do_not_remember") text = `${text.slice(0, start)} ${text.slice(end)}`;
  return text.replace(/^[\s,;:.!?–—-]+/u, "").trim();
}

function inSentence(sentence: string, at: number): FoundCommand[] {
  const asks = sentence.trimEnd().endsWith("?");
  const found: FoundCommand[] = [];
  // A clause begins behind a mark; "but remember that …" behind a joining word, which is polite.
  const marks = sentence.matchAll(/[,;:–—]\s|\s-\s|\s(?=(?:but|and|so|aber|mais|pero|ma)\s)/gu);
  const starts = [0, ...[...marks].map(({ index, 0: mark }) => index + mark.length)];
  for (const [index, start] of starts.entries()) {
    const clause = sentence.slice(start, starts[index + 1]);
    const command = commandAt(clause, sentence.slice(start), asks);
    if (command === null) continue;
    // "Book two seats, and note that …" is a request first.
    const before = wordsOf(sentence.slice(0, start)).map(({ word }) => word);
    const first = found.length > 0 || (before.length <= MAX_POLITE_WORDS && !before.some((word) => lists.of_bookings.has(word)));
    if (!first && (command.kind === "remember" || command.kind === "forget")) continue;
    // "My boss said: …"
    if (anyLanguage("bringing", before)) break;
    const { length, ...asked } = command;
    found.push({ command: asked, start: at + start, end: at + start + length });
    // What is to be remembered or forgotten reaches over the marks in it.
    if (length > clause.length) break;
  }
  return found;
}

/** How many UTF-16 units of the text the command takes. */
type Sized = MemoryCommand & { readonly length: number };

/** The command that a clause begins with; `rest`: the clause and all that follows in its sentence. */
function commandAt(clause: string, rest: string, asks: boolean): Sized | null {
  const all = wordsOf(rest);
  const words = all.map(({ word }) => word);
  let end = wordsOf(clause).length;
  let from = 0;
  while (from < end && isPolite(words, from)) from += lists.polite.at(words, from);
  while (end > from && (lists.polite.has(words[end - 1]) || lists.after_me.has(words[end - 1]))) end--;
  const own = words.slice(from, end);
  const whole = (list: WordList) => own.length > 0 && list.at(own, 0) === own.length;
  const raw = (word: number) => trimmed(rest.slice(all[word]?.start ?? rest.length));
  const { length } = clause;

  if (keepsOut(own)) return { kind: "do_not_remember", length };
  if (whole(lists.list)) return { kind: "list", length };
  const about = lists.list_about.at(own, 0);
  const asked = about === 0 ? undefined : personIn(raw(from + about));
  if (asked !== undefined) return { kind: "list", whom: asked, length };
  if (whole(lists.forget_all)) return { kind: "forget_all", length };
  if (whole(lists.forget_that)) return { kind: "forget_that", length };
  // "Could you forget …?" asks for it; "did you forget …?" asks whether.
  if (asks && !words.slice(0, from).some((word) => word === "you" || word === "du")) return null;
  if (whole(lists.no_longer)) return { kind: "no_longer", what: "", length };
  const that = lists.no_longer_that.at(own, 0);
  if (that > 0) return { kind: "no_longer", what: raw(from + that), length: rest.length };
  const notKept = notKeptAt(all.slice(from), own, rest);
  if (notKept !== null) return notKept;
  let next = from + lists.remember.at(words, from);
  if (next === from) return forgetAt(all, words, from, rest);
  while (lists.goes_on.has(words[next]) || lists.polite.has(words[next])) next++;
  const colon = rest.slice(all[next - 1]?.end ?? 0, all[next]?.start).includes(":");
  const tells = next < words.length && (colon || lists.of_mine.has(words[next]));
  return tells ? { kind: "remember", text: raw(next), length: rest.length } : null;
}

/** "That's between us", "you needn't write that down in your files". */
function keepsOut(own: readonly string[]): boolean {
  for (const from of [0, lists.it_is.at(own, 0)]) {
    const found = lists.do_not_remember.at(own, from);
    if (found > 0 && own.length - from - found <= (lists.between.in(own) === -1 ? MAX_AFTER : 0)) return true;
  }
  const verb = keepingDeniedAt(own);
  const points = verb === 0 ? 0 : lists.points.at(own, verb);
  return points > 0 && own.slice(verb + points).every((word) => lists.filed.has(word) || lists.polite.has(word));
}

/** How many words "you don't need to save" takes; 0: none. */
function keepingDeniedAt(words: readonly string[]): number {
  const not = lists.asks_not.at(words, 0);
  const keeps = not === 0 ? 0 : lists.keeps.at(words, not);
  return keeps === 0 ? 0 : not + keeps;
}

/** What is held may be a room. */
const HOLDING = new Set(["keep", "hold", "retain", "write"]);

/** "Don't save where I live", "can you not keep stuff about my husband", "take the halal thing off my profile". */
function notKeptAt(all: readonly Word[], own: readonly string[], rest: string): Sized | null {
  const taking = lists.takes_off.at(own, 0);
  const files = taking === 0 ? -1 : lists.off_files.in(own);
  if (files > taking && files <= taking + MAX_TAKEN)
    return { kind: "forget", what: rest.slice(all[taking]?.start, all[files]?.start).trim(), length: all[own.length - 1]?.end ?? 0 };
  const verb = keepingDeniedAt(own);
  const about = verb === 0 ? 0 : lists.talks_about.at(own, verb);
  const first = all[verb + about];
  const told =
    lists.things.in(own.slice(verb)) !== -1 ||
    (lists.of_mine.has(own[verb]) && (own[verb] === "where" || !HOLDING.has(own[verb - 1] ?? "")));
  if (verb === 0 || first === undefined || !(told || about > 0) || own.slice(verb).some((word) => lists.of_bookings.has(word))) return null;
  const end = all[own.length - 1]?.end ?? rest.length;
  return { kind: "forget", what: rest.slice(first.start, end), length: end };
}

function isPolite(words: readonly string[], at: number): boolean {
  return lists.polite.at(words, at) > 0 && lists.remember.at(words, at) === 0 && lists.forget.at(words, at) === 0;
}

/** To forget what is the guest's own, what they told "about" something, or "the jazz thing"; never a plan, a booking, or a mere "it". */
function forgetAt(all: readonly Word[], words: readonly string[], from: number, rest: string): Sized | null {
  const verb = lists.forget.at(words, from);
  let next = from + verb;
  while (lists.goes_on.has(words[next])) next++;
  const first = all[next];
  if (verb === 0 || first === undefined) return null;
  // Where the guest goes on to something else.
  const on = /[,;–—]\s|\s(?:but|aber|mais|pero|ma)\s/u.exec(rest.slice(first.start));
  const end = on === null ? rest.length : first.start + on.index;
  const said = words.slice(next + 1).filter((_, index) => (all[next + 1 + index]?.start ?? 0) < end);
  const about = verb >= 4 || (verb >= 2 && ["about", "mentioned"].includes(words[from + verb - 1] ?? ""));
  const isKept = about || lists.of_mine.has(first.word) || lists.things.has(said.at(-1));
  const others = ["i", "we", "i'm", "i've"].includes(first.word) ? lists.plans : lists.of_bookings;
  const pointsOnly = said.length === 0 && ["it", "that", "this", "me", "them"].includes(first.word);
  if (pointsOnly || !isKept || said.some((word) => others.has(word))) return null;
  const what = trimmed(rest.slice(first.start, end));
  const whom = about ? personIn(what) : undefined;
  return { kind: "forget", what, ...(whom !== undefined && { whom }), length: end };
}

/** "My mum", "Emma": nobody but that. */
function personIn(what: string): string | undefined {
  const all = wordsOf(what);
  while (all.length > 1 && lists.polite.has(all.at(-1)?.word)) all.pop();
  const words = all.slice(lists.of_mine.has(all[0]?.word) ? 1 : 0).map(({ word }) => word);
  const relation = relationAt(words, 0);
  if (relation?.length === words.length) return relation.relation;
  return all.length === 1 && /^\p{Lu}/u.test(what) ? what.slice(0, all[0]?.end) : undefined;
}

function trimmed(text: string): string {
  return text.replace(/[\s.!?…]+$/u, "");
}

interface Word {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

function wordsOf(text: string): Word[] {
  return [...text.matchAll(/[\p{L}\p{M}\p{N}]+(?:['-][\p{L}\p{M}\p{N}]+)*/gu)].map(({ index, 0: word }) => ({
    word: folded(word),
    start: index,
    end: index + word.length,
  }));
}
