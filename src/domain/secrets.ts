import { type Span, wordsOf } from "./compared-words.js";
import { folded } from "./folded-text.js";
import secretWords from "./secret-words.json" with { type: "json" };

/**
 * What must never become a memory, nor stand in a title: card and account numbers by their checksums, keys by their form, and what follows
 * a word such as "password" or "PIN". Linear in the text's length.
 */
export function secretsIn(text: string): readonly Span[] {
  return [...cards(text), ...accounts(text), ...keys(text), ...named(text)];
}

export function holdsSecret(text: string): boolean {
  return secretsIn(text).length > 0;
}

/** A value may go on behind its first word: up to white space, and where it is of words, to the end of its clause. */
const REST_OF_VALUE = /(?:[^\s,;.!?，。！？、；]|[,;.!?](?!\s|$))*/uy;
const REST_OF_WORDS = /(?:[^\n,;.!?，。！？、；]|[,;.!?](?!\s|$))*/uy;

/** The text with "…" for each secret. Linear in the text's length. */
export function withoutSecrets(text: string): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of secretsIn(text).toSorted((a, b) => a.start - b.start)) {
    if (end <= at) continue;
    if (start >= at) parts.push(text.slice(at, start), "…");
    const rest = /\p{N}/u.test(text.slice(start, end)) ? REST_OF_VALUE : REST_OF_WORDS;
    rest.lastIndex = end;
    rest.test(text);
    at = rest.lastIndex;
  }
  parts.push(text.slice(at));
  return parts.join("");
}

const CARD = /(?<![\d+])\d(?:[ .-]?\d){12,18}(?!\d)/gu;

function cards(text: string): readonly Span[] {
  return spansOf(text, CARD).filter((span) => passesLuhn(text.slice(span.start, span.end).replace(/\D/gu, "")));
}

/** ISO/IEC 7812-1, annex B. */
function passesLuhn(digits: string): boolean {
  if (/^(\d)\1*$/u.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const doubled = Number(digits[digits.length - 1 - i]) * (i % 2 === 1 ? 2 : 1);
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

const IBAN_START = /(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}/gu;
/** With a space behind every fourth of 34 characters. */
const MAX_IBAN_CHARS = 42;
/** Beginnings that are looked at: nobody writes so many. */
const MAX_IBANS = 100;

function accounts(text: string): readonly Span[] {
  return spansOf(text, IBAN_START)
    .slice(0, MAX_IBANS)
    .flatMap(({ start }) => {
      const written = /^[A-Za-z0-9 ]+/u.exec(text.slice(start, start + MAX_IBAN_CHARS))?.[0] ?? "";
      const letters = [...written.matchAll(/[A-Za-z0-9]/g)];
      const last = letters[ibanLength(letters.join("").toUpperCase()) - 1];
      return last === undefined ? [] : [{ start, end: start + last.index + 1 }];
    });
}

/**
 * ISO 13616: the rearranged number, letters as 10 to 35, leaves 1 when divided by 97. A longer match may hold one at its start: how much of
 * it that is, 0 for none.
 */
function ibanLength(account: string): number {
  for (let length = Math.min(34, account.length); length >= 15; length--) {
    const candidate = account.slice(0, length);
    let rest = 0;
    for (const character of candidate.slice(4) + candidate.slice(0, 4)) {
      const value = Number.parseInt(character, 36);
      rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
    }
    if (rest === 1) return length;
  }
  return 0;
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

const NAMES: ReadonlySet<string> = new Set(secretWords.words.map((word) => folded(word)));
const LINKS: ReadonlySet<string> = new Set(secretWords.links.map((word) => folded(word)));
/** Words of a name at most; in scripts without spaces, characters. */
const NAME_WORDS = 6;
/** Words between a name and its value. */
const BETWEEN = 4;

/** A name of a secret, then its value: whatever stands behind a colon or a link word, or the next thing with a digit. */
function named(text: string): readonly Span[] {
  const words = wordsOf(text);
  const spans: Span[] = [];
  for (let i = 0; i < words.length; i++) {
    const length = nameAt(words, i);
    const [first, last] = [words[i], words[i + length - 1]];
    if (length === 0 || first === undefined || last === undefined) continue;
    const value = valueBehind(text, words, i + length, last.end) ?? digitsBefore(text, words, i);
    if (value !== null) spans.push({ start: Math.min(first.start, value.start), end: Math.max(last.end, value.end) });
    i += length - 1;
  }
  return spans;
}

type Words = ReturnType<typeof wordsOf>;

/** How many words the longest name that begins here has; 0 for none. */
function nameAt(words: Words, from: number): number {
  let [spaced, joined, found] = ["", "", 0];
  for (let n = 1; n <= NAME_WORDS && from + n <= words.length; n++) {
    const word = words[from + n - 1]?.text ?? "";
    spaced = n === 1 ? word : `${spaced} ${word}`;
    joined += word;
    if (NAMES.has(spaced) || NAMES.has(joined)) found = n;
  }
  return found;
}

function valueBehind(text: string, words: Words, from: number, nameEnd: number): Span | null {
  let linked = /^\s{0,3}[:=：]/u.test(text.slice(nameEnd, nameEnd + 5));
  let before = nameEnd;
  for (let i = from; i < Math.min(words.length, from + BETWEEN); i++) {
    const word = words[i];
    if (word === undefined || (/[.!?\n]/u.test(text.slice(before, word.start)) && !linked)) return null;
    if (/\p{N}/u.test(word.text) && (linked || word.text.length >= 3)) return word;
    if (LINKS.has(word.text)) linked = true;
    else if (linked) return word;
    before = word.end;
  }
  return null;
}

/** "9031 is my PIN". */
function digitsBefore(text: string, words: Words, at: number): Span | null {
  for (let i = at - 1; i >= Math.max(0, at - 3); i--) {
    const word = words[i];
    if (word === undefined || /[.!?,;\n]/u.test(text.slice(word.end, words[i + 1]?.start))) return null;
    if (/^\p{N}{3,}$/u.test(word.text)) return word;
    if (!LINKS.has(word.text)) return null;
  }
  return null;
}

function spansOf(text: string, pattern: RegExp): Span[] {
  return [...text.matchAll(pattern)].map((match) => ({ start: match.index, end: match.index + match[0].length }));
}
