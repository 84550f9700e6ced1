/**
 * Undoes what hides words from a reader of patterns: full-width and look-alike letters, invisible characters, letters spelled
 * with digits or spaces, encodings, reversed text. Unicode TR39 has the idea of skeletons; the table here is its everyday part.
 */

const LOOK_ALIKES: Readonly<Record<string, string>> = {
  // Cyrillic
  а: "a",
  в: "b",
  с: "c",
  ԁ: "d",
  е: "e",
  ё: "e",
  ғ: "f",
  һ: "h",
  і: "i",
  ї: "i",
  ј: "j",
  к: "k",
  ӏ: "l",
  м: "m",
  п: "n",
  о: "o",
  р: "p",
  ԛ: "q",
  г: "r",
  ѕ: "s",
  т: "t",
  и: "u",
  ѵ: "v",
  ԝ: "w",
  х: "x",
  у: "y",
  ү: "y",
  з: "3",
  н: "h",
  // Greek
  α: "a",
  β: "b",
  ς: "c",
  δ: "d",
  ε: "e",
  η: "n",
  ι: "i",
  κ: "k",
  ν: "v",
  ο: "o",
  ρ: "p",
  σ: "o",
  τ: "t",
  υ: "u",
  χ: "x",
  γ: "y",
  ω: "w",
  ϲ: "c",
  μ: "u",
  // Latin and phonetic letters
  ı: "i",
  ɡ: "g",
  ɩ: "i",
  ɑ: "a",
  ɪ: "i",
  ʀ: "r",
  ᴀ: "a",
  ᴇ: "e",
  ɴ: "n",
  ᴏ: "o",
  ꜱ: "s",
  ᴛ: "t",
  ᴜ: "u",
  ʏ: "y",
  ɢ: "g",
  ᴄ: "c",
  ᴍ: "m",
  ᴅ: "d",
  ʟ: "l",
  ᴘ: "p",
  ʜ: "h",
  ʙ: "b",
  ᴋ: "k",
  ᴠ: "v",
  ᴡ: "w",
  ᴢ: "z",
  ℓ: "l",
  ø: "o",
  ł: "l",
  đ: "d",
  // Armenian, Cherokee-like
  օ: "o",
  ո: "n",
  ս: "u",
  հ: "h",
  ց: "g",
};
const LEET: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "8": "b",
  "9": "g",
  "@": "a",
  $: "s",
  "!": "i",
  "|": "l",
  "€": "e",
};

// biome-ignore lint/suspicious/noMisleadingCharacterClass: single characters are meant, not what they join
const INVISIBLE = /[\p{Cf}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180e\u3164\ufe00-\ufe0f\uffa0]|[\u{e0100}-\u{e01ef}]/gu;
const TAG_CHARACTERS = /[\u{e0020}-\u{e007e}]+/gu;
const EMOJI_SEQUENCE =
  /\p{Extended_Pictographic}[\u{1f3fb}-\u{1f3ff}]?(?:\ufe0f?\u200d\p{Extended_Pictographic}[\u{1f3fb}-\u{1f3ff}]?|\ufe0f)+/gu;

function skeleton(text: string): string {
  return [...text.toLowerCase()].map((letter) => LOOK_ALIKES[letter] ?? letter).join("");
}

/** The text without accents and invisible characters, in lower case. */
function plain(text: string): string {
  return text.replace(INVISIBLE, "").normalize("NFKC").toLowerCase();
}

function unleet(text: string): string {
  return text.replace(/[\p{L}\d@$!|€]+/gu, (word) =>
    /\p{L}/u.test(word) && /[\d@$!|€]/u.test(word) ? [...word].map((letter) => LEET[letter] ?? letter).join("") : word,
  );
}

/** `i g n o r e`, `i.g.n.o.r.e`, `i-g-n-o-r-e` → `ignore`; two spaces part words. */
function unspaced(text: string): string {
  return text.replace(/(?<![\p{L}\p{N}])(?:[\p{L}\p{N}][ .\-_*·]){3,}[\p{L}\p{N}](?![\p{L}\p{N}])/gu, (run) =>
    run.replace(/[ .\-_*·]/gu, ""),
  );
}

