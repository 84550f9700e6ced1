import { accountNumbers, cardNumbers, spansOf } from "./account-numbers.js";
import { type Span, wordsOf } from "./compared-words.js";
import { folded } from "./folded-text.js";
import secretWords from "./secret-words.json" with { type: "json" };

/**
 * What must never become a memory, nor stand in a title: card and account numbers by their checksums, keys by their form, and what follows
 * a word such as "password" or "PIN". Linear in the text's length.
 */
export function secretsIn(text: string): readonly Span[] {
  return found(text).map(({ value }) => value);
}

/** In order, each value whole; a name that stands beside it with it. */
function found(text: string): readonly Named[] {
  const nameless = [...cardNumbers(text), ...accountNumbers(text), ...keys(text)].map((span) => ({ ...span, value: span }));
  const words = wordsOf(text);
  const clauseEnds = clauseEndsIn(words);
  const all: Named[] = [];
  let until = 0;
  let next = 0;
  for (const { start, end, value } of [...nameless, ...named(text, words)].toSorted((a, b) => a.start - b.start)) {
    while ((clauseEnds[next] ?? text.length) < value.end) next += 1;
    // Within another's value nothing goes on that isn't looked at already.
    const valueEnd = value.end <= until ? value.end : endOfValue(text, value, clauseEnds[next] ?? text.length);
    all.push({ start, end: Math.max(end, valueEnd), value: { start: value.start, end: valueEnd } });
    until = Math.max(until, valueEnd);
  }
  return all;
}

export function holdsSecret(text: string): boolean {
  return secretsIn(text).length > 0;
}

/** A value may go on behind its first word: up to white space, and where it is of words, to the end of its clause. */
const ENDS_VALUE = /^(?:\s|[,;.!?](?:\s|$)|[，。！？、；])/u;
const ENDS_CLAUSE = /^(?:\n|\s[-–—]\s|[,;.!?](?:\s|$)|[，。！？、；])/u;
const MARK = 3;

/** Where a value ends of which the first word is known. `last`: where it ends at the latest. */
function endOfValue(text: string, { start, end }: Span, last: number): number {
  const ends = /\p{N}/u.test(text.slice(start, end)) ? ENDS_VALUE : ENDS_CLAUSE;
  let at = end;
  while (at < last && !ends.test(text.slice(at, at + MARK))) at += 1;
  return at;
}

/** Where clauses end behind which another of the guest's begins ("swordfish and I'm vegan"), in order. */
function clauseEndsIn(words: Words): readonly number[] {
  return words.flatMap(({ text }, at) => {
    const before = words[at - 1];
    return before !== undefined && JOINS.has(text) && OWN.has(words[at + 1]?.text ?? "") ? [before.end] : [];
  });
}

const JOINS: ReadonlySet<string> = new Set(secretWords.joins);
/** Behind a joining word they begin another clause. As they are parted into words. */
const OWN: ReadonlySet<string> = new Set(secretWords["own clause"].map((word) => wordsOf(word)[0]?.text ?? word));

/** The text with "…" for each secret, with its name. Linear in the text's length. */
export function withoutSecrets(text: string): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of found(text)) {
    if (end <= at) continue;
    if (start >= at) parts.push(text.slice(at, start), "…");
    at = end;
  }
  parts.push(text.slice(at));
  return parts.join("");
}

