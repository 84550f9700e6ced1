/** In a row, before it is told. */
const TOLD_FROM = 3;

/** Calls that fail in a row, whoever's they are: told from the third on, until one goes well. One failure alone says little. */
export class FailureStreak {
  #inARow = 0;

  wentWell(): void {
    this.#inARow = 0;
  }

  failed(): void {
    this.#inARow += 1;
  }

  /** How many failed since the last that went well; null while that is nothing to tell. */
  get told(): number | null {
    return this.#inARow < TOLD_FROM ? null : this.#inARow;
  }
}
