import { AnswerView, memoryIsOn } from "./answer.js";
import { api, freshKey } from "./api.js";
import { state, tell } from "./bus.js";
import { button, el, toast } from "./dom.js";
import { editForm } from "./edit-form.js";
import { forgetWithUndo } from "./panel-forget.js";
import { sessionApi } from "./session-api.js";
import { runTurn } from "./turn-run.js";
import { underWay } from "./under-way.js";

const MAX_CHARS = 8000;

/** A question and its answer. The last one of a conversation can be said differently, asked again, stopped and tried again. */
export class Exchange {
  #talk;
  #question = "";
  #attempt = null;
  /** Why the last attempt failed; null where it did not. */
  #failure = null;
  #abort = null;
  #bubble = el("div", { class: "bubble", dir: "auto" });
  #tools = el("div", { class: "bubble-bar" });
  #user = el("article", { class: "turn user", "aria-label": "You" }, this.#bubble, this.#tools);
  answer;
  /** Of the user's message; null until the server has it. */
  userId = null;
  answerId = null;
  /** Its number in the conversation; undefined until the server has begun it. */
  #turn;
  /** How a stored turn ended that has no whole answer: `interrupted` or `failed`. */
  outcome = null;
  node;

  /** `talk`: the conversation, which has `session`, `stale`, `say`, `onSession`, `onRunning` and `onDone`. */
  constructor(talk, question) {
    this.#talk = talk;
    this.answer = new AnswerView({ say: (words, more) => talk.say(words, more) });
    this.node = el("section", { class: "exchange" }, question === null ? null : this.#user, this.answer.node);
    this.#ask(question ?? "");
  }

  get busy() {
    return this.#abort !== null;
  }

  get question() {
    return this.#question;
  }

  /** The number of the turn that is under way. */
  get turn() {
    return this.#turn;
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

  /** Said by a button: the keyboard goes on here. */
  focus() {
    this.node.classList.add("said");
    this.node.tabIndex = -1;
    this.node.focus({ preventScroll: true });
  }

  /** Something else is said: what this one still offers is over. */
  leave() {
    this.#closeEdit();
    this.answer.leave();
  }

  /** What was said and failed, where the stored thread does not have it; null where nothing is lost. */
  unsentIn(thread) {
    if (this.#failure === null || this.busy) return null;
    const { edit_of: edited, ...body } = this.#attempt.body;
    // Before the server has other words, the message is the one that they were to replace.
    if (this.userId !== edited && thread.steps.some(({ id }) => id === this.userId)) return null;
    const attempt = edited === undefined ? this.#attempt : { body, key: freshKey() };
    return { question: this.#question, attempt, error: this.#failure };
  }

  /** One that failed in another view of this conversation. */
  showFailed({ attempt, error }) {
    this.#attempt = attempt;
    this.#failed(error);
    this.tools();
  }

  /** One that was under way when the page was loaded anew: the same under the same key. */
  goOn(attempt) {
    this.#attempt = attempt;
    void this.#run();
  }

  #failed(error) {
    this.#failure = error;
    if (error.code === "EDIT_NOT_LAST") this.#talk.stale = true;
    this.answer.failed(error, () => void this.#again());
  }

  /** The same under the same key. */
  #again() {
    if (!this.#talk.busy) void this.#run();
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
    this.#attempt = { body, key: freshKey() };
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
    const before = this.#talk.session;
    this.#abort = abort;
    this.#failure = null;
    this.#turn = undefined;
    this.answer.clear();
    this.answer.waiting();
    this.tools();
    this.#talk.onRunning(this);
    let text = "";
    const view = {
      onEvent: (event, data) => {
        if (event === "session") {
          this.userId = data.user_message_id;
          this.#turn = data.turn;
          this.#talk.onSession(data.session_id);
          if (!this.#talk.incognito) underWay.begin(data.session_id, { attempt: this.#attempt, userId: this.userId });
          tell("taken", { session: before });
        } else if (event === "memory") this.answer.memory(data);
        else if (event === "step") this.answer.step(data);
        else if (event === "part") this.answer.part(data);
        else if (event === "token" || event === "retract") {
          text = event === "token" ? text + data.delta : data.content;
          this.answer.text(text);
        }
      },
      onLost: () => this.answer.waiting("I wait for the connection …"),
      onQuiet: () => this.answer.waiting("It has gone quiet. I look for your answer …"),
      onBack: () => this.answer.waiting(),
      onSent: () => this.answer.waiting(),
      // It begins anew.
      onAgain: () => {
        text = "";
        this.answer.clear();
        this.answer.waiting();
      },
    };
    let answered;
    try {
      await this.#openKept(this.#attempt);
      const answer = await runTurn(this.#attempt, abort.signal, view);
      if (answer === null) this.#stopped();
      else answered = this.#answered(answer);
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#abort = null;
      underWay.end(this.#talk.session);
      this.tools();
      this.#talk.onDone({ turn: this.#turn, ok: answered !== undefined, failed: this.#failure !== null });
    }
    if (answered) void this.#learn(answered);
  }

  #answered(answer) {
    this.#talk.onSession(answer.session_id);
    this.answerId = answer.message.id;
    this.answer.all(answer);
    this.answer.toConfirm(answer.memory.to_confirm ?? [], () => tell("memories"));
    this.answer.done();
    this.#turn = answer.turn;
    return { session: answer.session_id, turn: answer.turn, writeBack: answer.memory.write_back };
  }

  #stopped() {
    this.showStopped("You stopped this answer.");
    if (document.activeElement === document.body) this.answer.focusState();
  }

  /** By the guest, by a reload, by a phone that fell asleep: a stored turn doesn't tell. */
  showStopped(words = "This answer was stopped.") {
    this.answer.ended(words, { retry: this.isLast ? () => this.#sayAgain() : undefined });
  }

  /** A stored turn that ended without an answer. */
  showUnanswered() {
    this.answer.ended("This was not answered.", { retry: this.isLast ? () => this.#sayAgain() : undefined });
  }

  /** What the turn gave to memory is named once it is written. */
  async #learn({ session, turn, writeBack }) {
    if (writeBack !== "pending" || !memoryIsOn()) return;
    const attempt = this.#attempt;
    try {
      await api.flush(session);
      const { data } = await api.memories({ session_id: session, turn, limit: 100 });
      // Said differently meanwhile: it is not this answer's any more.
      if (attempt === this.#attempt) this.showLearnt(data);
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
    try {
      // Browsers have it only where the page came by HTTPS or from this machine.
      await navigator.clipboard.writeText(this.answer.content);
      toast("Copied.");
    } catch {
      toast("This browser doesn't let me copy. Select the text instead.", { error: true });
    }
  }

  #edit() {
    const { form, field } = editForm(this.#question, {
      maxLength: MAX_CHARS,
      onSend: (text) => this.#sayAgain(text),
      onClose: () => {
        this.#closeEdit();
        this.#tools.querySelector("button")?.focus();
        tell("edited", { session: this.#talk.session });
      },
    });
    this.#bubble.replaceWith(form);
    this.#tools.hidden = true;
    field.focus();
  }

  #closeEdit() {
    this.#user.querySelector("form.edit")?.replaceWith(this.#bubble);
    this.#tools.hidden = false;
  }
}
