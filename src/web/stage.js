import { memoryIsOn } from "./answer.js";
import { api } from "./api.js";
import { on, state, tell } from "./bus.js";
import { showBusy } from "./composer.js";
import { Conversation } from "./conversation.js";
import { button, byId, el, toast, toastProblem } from "./dom.js";
import { wordsFor } from "./problems.js";
import { toMessage, toQuestion } from "./scroll.js";
import { nextView, welcomeView } from "./welcome.js";

/** A conversation that takes longer to be read says that it is being opened. */
const AT_ONCE_MS = 300;

/** Which conversation is shown. One that answers goes on behind it, and is there again as it is when it is opened. */
export class Stage {
  /** By id: those that answer, and those with a message that failed while another one was shown. */
  #running = new Map();
  #opens = 0;
  conversation = new Conversation();

  /** `onOpened(thread)`: a stored one is shown. `titleOf(id)`. */
  constructor({ onOpened, titleOf }) {
    on("said", ({ conversation, exchange }) => {
      if (conversation !== this.conversation) return;
      // The button that said it is gone, or far above.
      const at = document.activeElement;
      const pressed = at === document.body || byId("log").contains(at);
      for (const node of byId("log").querySelectorAll(".welcome, .not-opened, .opening, .next")) node.remove();
      toQuestion(exchange);
      if (pressed) exchange.focus();
    });
    on("begun", ({ conversation }) => {
      this.#running.set(conversation.session, conversation);
      if (conversation === this.conversation) this.#tell({ begun: true });
    });
    on("running", ({ conversation }) => {
      if (conversation?.session) this.#running.set(conversation.session, conversation);
      showBusy(this.conversation.busy);
    });
    on("turn", ({ conversation, session, ok, failed }) => {
      if (conversation) this.#over(conversation, { session, ok, failed });
      if (ok && conversation === this.conversation && !conversation.busy) this.#suggestNext();
    });
    on("stop", ({ id }) => this.#running.get(id)?.stop());
    on("edited", ({ session }) => this.conversation.stale && void this.refresh(session));
    on("known", () => this.conversation.settled(state.waiting));
    on("connection", ({ up }) => up && byId("log").querySelector(".not-opened button")?.click());
    this.titleOf = titleOf;
    this.onOpened = onOpened;
  }

  /** Who began with a suggestion finds the others under its answer. */
  #suggestNext() {
    const { last } = this.conversation;
    const next = last && nextView(last.question, (text) => this.say(text));
    if (next) last.node.append(next);
  }

  say(text) {
    this.conversation.say(text);
  }

  startNew({ incognito = false } = {}) {
    this.#opens += 1;
    this.#show(new Conversation());
    this.conversation.incognito = incognito;
    this.#tell();
    byId("log").prepend(welcomeView((text) => this.say(text)));
  }

  /** Opens a stored conversation, at one of its messages where one is named. Gives whether it is there. */
  async open(id, message = null) {
    const mine = ++this.#opens;
    const running = this.#running.get(id);
    if (running) {
      this.#showLive(running);
      return true;
    }
    let before = null;
    const slow = setTimeout(() => {
      if (mine === this.#opens) before = this.#showOpening(id);
    }, AT_ONCE_MS);
    try {
      const thread = await api.thread(id);
      // What is said in it meanwhile goes there, and what was said before is shown when that is answered.
      if (mine !== this.#opens || before?.last) return true;
      this.#resume(thread, message, before);
      this.onOpened(thread);
      this.#tell();
      return true;
    } catch (error) {
      if (mine !== this.#opens) return true;
      if (error.status === 404 || error.status === 400) {
        toastProblem(error);
        return false;
      }
      if (!before?.last) this.#showNotOpened(id, message, error);
      return true;
    } finally {
      clearTimeout(slow);
    }
  }

  /** Nothing of it is there yet; what is said goes there all the same. */
  #showOpening(id) {
    const conversation = this.#showUnread(id);
    const title = this.titleOf(id);
    byId("log").prepend(el("p", { class: "opening small", role: "status" }, title ? `Opening “${title}” …` : "One moment …"));
    return conversation;
  }

  #showUnread(id) {
    const conversation = new Conversation();
    conversation.session = id;
    conversation.stale = true;
    this.#show(conversation);
    this.#tell();
    return conversation;
  }

  /** The conversation was gone on with elsewhere, and is open here. */
  async refresh(session, turn) {
    const shown = this.conversation;
    if (session === null || session !== shown.session || (shown.busy && shown.last.turn === turn)) return;
    shown.stale = true;
    if (shown.busy || shown.editing) return;
    const thread = await api.thread(session).catch(() => null);
    if (!thread || shown !== this.conversation || shown.busy || shown.editing) return;
    this.#resume(thread, null, shown);
  }

  /** A turn of this page's is over. */
  #over(conversation, { session, ok, failed }) {
    if (!failed || conversation === this.conversation) this.#running.delete(session);
    if (conversation === this.conversation) {
      if (conversation.stale) void this.refresh(session);
    } else if (ok) {
      toast(`Your answer in “${this.titleOf(session) ?? "another conversation"}” is there.`, {
        action: { label: "Open", run: () => void this.open(session) },
      });
    } else if (failed) {
      toast(`There is no answer in “${this.titleOf(session) ?? "another conversation"}”.`, {
        error: true,
        action: { label: "Open", run: () => this.#showLive(conversation) },
      });
    }
  }

  /** One that was there all the time. */
  #showLive(conversation) {
    this.#opens += 1;
    this.#show(conversation);
    this.#tell({ live: true });
    if (conversation.busy) return;
    this.#running.delete(conversation.session);
    void this.refresh(conversation.session);
  }

  /** What was said in it can't be read just now; what is said goes there all the same. */
  #showNotOpened(id, message, error) {
    this.#showUnread(id);
    const { title } = wordsFor(error);
    byId("log").prepend(
      el(
        "div",
        { class: "problem not-opened", role: "alert" },
        el("strong", {}, title),
        el("p", {}, "What was said here before can't be shown at the moment."),
        button("Try again", () => void this.open(id, message), { class: "secondary" }),
      ),
    );
  }

  /** `before`: the view of it that was shown until now. */
  #resume(thread, message, before = null) {
    const conversation = new Conversation();
    conversation.resume(thread);
    if (before) conversation.takeOver(before, thread);
    this.#show(conversation);
    conversation.goOn();
    conversation.settled(state.waiting);
    if (message) toMessage(conversation, message);
    else if (conversation.last) toQuestion(conversation.last);
    if (memoryIsOn() && !conversation.incognito) void this.#showLearnt(conversation);
  }

  async #showLearnt(conversation) {
    const given = await api.memories({ session_id: conversation.session, limit: 200 }).catch(() => null);
    if (given) conversation.showLearnt(given.data);
  }

  #show(conversation) {
    this.conversation = conversation;
    byId("log").replaceChildren(conversation.node);
    showBusy(conversation.busy);
  }

  #tell({ begun = false, live = false } = {}) {
    state.session = this.conversation.session;
    state.incognito = this.conversation.incognito;
    tell("session", { id: state.session, begun, live });
  }
}
