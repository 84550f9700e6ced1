import { plain } from "../platform/phrase-list.js";
import words from "./numbers.json" with { type: "json" };

/** What number words of some languages stand for; without "one", which is an article too, and those that are other words elsewhere. */
const VALUES: ReadonlyMap<string, number> = new Map(Object.values(words).flatMap((each) => Object.entries(each)));
/** "The 19th" counts nothing. */
const ORDINAL = /(?<!\d)\d{1,9}(?:st|nd|rd|th)\b/giu;
const HUNDRED = 100;
const THOUSAND = 1_000;

interface Counted {
  readonly value: number;
  /** The words beside it: "of", "people" of "a party of six people". */
  readonly beside: readonly string[];
}

/** The numbers in a text, in order: those in digits, however they are written, and where there are none those in words. */
function countedIn(text: string): readonly Counted[] {
  const tokens =
    plain(text)
      .replace(ORDINAL, " ")
      .match(/\p{L}+|\d[\d.,]*/gu) ?? [];
  const numberOf = tokens.some((token) => /^\d/u.test(token)) ? fromDigits : (token = "") => VALUES.get(token);
  const found: Counted[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const first = numberOf(tokens[at]);
    if (first === undefined) continue;
    const second = numberOf === fromDigits ? undefined : numberOf(tokens[at + 1]);
    const value = second === undefined ? undefined : together(first, second);
    const beside = [tokens[at - 1], tokens[value === undefined ? at + 1 : at + 2]].filter((token) => token !== undefined);
    found.push({ value: value ?? first, beside });
    if (value !== undefined) at += 1;
  }
  return found;
}

/** "1,200" and "1.200" are a thousand and more, "1,2" is not. */
function fromDigits(token = ""): number | undefined {
  const digits = token.replace(/[.,]$/u, "");
  const number = Number(/^\d{1,3}(?:[.,]\d{3})+$/u.test(digits) ? digits.replaceAll(/[.,]/gu, "") : digits.replace(",", "."));
  return /^\d/u.test(token) && Number.isFinite(number) ? number : undefined;
}

/** "Twenty-five", "two hundred", "ten thousand"; undefined where the second goes on with something else. */
function together(first: number, second: number): number | undefined {
  if (second === HUNDRED) return first < 10 ? first * HUNDRED : undefined;
  if (second >= THOUSAND) return first * second;
  return first >= 20 && first % 10 === 0 && second < 10 ? first + second : undefined;
}

/** The one number in a text; null where there is none, or several. */
export function numberIn(text: string): number | null {
  const [only, another] = countedIn(text);
  return only === undefined || another !== undefined ? null : only.value;
}

/** Whether both texts name numbers, and not the same ones. */
export function sayOtherNumbers(a: string, b: string): boolean {
  const [one, other] = [a, b].map((text) =>
    countedIn(text)
      .map(({ value }) => value)
      .join(" "),
  );
  return one !== "" && other !== "" && one !== other;
}

/** Whether they count the same thing and come to another number: "70 cm" and "80 cm", not "since 2019" and "2 seats". */
export function countOtherwise(a: string, b: string): boolean {
  const others = countedIn(b);
  return countedIn(a).some(({ value, beside }) =>
    others.some((each) => each.value !== value && each.beside.some((word) => beside.includes(word))),
  );
}
