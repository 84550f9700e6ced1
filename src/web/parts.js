import { citations, partView, readElement } from "./cards.js";
import { el } from "./dom.js";
import { showMarkdown } from "./markdown.js";

const textIn = (parts) => parts.map((part) => (part.type === "text" ? part.text : "")).join("");

/**
 * What an answer says and shows, part by part, in the order in which it came. What stays the same is left alone, and with it what is
 * selected or focused in it.
 */
export class PartsView {
  #parts = [];
  #elements = new Map();
  /** By the place of a part: what it was shown from, and as what. */
  #shown = [];
  #frame = 0;
  #say;
  #body = el("div", { class: "parts" });
  #beside = el("div", { class: "beside" });
  node = el("div", {}, this.#body, this.#beside);

  constructor({ say }) {
    this.#say = say;
  }

  /** All of its text. */
  get text() {
    return textIn(this.#parts);
  }

  get elements() {
    return [...this.#elements.values()];
  }

  /** Whether it shows anything beside its words. */
  get shows() {
    return this.#parts.some(({ type }) => type !== "text" && type !== "question");
  }

  clear() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#parts = [];
    this.#shown = [];
    this.#elements.clear();
    this.#body.replaceChildren();
    this.#beside.replaceChildren();
  }

  /** `text`: all that was said so far. What comes after the last thing shown grows, or is taken back. */
  say(text) {
    const shown = this.#parts.findLastIndex(({ type }) => type !== "text") + 1;
    const rest = text.slice(textIn(this.#parts.slice(0, shown)).length);
    this.#parts = [...this.#parts.slice(0, shown), ...(rest === "" ? [] : [{ type: "text", text: rest }])];
    this.#frame ||= requestAnimationFrame(() => this.show());
  }

  /** One that shows something, as soon as it is known. */
  put({ index, part, elements }) {
    for (const element of elements) this.#elements.set(element.id, readElement(element));
    this.#parts[Math.min(index, this.#parts.length)] = part;
    this.show();
  }

  /** The whole answer. */
  all(parts, elements) {
    this.#parts = [...parts];
    this.#elements = new Map(elements.map((element) => [element.id, readElement(element)]));
    this.show();
    const inParts = new Set(parts.flatMap((part) => part.elements ?? []));
    this.#beside.replaceChildren(...[citations(this.elements.filter(({ id }) => !inParts.has(id)))].filter(Boolean));
  }

  show() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    let events = 0;
    const shown = this.#parts.map((part, index) => {
      const first = events + 1;
      events += part.type === "cards" ? part.elements.length : 0;
      return part.type === "text" ? this.#words(part, this.#shown[index]) : this.#thing(part, first, this.#shown[index]);
    });
    for (const [place, { node }] of shown.entries()) {
      const there = this.#body.children[place];
      if (there === node) continue;
      if (there && there === this.#shown[place]?.node && !shown.some((each) => each.node === there)) there.replaceWith(node);
      else this.#body.insertBefore(node, there ?? null);
    }
    for (const extra of [...this.#body.children].slice(shown.length)) extra.remove();
    this.#shown = shown;
  }

  #words({ text }, before) {
    const node = before?.key === "text" ? before.node : el("div", { class: "prose" });
    showMarkdown(node, text);
    return { key: "text", node };
  }

  #thing(part, first, before) {
    const of = (ids = []) => ids.map((id) => this.#elements.get(id)).filter(Boolean);
    const elements = of(part.elements);
    const warnings = of(this.#parts.flatMap(({ type, elements: ids }) => (type === "warning" ? ids : [])));
    const offers = of(this.#parts.flatMap(({ type, elements: ids }) => (type === "quote" ? ids : [])));
    const key = JSON.stringify([part, first, elements, part.type === "quote" ? warnings : offers]);
    if (before?.key === key) return before;
    return { key, node: el("div", { class: "cards" }, partView(part.type, elements, { say: this.#say, first, warnings, offers })) };
  }
}
