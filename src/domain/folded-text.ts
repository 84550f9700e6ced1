import { createHash } from "node:crypto";
import type { Owner } from "./owner.js";

/**
 * Text as it is compared: without case, accents, width, punctuation, quotation marks and dashes, white space as one space. Linear in the
 * text's length. Each unit leads back to the text's own characters.
 */
interface FoldedText {
  readonly text: string;
  /** Where in the original each unit of `text` begins, and ends. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

const APOSTROPHES = new Set(["'", "’", "‘", "ʼ", "‛", "＇", "`", "´"]);
const LETTER_OR_NUMBER = /^[\p{L}\p{N}]$/u;
const MARK = /^\p{M}$/u;
/** Marks of scripts whose vowels are marks: there they tell words apart. */
const VOWEL_SIGN = /^\p{Mc}$/u;

export function fold(original: string): FoldedText {
  const units: string[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  let at = 0;
  const put = (unit: string, end: number) => {
    for (const letter of unit) {
      units.push(letter);
      for (let i = 0; i < letter.length; i++) {
        starts.push(at);
        ends.push(end);
      }
    }
  };
  for (const character of original) {
    const end = at + character.length;
    const folded = foldCharacter(character);
    if (folded === " ") {
      if (units.length > 0 && units[units.length - 1] !== " ") put(" ", end);
    } else if (folded !== "") put(folded, end);
    else if (ends.length > 0 && ends[ends.length - 1] === at && MARK.test(character)) ends[ends.length - 1] = end;
    at = end;
  }
  if (units[units.length - 1] === " ") {
    units.pop();
    starts.pop();
    ends.pop();
  }
  return { text: units.join(""), starts, ends };
}

/** The folded text alone. */
export function folded(text: string): string {
  return fold(text).text;
}

/** Some characters stand for a whole sentence; of these, the beginning is compared. */
const MAX_UNITS = 4;
const known = new Map<string, string>();
const KNOWN = 4_096;

/** The empty string for what is left out, a space for what parts words. */
function foldCharacter(character: string): string {
  const code = character.charCodeAt(0);
  if (code >= 97 && code <= 122) return character;
  const cached = known.get(character);
  if (cached !== undefined) return cached;
  const value = foldOnce(character);
  if (known.size < KNOWN) known.set(character, value);
  return value;
}

function foldOnce(character: string): string {
  if (APOSTROPHES.has(character)) return "";
  let value = "";
  // Upper case first: "ß" and "ſ" have one spelling then.
  for (const part of character.normalize("NFKD").toUpperCase().toLowerCase().normalize("NFKD"))
    if (LETTER_OR_NUMBER.test(part) || VOWEL_SIGN.test(part)) value += part;
    else if (!MARK.test(part) && !APOSTROPHES.has(part) && !isInvisible(part) && value !== "" && !value.endsWith(" ")) value += " ";
  if (value !== "") return value.slice(0, MAX_UNITS).trimEnd() || " ";
  return MARK.test(character) || isInvisible(character) ? "" : " ";
}

function isInvisible(character: string): boolean {
  return /^\p{Cf}$/u.test(character);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const ASCII = /^[\x00-\x7f]*$/;

/** Lower case, no marks, one space for all that is neither letter nor digit. The same on every machine. Linear. */
export function normalised(text: string): string {
  // Has no marks and nothing to fold.
  if (ASCII.test(text))
    return text
      .toLowerCase()
      .replaceAll("'", "")
      .replace(/[^a-z0-9]+/g, " ")
      .trim();
  return text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .normalize("NFKC")
    .toLowerCase()
    .replace(/['’]/gu, "")
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** SHA-256 of owner and normalised text: what a tombstone keeps of a text. */
export function textHash(owner: Owner, text: string): string {
  return createHash("sha256")
    .update(`${owner}\n${normalised(text)}`)
    .digest("hex");
}