function printable(bytes: Buffer): string | null {
  const text = bytes.toString("utf8");
  return text.length >= 6 && !/[\p{Cc}\uFFFD]/u.test(text.replace(/[\n\t\r]/g, "")) && /[\p{L}]{3}/u.test(text) ? text : null;
}

/** What base64, hex, percent, entity and escape encodings in the text say; only what decodes to readable text. */
function decodedParts(text: string): string[] {
  const parts: string[] = [];
  const add = (decoded: string | null) => {
    if (decoded !== null && decoded !== "") parts.push(decoded);
  };
  for (const [token] of text.matchAll(/[A-Za-z0-9+/_-]{16,}={0,2}/g)) {
    if (/[a-z]/.test(token) && /[A-Z]/.test(token)) add(printable(Buffer.from(token.replace(/-/g, "+").replace(/_/g, "/"), "base64")));
  }
  for (const [token] of text.matchAll(/(?:\b(?:0x)?(?:[0-9a-f]{2}[ :,]?){8,})/gi))
    add(printable(Buffer.from(token.replace(/0x|[ :,]/gi, ""), "hex")));
  for (const [token] of text.matchAll(/(?:\b[01]{8}[ ,]?){4,}/g))
    add(printable(Buffer.from((token.match(/[01]{8}/g) ?? []).map((bits) => Number.parseInt(bits, 2)))));
  if (/(?:%[0-9a-f]{2}){3}/i.test(text) || /%[0-9a-f]{2}.*%[0-9a-f]{2}.*%[0-9a-f]{2}/i.test(text))
    add(text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))));
  if (/&#x?[0-9a-f]+;/i.test(text))
    add(
      text
        .replace(/&#x([0-9a-f]{1,5});/gi, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)))
        .replace(/&#(\d{1,6});/g, (_, code: string) => String.fromCodePoint(Math.min(Number(code), 0x10ffff))),
    );
  if (/\\u[0-9a-f]{4}|\\x[0-9a-f]{2}/i.test(text))
    add(text.replace(/\\u([0-9a-f]{4})|\\x([0-9a-f]{2})/gi, (_, u: string, x: string) => String.fromCharCode(Number.parseInt(u ?? x, 16))));
  for (const [tags] of text.matchAll(TAG_CHARACTERS))
    add([...tags].map((tag) => String.fromCodePoint((tag.codePointAt(0) ?? 0) - 0xe0000)).join(""));
  return parts;
}

/** The text as it may be meant: plain first, then each disguise taken off. Lower case. */
export function readingsOf(text: string): readonly string[] {
  const base = plain(text);
  const alike = skeleton(base);
  const readings = new Set([
    base,
    alike,
    unleet(alike),
    unspaced(alike),
    unspaced(unleet(alike)),
    base.normalize("NFKD").replace(/\p{M}+/gu, ""),
  ]);
  for (const decoded of decodedParts(text)) readings.add(plain(decoded));
  readings.add([...base].reverse().join(""));
  readings.add(base.replace(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 97 + 13) % 26) + 97)));
  return [...readings];
}

const LETTER_RUN = /\p{L}[\p{L}\p{M}]*/gu;
const SCRIPTS = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Armenian}/u, /\p{Script=Cherokee}/u] as const;

/** True when a text hides how it reads: invisible characters among letters, words of mixed alphabets, styled letters, encoded text. */
export function isDisguised(text: string): boolean {
  const visible = text.replace(EMOJI_SEQUENCE, "");
  // Joiners are at home in Persian, Hindi and others; among Latin, Greek or Cyrillic letters, and as tags or direction marks, they hide something.
  if (/[\u{e0000}-\u{e007f}\u202a-\u202e\u2066-\u2069\u2060-\u2064\u200b\u00ad\u180e\ufeff]/u.test(visible)) return true;
  if (
    // biome-ignore lint/suspicious/noMisleadingCharacterClass: single characters are meant, not what they join
    /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}][\u200c\u200d\u034f]|[\u{1d400}-\u{1d7ff}\u{1f130}-\u{1f189}\u24b6-\u24e9\uff21-\uff3a\uff41-\uff5a]/u.test(
      visible,
    )
  )
    return true;
  for (const [word] of visible.matchAll(LETTER_RUN)) if (SCRIPTS.filter((script) => script.test(word)).length > 1) return true;
  return decodedParts(text).length > 0;
}
