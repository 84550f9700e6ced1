import { FOREIGN, maskForeignWords, type Sentence, sentencesOf } from "../../platform/language/own-words.js";
import { announcesWords, handsOverWords, worksOnWhatStandsBefore } from "./borrowed.js";

/** Where a quote stands in the user's own words. */
export interface LocatedQuote {
  /** The message's own bytes, which may differ from what was proposed in white space and the shape of quotation marks. */
  readonly text: string;
  /** The sentences that hold it, whole. */
  readonly sentences: readonly Sentence[];
  /** The sentence after them: "Just kidding!" takes back what stands before it. */
  readonly after: string;
  /** The sentence before them. */
  readonly before: string;
}

/** What the user themselves say in a message: split once, asked for every quote. */
export class OwnVoice {
  readonly message: string;
  /** The message with foreign text masked, offsets kept. */
  readonly masked: string;
  readonly sentences: readonly Sentence[];
  /** From here on the words may be somebody else's, or made up. */
  readonly #borrowedFrom: number;

  /** `before`: the user's last message, which may have announced this one as a text. */
  constructor(message: string, before = "") {
    this.message = message;
    this.masked = maskForeignWords(message);
    this.sentences = sentencesOf(this.masked);
    const introduction = this.sentences.find((sentence) => handsOverWords(sentence.text));
    const last = this.sentences.at(-1);
    const backwards = last !== undefined && worksOnWhatStandsBefore(last.text);
    const announced = sentencesOf(maskForeignWords(before)).some((sentence) => announcesWords(sentence.text));
    this.#borrowedFrom = backwards || announced ? 0 : (introduction?.start ?? message.length);
  }

  /** Whether what was said before it (or a task behind it) makes the quote somebody else's words, or made-up ones. */
  isBorrowed(quote: LocatedQuote): boolean {
    return (quote.sentences.at(-1)?.end ?? 0) > this.#borrowedFrom;
  }

  /**
   * The quote in the message, byte for byte, or else with white space and quotation marks of another shape: models
   * straighten those. Null where it is not there, or only in foreign text. At least two letters or digits.
   */
  locate(quote: string): LocatedQuote | null {
    const wanted = straighten(quote.trim());
    if ([...wanted.text].filter((letter) => /[\p{L}\p{N}]/u.test(letter)).length < 2) return null;
    const haystack = straighten(this.masked);
    const at = haystack.text.indexOf(wanted.text);
    if (at === -1) return null;
    const start = haystack.offsets[at] ?? 0;
    const end = (haystack.offsets[at + wanted.text.length - 1] ?? start) + 1;
    const first = this.sentences.findIndex((sentence) => sentence.end > start);
    const last = this.sentences.findLastIndex((sentence) => sentence.start < end);
    return {
      text: this.message.slice(start, end),
      sentences: this.sentences.slice(first, last + 1),
      before: this.sentences[first - 1]?.text ?? "",
      after: this.sentences[last + 1]?.text ?? "",
    };
  }

  /** All of the user's own words, foreign text left out. */
  ownText(): string {
    return this.masked.replaceAll(FOREIGN, " ");
  }
}

/** Whether a quote is in a message at all, the user's own words or not. */
export function isInMessage(message: string, quote: string): boolean {
  const wanted = straighten(quote.trim()).text;
  return wanted !== "" && straighten(message).text.includes(wanted);
}

/** White-space runs are one space, quotation marks and apostrophes are straight; `offsets` leads back to the text. */
function straighten(text: string): { text: string; offsets: readonly number[] } {
  let out = "";
  const offsets: number[] = [];
  for (let i = 0; i < text.length; i++) {
    let unit = text[i] ?? "";
    if (/\s/u.test(unit)) {
      if (out.endsWith(" ")) continue;
      unit = " ";
    } else if (/[‘’ʼ‛]/u.test(unit)) unit = "'";
    else if (/[“”„‟]/u.test(unit)) unit = '"';
    out += unit;
    offsets.push(i);
  }
  return { text: out, offsets };
}
