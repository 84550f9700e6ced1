import { strikeCancelled } from "./booking-cards.js";
import { state, tell } from "./bus.js";
import { el, toast } from "./dom.js";
import { Exchange } from "./exchange.js";
import { keepWaiting } from "./to-confirm.js";
import { underWay } from "./under-way.js";

const ANSWERING = "I am still answering. Press it again when the answer is there.";
/** Of a button that waits: it can be reached still, and tells why. */
const HELD = { "aria-disabled": "true", title: "I am still answering" };

/** One conversation: its questions and answers. It lives on while it answers, shown or not. */
export class Conversation {
  #exchanges = [];
  node = el("div", { class: "thread" });
  session = null;
  incognito = false;
  /** Something was said in it elsewhere that is not shown yet. */
  stale = false;

  get busy() {
    return this.#exchanges.some((exchange) => exchange.busy);
  }

  get last() {
    return this.#exchanges.at(-1) ?? null;
  }

  /** The last message is being changed just now. */
  get editing() {
    return this.node.querySelector("form.edit") !== null;
  }

  stop() {
    this.last?.stop();
  }

  /** Where a message stands; null where it is not (any more) there. */
  nodeOf(messageId) {
    return this.#exchanges.find(({ userId, answerId }) => [userId, answerId].includes(messageId))?.node ?? null;
  }

  /** `more`: further fields of the request, as a button gives them. */
  say(message, more = {}) {
    if (this.busy) return toast(ANSWERING);
    // What was offered before is answered by whatever is said now.
    for (const offer of this.node.querySelectorAll(".offer")) offer.remove();
    const before = this.last;
    before?.leave();
    const exchange = this.#add(message);
    before?.tools();
    tell("said", { conversation: this, exchange });
    void exchange.send(more);
  }

  /** Buttons that say something can't be pressed while an answer is under way. */
  #holdButtons() {
    for (const node of this.node.querySelectorAll("[data-says]")) {
      for (const [name, value] of Object.entries(HELD)) {
        if (this.busy) node.setAttribute(name, value);
        else node.removeAttribute(name);
      }
    }
  }

  #add(question) {
    this.last?.node.classList.remove("latest");
    const exchange = new Exchange(this, question);
    exchange.node.classList.add("latest");
    this.#exchanges.push(exchange);
    this.node.append(exchange.node);
    return exchange;
  }

  onSession(id) {
    if (this.session === id) return;
    this.session = id;
    state.running.add(id);
    tell("begun", { conversation: this });
    tell("running");
  }

  onRunning() {
    if (this.session) state.running.add(this.session);
    this.#holdButtons();
    tell("running", { conversation: this });
  }

  /** `turn`: its number, also of one without an answer, so that the event about it is known to be this page's own. */
  onDone({ turn, ok, failed }) {
    state.running.delete(this.session);
    strikeCancelled(this.node);
    this.#holdButtons();
    tell("running");
    tell("turn", { session: this.session, turn, ok, failed, conversation: this });
  }

  /** Shows a stored thread again. */
  resume(thread) {
    this.session = thread.id;
    this.incognito = thread.metadata?.incognito === true;
    let steps = [];
    let open = null;
    for (const step of thread.steps) {
      if (step.type === "tool_call") steps.push({ name: step.name, input: step.input, output: step.output });
      else if (step.type === "user_message") {
        open = this.#add(String(step.output));
        open.userId = step.id;
        open.answer.ended("");
      } else {
        // An attempt that was broken off and the one after it answer the same message: the last one counts.
        const again = open === null && this.last?.outcome ? this.last : null;
        const exchange = open ?? again ?? this.#add(null);
        open = null;
        if (again) again.answer.clear();
        const elements = thread.elements.filter((element) => element.for_id === step.id);
        fill(exchange.answer, step, { steps, elements });
        steps = [];
        exchange.answerId = step.id;
        exchange.outcome = step.outcome ?? null;
      }
    }
    for (const exchange of this.#exchanges) {
      if (exchange.outcome === "interrupted") exchange.showStopped();
      else if (exchange.outcome === "failed" || exchange.answer.node.matches(":not(.complete)")) exchange.showUnanswered();
      exchange.tools();
    }
    strikeCancelled(this.node);
    for (const exchange of this.#exchanges.slice(0, -1)) for (const offer of exchange.node.querySelectorAll(".offer")) offer.remove();
  }

  /** The last answer was under way when the page was loaded anew. */
  goOn() {
    const begun = underWay.of(this.session);
    const { last } = this;
    const answered = last !== null && last.answerId !== null && last.outcome === null;
    if (begun && last?.userId === begun.userId && !answered) last.goOn(begun.attempt);
    else underWay.end(this.session);
  }

  /** What was said in another view of it, and has not reached the server, is said here still, with its way to try again. */
  takeOver(other, thread) {
    const unsent = other.last?.unsentIn(thread);
    if (!unsent) return;
    this.last?.leave();
    const exchange = this.#add(unsent.question);
    this.#exchanges.at(-2)?.tools();
    exchange.showFailed(unsent);
  }

  /** What the stored turns gave to memory, under their answers. */
  showLearnt(memories) {
    for (const exchange of this.#exchanges) {
      exchange.showLearnt(memories.filter(({ source }) => source && source.message_id === exchange.userId));
    }
  }

  /** What waits for the guest's word, by id: questions that are answered go, and what no answer has asked stands under the last one. */
  settled(waiting) {
    const asked = new Set([...this.node.querySelectorAll(".confirm")].map((node) => node.dataset.memory));
    const open = [...waiting.values()].filter(({ id, session }) => session === this.session && this.session !== null && !asked.has(id));
    this.last?.answer.toConfirm(open, () => tell("memories"));
    keepWaiting(this.node, new Set(waiting.keys()));
  }
}

function fill(answer, step, { steps, elements }) {
  for (const each of steps) answer.step(each);
  answer.all({ parts: step.parts ?? [{ type: "text", text: String(step.output) }], elements, memory: step.memory });
  answer.toConfirm(step.memory?.to_confirm ?? [], () => tell("memories"));
  if (!step.outcome) answer.done();
}
