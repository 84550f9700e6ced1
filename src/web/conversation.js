import { strikeCancelled } from "./booking-cards.js";
import { state, tell } from "./bus.js";
import { el } from "./dom.js";
import { Exchange } from "./exchange.js";
import { keepWaiting } from "./to-confirm.js";

/** One conversation: its questions and answers. It lives on while it answers, shown or not. */
export class Conversation {
  #exchanges = [];
  node = el("div", { class: "thread" });
  session = null;
  incognito = false;

  get busy() {
    return this.#exchanges.some((exchange) => exchange.busy);
  }

  get last() {
    return this.#exchanges.at(-1) ?? null;
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
    if (this.busy) return;
    // What was offered before is answered by whatever is said now.
    for (const offer of this.node.querySelectorAll(".offer")) offer.remove();
    const before = this.last;
    const exchange = this.#add(message);
    before?.tools();
    tell("said", { conversation: this, exchange });
    void exchange.send(more);
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
    tell("running", { conversation: this });
  }

  onDone(_exchange, turn) {
    state.running.delete(this.session);
    strikeCancelled(this.node);
    tell("running");
    tell("turn", { session: this.session, turn: turn?.turn, ok: turn !== undefined, conversation: this });
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
        const exchange = open ?? this.#add(null);
        open = null;
        const elements = thread.elements.filter((element) => element.for_id === step.id);
        fill(exchange.answer, step, { steps, elements });
        steps = [];
        exchange.answerId = step.id;
        if (step.outcome) exchange.outcome = step.outcome;
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
  answer.text(String(step.output));
  if (step.memory) {
    answer.memory(step.memory);
    answer.toConfirm(step.memory.to_confirm ?? [], () => tell("memories"));
  }
  answer.elements(elements);
  if (!step.outcome) answer.done();
}
