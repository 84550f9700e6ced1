/** The server sends something every 15 seconds, at least a comment. */
export const QUIET_MS = 25_000;

/** From `watch(ms)` on: calls `onQuiet` once `heard` has not been called for so long, and again after it was. */
export class QuietWatch {
  #onQuiet;
  #ms = 0;
  #timer = 0;

  constructor(onQuiet) {
    this.#onQuiet = onQuiet;
  }

  watch(ms) {
    this.#ms = ms;
    this.heard();
  }

  heard() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#onQuiet, this.#ms);
  }

  end() {
    clearTimeout(this.#timer);
  }
}
