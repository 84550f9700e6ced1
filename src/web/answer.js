import { state } from "./bus.js";
import { cardViews, readElements } from "./cards.js";
import { button, el } from "./dom.js";
import { showMarkdown } from "./markdown.js";
import { wordsFor } from "./problems.js";
import { provenanceView } from "./provenance.js";
import { saidOnce } from "./said-once.js";
import { stepView } from "./steps-view.js";
import { confirmView } from "./to-confirm.js";

const MEMORY_NOTES = {
  timeout: "My memory was slow: I answered with what arrived in time.",
  degraded: "My memory is out of reach: I answered from this conversation alone.",
};

/** Things with a title in what a tool gave: what cards will show. */
function titledIn(output) {
  if (typeof output !== "object" || output === null) return [];
  const lists = Object.values(output).filter(Array.isArray).flat();
  return [output, ...lists].filter((each) => typeof each?.title === "string");
}

/** One answer, from the first sign of it to what came of it. It holds what it shows, and asks nothing of the server. */
export class AnswerView {
  #because = el("div");
  #before = el("div", { class: "prose" });
  #cards = el("div", { class: "cards" });
  #after = el("div", { class: "prose" });
  #confirm = el("div", { class: "to-confirm" });
  #state = el("div", { class: "answer-state" });
  #steps = el("ul", { class: "steps", hidden: true });
  #foot = el("div", { class: "noted-list" });
  #bar = el("div", { class: "answer-bar" });
  #text = "";
  #frame = 0;
  #memory = null;
  #elements = [];
  #found = [];
  #say;
  node = el(
    "article",
    { class: "turn assistant", "aria-label": "Maitred" },
    el("h2", { class: "sr" }, "Answer"),
    this.#because,
    this.#before,
    this.#cards,
    this.#after,
    this.#confirm,
    this.#foot,
    this.#state,
    this.#bar,
    this.#steps,
  );

  /** `say(words, more)`: says something for the guest, whose button was pressed. */
  constructor({ say }) {
    this.#say = say;
  }

  get content() {
    return this.#text;
  }

  clear() {
    this.#text = "";
    this.#elements = [];
    this.#found = [];
    for (const part of [this.#before, this.#cards, this.#after, this.#confirm, this.#state, this.#steps, this.#foot, this.#bar]) {
      part.replaceChildren();
    }
    this.#steps.hidden = true;
    this.node.classList.remove("complete");
  }

  waiting(word = "Thinking") {
    this.#state.replaceChildren(el("p", { class: "typing" }, el("i"), el("i"), el("i"), el("span", { class: "small" }, word)));
  }

  text(markup) {
    this.#text = markup;
    this.#frame ||= requestAnimationFrame(() => this.#show());
  }

  #show() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const cards =
      this.#elements.length > 0 ? this.#elements.flatMap(({ name, data }) => (data ? [{ title: name, ...data }] : [])) : this.#found;
    const { before, after, notes } = saidOnce(
      this.#text,
      cards,
      (this.#memory?.recalled ?? []).map(({ text }) => text),
    );
    showMarkdown(this.#before, before);
    showMarkdown(this.#after, after);
    return notes;
  }

  step(step) {
    this.#steps.append(stepView(step));
    this.#found.push(...titledIn(step.output));
    if (this.#state.querySelector(".typing")) this.waiting(`${String(step.name ?? "looking").replaceAll("_", " ")} …`);
  }

  elements(elements) {
    this.#elements = readElements(elements);
    const notes = this.#show();
    this.#cards.replaceChildren(...cardViews(this.#elements, { say: this.#say, notes }));
    this.#because_();
  }

  memory(memory) {
    this.#memory = memory;
    this.#because_();
  }

  #because_() {
    if (this.#memory === null) return;
    const tied = new Set(this.#elements.flatMap(({ data }) => (Array.isArray(data?.fit) ? data.fit.map(({ memory_id: id }) => id) : [])));
    const note = MEMORY_NOTES[this.#memory.status];
    // What is open stays open.
    if (this.#because.querySelector('[aria-expanded="true"]')) return;
    this.#because.replaceChildren(
      ...[provenanceView(this.#memory.recalled ?? [], tied), note && el("p", { class: "small warn" }, note)].filter(Boolean),
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
    if (this.#frame) this.#show();
  }
}

/** Whether memory may be asked for anything at all. */
export const memoryIsOn = () => state.me?.server.long_term.enabled === true;
