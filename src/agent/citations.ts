import { CITED_MARKS } from "../ports/context-headings.js";

/** More than marks of one place come to, in characters. */
const LONGEST = 200;
/** What may become marks with what comes next. */
const BEGUN = /^\[(?:m[\dm,; ]*)?$/;

/**
 * Takes the marks by which a model cites memories out of its text as it streams, with the blanks before them, and notes which were cited.
 * Where no memory is marked, text passes as it is.
 */
export class Citations {
  readonly #ids: readonly string[];
  readonly #cited = new Set<string>();
  #held = "";

  /** `ids`: of the memories that are marked, in the order of their marks. */
  constructor(ids: readonly string[]) {
    this.#ids = ids;
  }

  get cited(): ReadonlySet<string> {
    return this.#cited;
  }

  /** What of the text can be shown by now. */
  take(delta: string): string {
    if (this.#ids.length === 0) return delta;
    const text = this.#withoutMarks(this.#held + delta);
    const shown = text.slice(0, heldFrom(text));
    this.#held = text.slice(shown.length);
    return shown;
  }

  /** What was held back of a text that ends here; blanks at its end are none of it. */
  end(): string {
    const rest = this.#held;
    this.#held = "";
    return rest.trim() === "" ? "" : rest;
  }

  /** The text so far is taken back. */
  retract(): void {
    this.#held = "";
  }

  #withoutMarks(text: string): string {
    let [left, from] = ["", 0];
    for (const { index, 0: marks } of text.matchAll(CITED_MARKS)) {
      left += text.slice(from, index).trimEnd();
      from = index + marks.length;
      this.#note(marks);
    }
    return left + text.slice(from);
  }

  #note(marks: string): void {
    for (const [number] of marks.matchAll(/\d+/g)) {
      const id = this.#ids[Number(number) - 1];
      if (id !== undefined) this.#cited.add(id);
    }
  }
}

/** Where the last blanks begin, or marks that are not whole yet, with the blanks before them. */
function heldFrom(text: string): number {
  const bracket = text.lastIndexOf("[");
  const isBegun = bracket !== -1 && text.length - bracket <= LONGEST && BEGUN.test(text.slice(bracket));
  let at = isBegun ? bracket : text.length;
  while (at > 0 && text.length - at < LONGEST && (text[at - 1] ?? "").trim() === "") at -= 1;
  return at;
}
