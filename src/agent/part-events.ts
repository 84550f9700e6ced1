import { isDeepStrictEqual } from "node:util";
import { type PartSource, partsOf } from "../domain/answer-part.js";
import type { Element, ShownPart } from "../domain/session.js";

/** A part that shows elements, and its place among the answer's parts, from 0. */
export interface PlacedPart {
  readonly index: number;
  readonly part: ShownPart;
  readonly elements: readonly Element[];
}

/** Tells the parts of an answer that show elements as they become known: each once, and again where more came to it. */
export class PartEvents {
  readonly #onPart: (part: PlacedPart) => Promise<void>;
  readonly #told = new Map<number, ShownPart>();

  constructor(onPart: (part: PlacedPart) => Promise<void>) {
    this.#onPart = onPart;
  }

  /** `answer`: as far as it has come. */
  async tell(answer: Pick<PartSource, "content" | "placed"> & { readonly elements: readonly Element[] }): Promise<void> {
    const byId = new Map(answer.elements.map((element) => [element.id, element]));
    for (const [index, part] of partsOf({ content: answer.content, elements: answer.elements, placed: answer.placed }).entries()) {
      if (part.type === "text" || part.type === "question" || isDeepStrictEqual(this.#told.get(index), part)) continue;
      this.#told.set(index, part);
      await this.#onPart({ index, part, elements: part.elements.flatMap((id) => byId.get(id) ?? []) });
    }
  }
}
