import { AnswerView, memoryIsOn } from "./answer.js";
import { api } from "./api.js";
import { state, tell } from "./bus.js";
import { button, el, toast } from "./dom.js";
import { forgetWithUndo } from "./panel-forget.js";
import { sessionApi } from "./session-api.js";
import { runTurn } from "./turn-run.js";

const MAX_CHARS = 8000;

/** A question and its answer. The last one of a conversation can be said differently, asked again, stopped and tried again. */
export class Exchange {
  #talk;
  #question = "";
  #attempt = null;
  #abort = null;
  #bubble = el("div", { class: "bubble", dir: "auto" });
  #tools = el("div", { class: "bubble-bar" });
  #user = el("article", { class: "turn user", "aria-label": "You" }, this.#bubble, this.#tools);
  answer;
  /** Of the user's message; null until the server has it. */
  userId = null;
  answerId = null;
  /** How a stored turn ended that has no whole answer: `interrupted` or `failed`. */
  outcome = null;
  node;

  /** `talk`: the conversation, which has `session`, `say`, `onSession`, `onRunning` and `onDone`. */
  constructor(talk, question) {
    this.#talk = talk;
    this.answer = new AnswerView({ say: (words, more) => talk.say(words, more) });
    this.node = el("section", { class: "exchange" }, question === null ? null : this.#user, this.answer.node);
    this.#ask(question ?? "");
  }

  get busy() {
    return this.#abort !== null;
  }

  get isLast() {
    return this.#talk.last === this;
  }

  #ask(question) {
    this.#question = question;
    this.#bubble.textContent = question;
  }

  stop() {
    this.#abort?.abort();
  }

  /** Sends it, with `more` fields of the request's body. */
  send(more = {}) {
    const body = {
      message: this.#question,
      stream: true,
      channel: "page",
      ...(this.#talk.session ? { session_id: this.#talk.session } : {}),
      ...(this.#talk.incognito || state.paused ? { incognito: true } : {}),
      ...more,
    };
    this.#attempt = { body, key: crypto.randomUUID() };
    return this.#run();
  }

  /** In place of what was said: the same again, or other words. */
  #sayAgain(question = this.#question) {
    if (this.#talk.busy) return;
    this.#ask(question);
    void this.send(this.userId === null ? {} : { edit_of: this.userId });
  }

  /** While memory is paused a conversation is kept all the same: begun by an incognito turn, it would be temporary as a whole. */
  async #openKept({ body, key }) {
    if (body.incognito && !body.session_id && !this.#talk.incognito) body.session_id = (await sessionApi.begin(key)).id;
  }

  async #run() {
    const abort = new AbortController();
    this.#abort = abort;
    this.answer.clear();
    this.answer.waiting();
    this.tools();
    this.#talk.onRunning(this);
    let text = "";
    const view = {
      onEvent: (event, data) => {
        if (event === "session") {
          this.userId = data.user_message_id;
          this.#talk.onSession(data.session_id);
        } else if (event === "memory") this.answer.memory(data);
        else if (event === "step") this.answer.step(data);
        else if (event === "token" || event === "retract") {
          text = event === "token" ? text + data.delta : data.content;
          this.answer.text(text);
        }
      },
      onLost: () => this.answer.waiting("I wait for the connection …"),
      onAgain: () => {
        text = "";
        this.answer.clear();
        this.answer.waiting();
      },
    };
    let turn;
    try {
      await this.#openKept(this.#attempt);
      const answer = await runTurn(this.#attempt, abort.signal, view);
      if (answer === null) this.#stopped();
      else turn = this.#answered(answer);
    } catch (error) {
      this.answer.failed(error, () => void this.#run());
    } finally {
      this.#abort = null;
      this.tools();
      this.#talk.onDone(this, turn);
    }
    if (turn) void this.#learn(turn);
  }

  #answered(answer) {
    this.#talk.onSession(answer.session_id);
    this.answerId = answer.message.id;
    this.answer.text(answer.message.content);
    this.answer.memory(answer.memory);
    this.answer.elements(answer.elements);
    this.answer.toConfirm(answer.memory.to_confirm ?? [], () => tell("memories"));
    this.answer.done();
    return { session: answer.session_id, turn: answer.turn, writeBack: answer.memory.write_back };
  }

  #stopped() {
    this.showStopped();
    if (document.activeElement === document.body) this.answer.focusState();
  }

  showStopped() {
    this.answer.ended("You stopped this answer.", { retry: this.isLast ? () => this.#sayAgain() : undefined });
  }

  /** A stored turn that ended without an answer. */
  showUnanswered() {
    this.answer.ended("This was not answered.", { retry: this.isLast ? () => this.#sayAgain() : undefined });
  }

  /** What the turn gave to memory is named once it is written. */
  async #learn({ session, turn, writeBack }) {
    if (writeBack !== "pending" || !memoryIsOn()) return;
    try {
      await api.flush(session);
      const { data } = await api.memories({ session_id: session, turn, limit: 100 });
      this.showLearnt(data);
      tell("memories");
    } catch {
      // The answer stands; the panel shows the state of the memory when it is opened.
    }
  }

  showLearnt(memories) {
    this.answer.noted(
      memories.filter(({ status }) => status === "active"),
      forgetWithUndo,
    );
  }

  /** The buttons that fit what it is now. */
  tools() {
    const free = this.isLast && !this.#talk.busy;
    this.#tools.replaceChildren(
      ...(free && this.#question ? [button("Edit", () => this.#edit(), { "aria-label": "Edit and send again" })] : []),
    );
    if (this.busy) return this.answer.bar([]);
    const whole = this.answer.node.classList.contains("complete");
    this.answer.bar([
      this.answer.content && ["Copy", () => void this.#copy()],
      free && whole && this.userId !== null && ["Ask again", () => this.#sayAgain()],
    ]);
  }

  async #copy() {
    await navigator.clipboard.writeText(this.answer.content).then(
      () => toast("Copied."),
      () => toast("This browser doesn't let me copy. Select the text instead.", { error: true }),
    );
  }

  #edit() {
    const field = el("textarea", { "aria-label": "Your message", rows: "3", maxlength: String(MAX_CHARS), dir: "auto" });
    field.value = this.#question;
    const close = () => {
      form.replaceWith(this.#bubble);
      this.#tools.hidden = false;
      this.#tools.querySelector("button")?.focus();
    };
    const send = () => {
      const text = field.value.trim();
      close();
      if (text) this.#sayAgain(text);
    };
    const form = el(
      "form",
      { class: "edit" },
      field,
      el("div", { class: "row end" }, button("Cancel", close), el("button", { type: "submit", class: "primary" }, "Send again")),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      send();
    });
    form.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        event.stopPropagation();
        close();
      } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing && event.keyCode !== 229 && event.target === field) {
        event.preventDefault();
        send();
      }
    });
    this.#bubble.replaceWith(form);
    this.#tools.hidden = true;
    field.focus();
  }
}
