const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = "\\".charCodeAt(0);
/** Keys whose texts may be images. */
const IMAGE_KEYS: ReadonlySet<string> = new Set(["data", "url", "image_url"]);
const MAX_KEY_CHARS = 10;
/** A shorter text counts as what it is. */
const MIN_IMAGE_CHARS = 4_096;

/**
 * Counts what a JSON body holds beside images as it comes in, without parsing it: a long text under an image's key is an image. So a body
 * that may hold images can be held to the size of any other, and reading and walking what it holds takes no longer.
 */
export class SizeBesideImages {
  #others = 0;
  #isText = false;
  /** Of the text that is being read, or was read last. */
  #length = 0;
  #head = "";
  #isPlain = true;
  /** Whether a backslash waits for the next character. */
  #isEscaped = false;
  /** The text before that one. */
  #key = "";

  readonly #limit: number;

  /** @param limit in bytes */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** False once it is too much: looks no further. A text that may yet become an image doesn't count. */
  fits(chunk: Buffer): boolean {
    for (let at = 0; at < chunk.byteLength && this.#others <= this.#limit; ) {
      const quote = chunk.indexOf(QUOTE, at);
      const end = quote === -1 ? chunk.byteLength : quote;
      if (this.#isText) this.#text(chunk, at, end, quote !== -1);
      else {
        this.#others += end - at + 1;
        if (quote !== -1) this.#begin();
      }
      at = end + 1;
    }
    return this.#others + (this.#isText && !this.#mayBeImage ? this.#length : 0) <= this.#limit;
  }

  get #mayBeImage(): boolean {
    return this.#isPlain && IMAGE_KEYS.has(this.#key);
  }

  #begin(): void {
    this.#key = this.#length <= MAX_KEY_CHARS ? this.#head : "";
    this.#isText = true;
    this.#length = 0;
    this.#head = "";
    this.#isPlain = true;
    this.#isEscaped = false;
  }

  #text(chunk: Buffer, from: number, end: number, atQuote: boolean): void {
    let backslashes = 0;
    while (end - backslashes > from && chunk[end - backslashes - 1] === BACKSLASH) backslashes += 1;
    const before = backslashes === end - from && this.#isEscaped ? 1 : 0;
    this.#isEscaped = (backslashes + before) % 2 === 1;
    if (this.#head.length < MAX_KEY_CHARS && end > from)
      this.#head += chunk.toString("latin1", from, Math.min(end, from + MAX_KEY_CHARS - this.#head.length));
    this.#length += end - from;
    if (!atQuote) return;
    if (this.#isEscaped) {
      this.#isPlain = false;
      this.#isEscaped = false;
      this.#length += 1;
    } else {
      this.#isText = false;
      if (this.#length < MIN_IMAGE_CHARS || !this.#mayBeImage) this.#others += this.#length;
    }
  }
}