/** What parts a key from what stands around it. */
const TOKEN = /[^\s"'`<>()[\]{},;|=:]+/gu;
const MAX_TOKEN_CHARS = 2_000;
const KEY_PREFIX = /^(?:sk|pk|rk|ghp|gho|ghs|xox[abprs]|glpat|npm|hf|AKIA|ASIA|AIza|ya29)[-_]?[A-Za-z0-9_-]{12}/u;
const WEB_TOKEN = /^eyJ[A-Za-z0-9_-]{10}/u;
const SOCIAL_SECURITY = /^\d{3}-\d{2}-\d{4}$/u;
/** Long, with small and capital letters and digits mixed. */
const MIN_OPAQUE = 20;

function keys(text: string): readonly Span[] {
  const token = ({ start, end }: Span) => text.slice(start, Math.min(end, start + MAX_TOKEN_CHARS));
  return [...spansOf(text, TOKEN).filter((span) => isKey(token(span))), ...blocks(text)];
}

function isKey(token: string): boolean {
  const bare = token.replace(/[.!?]$/u, "");
  if (KEY_PREFIX.test(bare) || (WEB_TOKEN.test(bare) && bare.includes(".")) || SOCIAL_SECURITY.test(bare)) return true;
  if (bare.length < MIN_OPAQUE || !/^[\w-]+$/u.test(bare)) return false;
  return /[a-z]/u.test(bare) && /[A-Z]/u.test(bare) && (bare.match(/\d/gu) ?? []).length >= 3;
}

/** Key files, and addresses with a password in them. */
function blocks(text: string): readonly Span[] {
  const spans: Span[] = [];
  for (let at = text.indexOf("-----BEGIN "); at !== -1; at = text.indexOf("-----BEGIN ", at + 1))
    if (/KEY|CERTIFICATE/u.test(text.slice(at, at + 60))) spans.push({ start: at, end: text.length });
  for (let at = text.indexOf("://"); at !== -1; at = text.indexOf("://", at + 1)) {
    const authority = text.slice(at + 3, at + 203).split(/[\s/]/u, 1)[0] ?? "";
    const [colon, sign] = [authority.indexOf(":"), authority.indexOf("@")];
    if (colon > 0 && sign > colon + 1) spans.push({ start: at, end: at + 3 + sign });
  }
  return spans;
}

const KINDS = ["passwords", "abbreviations", "codes", "numbers"] as const;
/**
 * What a secret's name says of its value. Of passwords it may be words behind a copula ("is"); of abbreviations as well, directly behind
 * them, as they mean other things, too. Behind a colon it may be any word, but of numbers, which have a digit. A number whose name is of
 * capitals has digits alone, behind a copula or a colon, where the name is written small.
 */
type Kind = (typeof KINDS)[number] | "small";

const isOfCapitals = (name: string) => /^[A-Z]+$/u.test(name);
/** By folded names; those of capitals are told as they are written. */
const NAMES: ReadonlyMap<string, Kind> = new Map(
  KINDS.flatMap((kind) =>
    secretWords[kind].flatMap((name): (readonly [string, Kind])[] =>
      isOfCapitals(name)
        ? [
            [folded(name), "small"],
            [name, kind],
          ]
        : [[folded(name), kind]],
    ),
  ),
);
/** Before an abbreviation, they make a password of it: "my pw for Netflix is …". */
const POSSESSIVES: ReadonlySet<string> = new Set(secretWords.possessives.map((word) => folded(word)));
/** As they are written, in small letters: accents tell "is" from "and". */
const COPULAS: ReadonlySet<string> = new Set(secretWords.copulas);
/** Behind these the next thing with a digit is the value, however short. */
const LINKS: ReadonlySet<string> = new Set(secretWords.links.map((word) => folded(word)));
/** Behind a name and a comma: "my password, it's …". */
const BACK: ReadonlySet<string> = new Set(secretWords.back.map((word) => folded(word)));
const IT = "it";
/** A code without a digit. */
const CAPITALS = /^\p{Lu}{4,}/u;
/** Before or in a name, they make a copula of "to": "I changed my password to …". */
const BEFORE_TO: ReadonlySet<string> = new Set(secretWords["before to"].map((word) => folded(word)));
/** Words of a name at most; in scripts without spaces, characters. */
const NAME_WORDS = 6;
/** Words from a name to the end of its value. */
const BETWEEN = 4;
/** Digits that are a value without a link. */
const MIN_DIGITS = 3;
const ONLY_DIGITS = /^\p{N}{4,}$/u;

interface Named extends Span {
  /** Its first word. */
  readonly value: Span;
}

/** A name of a secret, and what stands as its value beside it: what its {@link Kind} takes for one, or the next thing with a digit. */
function named(text: string, words: Words): readonly Named[] {
  const spans: Named[] = [];
  for (let i = 0; i < words.length; i++) {
    const name = nameAt(text, words, i);
    if (name === null) continue;
    const value = valueBehind(text, words, name) ?? valueElsewhere(text, words, name);
    if (value !== null) spans.push({ start: Math.min(name.start, value.start), end: Math.max(name.end, value.end), value });
    i = name.next - 1;
  }
  return spans;
}

type Words = ReturnType<typeof wordsOf>;

interface Name extends Span {
  readonly kind: Kind;
  /** Which word it begins with, and which is the first behind it. */
  readonly at: number;
  readonly next: number;
}

/** The longest name that begins here. */
function nameAt(text: string, words: Words, at: number): Name | null {
  let [spaced, joined] = ["", ""];
  let found: Name | null = null;
  const start = words[at]?.start ?? 0;
  for (const [n, word] of words.slice(at, at + NAME_WORDS).entries()) {
    spaced = n === 0 ? word.text : `${spaced} ${word.text}`;
    joined += word.text;
    const kind = NAMES.get(text.slice(start, word.end)) ?? NAMES.get(spaced) ?? NAMES.get(joined);
    if (kind !== undefined) found = { kind, at, next: at + n + 1, start, end: word.end };
  }
  return found;
}

/** Behind "my pw for …", or before a name that means nothing else. */
function valueElsewhere(text: string, words: Words, name: Name): Span | null {
  if (name.kind === "small") return null;
  if (name.kind !== "abbreviations") return digitsBefore(text, words, name.at);
  const isMine = POSSESSIVES.has(words[name.at - 1]?.text ?? "") && !isOfCapitals(text.slice(name.start, name.end));
  return isMine ? valueBehind(text, words, { ...name, kind: "numbers" }) : null;
}

function valueBehind(text: string, words: Words, { kind, at, next, end }: Name): Span | null {
  const colon = /^\s{0,3}[:=：]/u.test(text.slice(end, end + 5));
  const mayBeWords = kind === "passwords" || kind === "abbreviations";
  const isDirect = kind === "abbreviations" || kind === "small";
  const toIs = words.slice(Math.max(0, at - 3), next).some((word) => BEFORE_TO.has(word.text));
  let linked = colon;
  let isAnyWord = colon && kind !== "numbers" && kind !== "small";
  let commas = 0;
  let before = end;
  for (const word of words.slice(next, next + BETWEEN)) {
    const gap = text.slice(before, word.start);
    before = word.end;
    const apart = /[,;，、；]/u.test(gap);
    if ((/[.!?\n]/u.test(gap) && !linked) || (apart && isDirect)) return null;
    if (apart) commas += 1;
    if (kind === "small" && linked) return ONLY_DIGITS.test(word.text) ? word : null;
    if (/\p{N}/u.test(word.text) && (linked || (word.text.length >= MIN_DIGITS && (apart || commas === 0)))) return word;
    const isCopula = isWrittenCopula(text, word) || (toIs && word.text === "to");
    if (isDirect && !isCopula && (!isAnyWord || LINKS.has(word.text))) return null;
    // Another clause has a copula of its own, but "it's" that of the name; what is only said in passing ends with a second comma.
    const isBack = BACK.has(word.text) && commas <= 1;
    if (isBack || ((commas === 0 || linked) && (isCopula || LINKS.has(word.text))) || (isCopula && apart && commas === 2)) {
      isAnyWord ||= (isCopula || (isBack && word.text !== IT)) && mayBeWords;
      linked = true;
    } else if (isAnyWord || (linked && kind === "codes" && CAPITALS.test(text.slice(word.start, word.end)))) return word;
    else linked = false;
  }
  return null;
}

/** With the apostrophe that may stand for an accent. */
function isWrittenCopula(text: string, { start, end }: Span): boolean {
  return [end, end + 1].some((to) => COPULAS.has(text.slice(start, to).normalize("NFC").toLowerCase()));
}

/** "9031 is my PIN". */
function digitsBefore(text: string, words: Words, at: number): Span | null {
  for (let i = at - 1; i >= Math.max(0, at - 3); i--) {
    const word = words[i];
    if (word === undefined || /[.!?,;\n]/u.test(text.slice(word.end, words[i + 1]?.start))) return null;
    if (/^\p{N}{3,}$/u.test(word.text)) return word;
    if (!LINKS.has(word.text) && !isWrittenCopula(text, word)) return null;
  }
  return null;
}
