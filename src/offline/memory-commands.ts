import { BROUGHT, ownText } from "../platform/own-text.js";
import { folded, WordList } from "../platform/phrase-list.js";
import type { MemoryCommand } from "../ports/offline-script.js";
import commandWords from "./data/commands.json" with { type: "json" };
import { anyLanguage } from "./reading/language.js";

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

const lists = Object.fromEntries(Object.entries(commandWords).map(([name, words]) => [name, new WordList(words)])) as Readonly<
  Record<keyof typeof commandWords, WordList>
>;

/** Of a message; what is beyond is not read. */
const MAX_CHARS = 2_000;
/** What may follow "don't keep that" in its clause: "anywhere please". */
const MAX_AFTER = 3;
const MAX_THING_WORDS = 4;
/** "Thanks, by the way, …" before a command. */
const MAX_POLITE_WORDS = 4;

interface Word {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** The first command in the message, or null. Quoted and pasted text is not searched. */
export function commandOf(message: string): MemoryCommand | null {
  return commandsOf(message)[0]?.command ?? null;
}

/** All commands in the message, in order; one that nothing be kept comes first. */
export function commandsOf(message: string): readonly FoundCommand[] {
  const own = ownText(message.slice(0, MAX_CHARS).replace(/[\u2018\u2019\u02BC]/g, "'"));
  const found: FoundCommand[] = [];
  let at = 0;
  for (const sentence of own.split(/(?<=[.!?…])\s|\n/u)) {
    if (!sentence.includes(BROUGHT)) found.push(...inSentence(sentence, at));
    at += sentence.length + 1;
  }
  const kept = found.filter(({ command }) => command.kind === "do_not_remember");
  return kept.length === 0 ? found : [...kept, ...found.filter((each) => !kept.includes(each))];
}

/** The message without the words that ask to keep it out of memory: "Don't remember this: …". `found`: its commands. */
export function besidesKeepOut(message: string, found: readonly FoundCommand[]): string {
  let text = message;
  for (const { command, start, end } of found.toReversed())
    if (command.kind === "do_not_remember") text = `${text.slice(0, start)} ${text.slice(end)}`;
  return text.replace(/^[\s,;:.!?–—-]+/u, "").trim();
}

/** What of a message tells something: without what asks to forget, and empty where nothing is to be kept. */
export function toldIn(message: string): string {
  const found = commandsOf(message);
  if (found[0]?.command.kind === "do_not_remember") return "";
  let text = message;
  for (const { command, start, end } of found.toReversed()) {
    if (command.kind === "forget" || command.kind === "forget_all") text = `${text.slice(0, start)} ${text.slice(end)}`;
    else if (command.kind === "remember") text = `${text.slice(0, start)} ${command.text}. ${text.slice(end)}`;
  }
  return text.replace(/^[\s,;:–—-]+/u, "").trim();
}

function inSentence(sentence: string, at: number): FoundCommand[] {
  const asks = sentence.trimEnd().endsWith("?");
  const found: FoundCommand[] = [];
  // A clause begins behind a mark; "but remember that …" behind a joining word, which is polite.
  const starts = [
    0,
    ...[...sentence.matchAll(/[,;:–—]\s|\s-\s|\s(?=(?:but|and|aber|mais|pero|ma)\s)/gu)].map(({ index, 0: mark }) => index + mark.length),
  ];
  for (const [index, start] of starts.entries()) {
    const clause = sentence.slice(start, starts[index + 1]);
    const command = commandAt(wordsOf(clause), wordsOf(sentence.slice(start)), clause, sentence.slice(start), asks);
    if (command === null) continue;
    // "Book two seats, and note that …" is a request first.
    const before = wordsOf(sentence.slice(0, start)).map(({ word }) => word);
    const first = found.length > 0 || (before.length <= MAX_POLITE_WORDS && !before.some((word) => lists.of_bookings.has(word)));
    const kind = command.commands[0]?.kind;
    if (!first && (kind === "remember" || kind === "forget")) continue;
    // "My boss said: …"
    if (anyLanguage("bringing", before)) break;
    found.push(...command.commands.map((each) => ({ command: each, start: at + start, end: at + start + command.length })));
    // What is to be remembered or forgotten reaches over the marks in it.
    if (command.reaches) break;
  }
  return found;
}

interface At {
  readonly commands: readonly MemoryCommand[];
  readonly length: number;
  readonly reaches: boolean;
}

function commandAt(clause: readonly Word[], all: readonly Word[], text: string, rest: string, asks: boolean): At | null {
  let from = 0;
  const plain = clause.map(({ word }) => word);
  const words = all.map(({ word }) => word);
  while (from < plain.length && isPolite(plain, from)) from += lists.polite.at(plain, from);
  let end = plain.length;
  while (end > from && lists.polite.has(plain[end - 1])) end--;
  const own = plain.slice(from, end);
  const whole = (list: WordList) => own.length > 0 && list.at(own, 0) === own.length;
  const one = (command: MemoryCommand, reaches = false): At => ({
    commands: [command],
    length: reaches ? rest.length : text.length,
    reaches,
  });

  const keepOut = lists.do_not_remember.at(own, 0);
  if (keepOut > 0 && own.length - keepOut <= (own.includes("between") || own.includes("unter") || own.includes("entre") ? 0 : MAX_AFTER))
    return one({ kind: "do_not_remember" });
  if (whole(lists.list) || asksForAll(own)) return one({ kind: "list" });
  if (whole(lists.forget_all) || forgetsAll(own)) return one({ kind: "forget_all" });
  if (asks && !startsPolitely(plain, from)) return null;
  if (whole(lists.no_longer)) return one({ kind: "no_longer", what: "" });
  const that = lists.no_longer_that.at(own, 0);
  const raw = (word: number, to = rest.length) => rest.slice(all[word]?.start ?? rest.length, to).replace(/[\s.!?…]+$/u, "");
  if (that > 0) return one({ kind: "no_longer", what: raw(from + that) }, true);
  const remember = lists.remember.at(words, from);
  if (remember > 0) {
    let next = from + remember;
    while (lists.goes_on.has(words[next]) || lists.polite.has(words[next])) next++;
    const colon = rest.slice(all[next - 1]?.end ?? 0, all[next]?.start).includes(":");
    if (next < words.length && (colon || lists.of_mine.has(words[next]))) return one({ kind: "remember", text: raw(next) }, true);
  }
  return forgetAt(words, all, from, rest);
}

/** To be shown what is known "about me", however it is put together. */
function asksForAll(words: readonly string[]): boolean {
  let end = words.length;
  while (end > 0 && lists.after_me.has(words[end - 1])) end--;
  return lists.asks.at(words, 0) > 0 && lists.about_me.at(words, end - 2) > 0 && lists.knows.in(words) !== -1 && words.includes("you");
}

/** "Delete everything you know about me". */
function forgetsAll(words: readonly string[]): boolean {
  const verb = lists.forget.at(words, 0);
  if (verb === 0 || !words.slice(verb, verb + 2).some((word) => lists.all.has(word))) return false;
  return words.length - verb === 1 || lists.all_of_me.has(words.at(-1));
}

function isPolite(words: readonly string[], at: number): boolean {
  return lists.polite.at(words, at) > 0 && lists.remember.at(words, at) === 0 && lists.forget.at(words, at) === 0;
}

/** "Could you forget …?" asks for it; "did you forget …?" asks whether. */
function startsPolitely(words: readonly string[], from: number): boolean {
  return from > 0 && words.slice(0, from).some((word) => word === "you" || word === "du");
}

function forgetAt(words: readonly string[], all: readonly Word[], from: number, rest: string): At | null {
  const verb = lists.forget.at(words, from);
  if (verb === 0) return null;
  let next = from + verb;
  while (lists.goes_on.has(words[next])) next++;
  const first = words[next];
  if (first === undefined) return null;
  const start = all[next]?.start ?? 0;
  // Where the guest goes on to something else.
  const on = /[,;–—]\s|\s(?:but|aber|mais|pero|ma)\s/u.exec(rest.slice(start));
  const end = on === null ? rest.length : start + on.index;
  const said = words.slice(next).filter((_, index) => (all[next + index]?.start ?? 0) < end);
  const what = rest.slice(start, end).replace(/[\s.!?…]+$/u, "");
  const about = verb >= 4 || (verb >= 2 && words[from + verb - 1] === "about");
  const the = ["the", "that", "this", "those", "these"].includes(first);
  if (
    said.some((word) => (["i", "we", "i'm", "i've"].includes(first) ? lists.plans : lists.of_bookings).has(word) && word !== first) ||
    (said.length === 1 && ["it", "that", "this", "me", "them"].includes(first))
  )
    return null;
  const thing =
    the && lists.things.has(said.at(-1))
      ? said.length - (["thing", "stuff", "business", "bit", "part"].includes(said.at(-1) ?? "") ? 1 : 0)
      : 0;
  if (thing > 1 && thing <= MAX_THING_WORDS + 1) {
    const last = all[next + thing - 1]?.end ?? end;
    return { commands: [{ kind: "forget", what: rest.slice(all[next + 1]?.start, last) }], length: end, reaches: false };
  }
  if (the && said.length <= MAX_THING_WORDS && words[from] === "you")
    return {
      commands: [{ kind: "forget", what: rest.slice(all[next + 1]?.start, end).replace(/[\s.!?…]+$/u, "") }],
      length: end,
      reaches: false,
    };
  const fromMemory = withoutPlace(what) !== what;
  if (!lists.of_mine.has(first) && !about && !fromMemory) return null;
  return { commands: thingsIn(withoutPlace(what)).map((each) => ({ kind: "forget", what: each })), length: end, reaches: false };
}

/** "My phone number from your memory". */
function withoutPlace(what: string): string {
  const words = wordsOf(what);
  const from = words.at(-3);
  if (from === undefined || !["from", "of", "off"].includes(from.word) || !lists.places.has(words.at(-1)?.word)) return what;
  return what.slice(0, from.start).trim();
}

const MAX_SHORT_WORDS = 3;

/** "My address and my phone number" are two; "my wife and my kids like jazz" is one. */
function thingsIn(what: string): readonly string[] {
  const parts = what.split(/\s(?:and|und|et|y|e)\s/u);
  const apart =
    parts.every((part) => wordsOf(part).length <= MAX_SHORT_WORDS) ||
    parts.slice(1).every((part) => /^(?:that|dass|where|que)\s/u.test(part));
  return (apart ? parts : [what]).map((each) => each.replace(/^(?:that|dass)\s/u, "").trim()).filter((each) => each.length > 1);
}

function wordsOf(text: string): readonly Word[] {
  return [...text.matchAll(/[\p{L}\p{M}\p{N}]+(?:['-][\p{L}\p{M}\p{N}]+)*/gu)].map(({ index, 0: word }) => ({
    word: folded(word),
    start: index,
    end: index + word.length,
  }));
}
