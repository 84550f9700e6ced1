import { memoryIsOn } from "./answer.js";
import { api } from "./api.js";
import { on, state, tell } from "./bus.js";
import { showBusy } from "./composer.js";
import { Conversation } from "./conversation.js";
import { byId, toast, toastProblem } from "./dom.js";
import { toMessage, toQuestion } from "./scroll.js";
import { welcomeView } from "./welcome.js";

/** Which conversation is shown. One that answers goes on behind it, and is there again as it is when it is opened. */
export class Stage {
  /** By id: those that answer. */
  #running = new Map();
  #opens = 0;
  conversation = new Conversation();

  /** `onOpened(thread)`: a stored one is shown. `titleOf(id)`. */
  constructor({ onOpened, titleOf }) {
    on("said", ({ conversation, exchange }) => {
      if (conversation !== this.conversation) return;
      byId("log").querySelector(".welcome")?.remove();
      toQuestion(exchange);
    });
    on("begun", ({ conversation }) => {
      this.#running.set(conversation.session, conversation);
      if (conversation === this.conversation) this.#tell({ begun: true });
    });
    on("running", ({ conversation }) => {
      if (conversation?.session) this.#running.set(conversation.session, conversation);
      showBusy(this.conversation.busy);
    });
    on("turn", ({ conversation, session, ok }) => {
      if (!conversation) return;
      this.#running.delete(session);
      if (conversation === this.conversation || !ok) return;
      toast(`Your answer in “${titleOf(session) ?? "another conversation"}” is there.`, {
        action: { label: "Open", run: () => void this.open(session) },
      });
    });
    on("known", () => this.conversation.settled(state.waiting));
    this.onOpened = onOpened;
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
      this.#show(running);
      this.#tell();
      return true;
    }
    try {
      const thread = await api.thread(id);
      if (mine !== this.#opens) return true;
      this.#resume(thread, message);
      this.onOpened(thread);
      this.#tell();
      return true;
    } catch (error) {
      if (mine !== this.#opens) return true;
      toastProblem(error);
      return error.status !== 404 && error.status !== 400;
    }
  }

  /** Another tab went on with the conversation that is open here. */
  async refresh(session) {
    if (session !== this.conversation.session || this.conversation.busy) return;
    const thread = await api.thread(session).catch(() => null);
    if (thread && session === this.conversation.session && !this.conversation.busy) this.#resume(thread, null);
  }

  #resume(thread, message) {
    const conversation = new Conversation();
    conversation.resume(thread);
    this.#show(conversation);
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

  #tell({ begun = false } = {}) {
    state.session = this.conversation.session;
    state.incognito = this.conversation.incognito;
    tell("session", { id: state.session, begun });
  }
}
