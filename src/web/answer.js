import { state } from "./bus.js";
import { button, el } from "./dom.js";
import { PartsView } from "./parts.js";
import { wordsFor } from "./problems.js";
import { provenanceView } from "./provenance.js";
import { stepView } from "./steps-view.js";
import { confirmView } from "./to-confirm.js";

const MEMORY_NOTES = {
  timeout: "My memory was slow: I answered with what arrived in time.",
  degraded: "My memory is out of reach: I answered from this conversation alone.",
};

/** One answer, from the first sign of it to what came of it. It holds what it shows, and asks nothing of the server. */
export class AnswerView {
  #because = el("div");
  #confirm = el("div", { class: "to-confirm" });
  #state = el("div", { class: "answer-state" });
  #steps = el("ul", { class: "steps", hidden: true });
  #foot = el("div", { class: "noted-list" });
  #bar = el("div", { class: "answer-bar" });
  #memory = null;
  #parts;
  node = el(
    "article",
    { class: "turn assistant", "aria-label": "Maitred" },
    el("h2", { class: "sr" }, "Answer"),
    this.#because,
    this.#confirm,
    this.#foot,
    this.#state,
    this.#bar,
    this.#steps,
  );

  /** `say(words, more)`: says something for the guest, whose button was pressed. */
  constructor({ say }) {
    this.#parts = new PartsView({ say });
    this.#because.after(this.#parts.node);
  }

  get content() {
    return this.#parts.text;
  }

  clear() {
    this.#memory = null;
    this.#parts.clear();
    for (const node of [this.#because, this.#confirm, this.#state, this.#steps, this.#foot, this.#bar]) node.replaceChildren();
    this.#steps.hidden = true;
    this.node.classList.remove("complete");
  }

  waiting(word = "Thinking") {
    this.#state.replaceChildren(el("p", { class: "typing" }, el("i"), el("i"), el("i"), el("span", { class: "small" }, word)));
  }

  /** `text`: all that was said so far. */
  text(text) {
    this.#parts.say(text);
  }

  part(part) {
    this.#parts.put(part);
  }

  step(step) {
    this.#steps.append(stepView(step));
    if (this.#state.querySelector(".typing")) this.waiting(`${String(step.name ?? "looking").replaceAll("_", " ")} …`);
  }

  /** The whole answer, in its parts; `memory`: what it was given and what shaped it, where that is known. */
  all({ parts, elements, memory }) {
    this.#parts.all(parts, elements);
    this.#memory = memory ?? null;
    this.#tellMemory({ done: true });
  }

  /** What the answer is given, before there is one. */
  memory(memory) {
    this.#memory = memory;
    this.#tellMemory();
  }

  #tellMemory({ done = false } = {}) {
    // What is open stays open.
    if (this.#memory === null || this.#because.querySelector('.pill[aria-expanded="true"]')) return;
    // A slow memory matters to what was chosen for the guest, and to who asked for it.
    const matters = this.#memory.status !== "timeout" || (done && this.#parts.shows);
    const note = matters && MEMORY_NOTES[this.#memory.status];
    this.#because.replaceChildren(
      ...[provenanceView(this.#memory, this.#parts.elements), note && el("p", { class: "small warn" }, note)].filter(Boolean),
    );
  }

  /** What waits for the guest's word, each with Yes and No. */
  toConfirm(waiting, onSettled) {
    for (const each of waiting) {
      if ([...this.#confirm.children].every((node) => node.dataset.memory !== each.id)) this.#confirm.append(confirmView(each, onSettled));
    }
  }

  /** What this turn added to the memories. `forget(memory, onBack)`: forgets it, and tells when that is taken back. */
  noted(memories, forget) {
    for (const memory of memories) {
      const forgets = button(
        "Forget",
        () => {
          line.classList.add("gone");
          forgets.hidden = true;
          line.focus();
          forget(memory, () => {
            line.classList.remove("gone");
            forgets.hidden = false;
          });
        },
        { "aria-label": `Forget: ${memory.text}` },
      );
      const line = el("p", { class: "noted", tabindex: "-1" }, el("span", { dir: "auto" }, `Noted: ${memory.text}`), forgets);
      this.#foot.append(line);
    }
  }

  done() {
    this.#settle();
    this.node.classList.add("complete");
  }

  /** An answer that is not whole, and why. */
  ended(words, { retry, label = "Ask again" } = {}) {
    this.#settle();
    this.#state.replaceChildren(
      el(
        "p",
        { class: "ended", role: "status", tabindex: "-1" },
        el("span", {}, words),
        retry && button(label, retry, { class: "secondary" }),
      ),
    );
  }

  failed(error, retry) {
    this.#settle();
    const { title, hint } = wordsFor(error);
    this.#state.replaceChildren(
      el(
        "div",
        { class: "problem", role: "alert" },
        el("strong", {}, title),
        hint && el("p", {}, hint),
        el("div", { class: "row" }, button("Try again", retry, { class: "secondary" })),
      ),
    );
  }

  /** Something else was said: it can't be asked again. */
  leave() {
    for (const node of this.#state.querySelectorAll("button")) node.remove();
  }

  /** What can be done with it: `actions` are `[label, run, description]`. */
  bar(actions) {
    const how = this.#steps.childElementCount > 0 && ["How I found this", () => this.#toggleSteps()];
    const all = [...actions, how].filter(Boolean);
    this.#bar.replaceChildren(...all.map(([label, run]) => button(label, run)));
    if (how) this.#bar.lastChild.setAttribute("aria-expanded", String(!this.#steps.hidden));
  }

  #toggleSteps() {
    this.#steps.hidden = !this.#steps.hidden;
    this.#bar.lastChild.setAttribute("aria-expanded", String(!this.#steps.hidden));
  }

  /** Focus on what says how it ended, where the pressed button is gone. */
  focusState() {
    this.#state.querySelector("[tabindex], button")?.focus({ preventScroll: true });
  }

  #settle() {
    this.#state.replaceChildren();
    this.#parts.show();
  }
}

/** Whether memory may be asked for anything at all. */
export const memoryIsOn = () => state.me?.server.long_term.enabled === true;
