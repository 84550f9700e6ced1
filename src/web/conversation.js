// Over 300 lines: one conversation on the page, from a stream's events to what is seen; what can be told apart lies in the files beside it.

import { api, chat, Problem } from "./api.js";
import { cardViews } from "./cards.js";
import { button, byId, el, toast } from "./dom.js";
import { markdown } from "./markdown.js";
import { confirmView, keepWaiting } from "./to-confirm.js";

const MEMORY_WORDS = {
  ok: "Memory on",
  empty: "Memory on, nothing fits yet",
  disabled: "Memory off",
  timeout: "Memory was slow",
  degraded: "Memory out of reach",
};
const MEMORY_NOTES = {
  timeout: "My memory was slow: I answered with what arrived in time.",
  degraded: "My memory is out of reach: I answered from this conversation alone.",
};

export function showMemoryStatus(status) {
  byId("memory-word").textContent = MEMORY_WORDS[status] ?? "Memory";
  byId("memory-chip").dataset.status = status;
}

/** The conversation in the middle: what was said, and the turn that runs. */
export class Conversation {
  #log = byId("log");
  #onTurn;
  #onMemoryChange;
  #abort = null;
  session = null;

  constructor({ onTurn, onMemoryChange }) {
    this.#onTurn = onTurn;
    this.#onMemoryChange = onMemoryChange;
    this.#follow();
  }

  /** Keeps the newest in view while it grows, unless the reader has scrolled up. */
  #follow() {
    const log = this.#log;
    let following = true;
    const toEnd = () => {
      if (following) log.scrollTop = log.scrollHeight;
    };
    log.addEventListener("scroll", () => {
      following = log.scrollHeight - log.scrollTop - log.clientHeight < 80;
    });
    new MutationObserver(toEnd).observe(log, { childList: true, subtree: true });
    new ResizeObserver(toEnd).observe(log);
  }

  get busy() {
    return this.#abort !== null;
  }

  stop() {
    this.#abort?.abort();
  }

  clear(suggestions) {
    this.stop();
    this.session = null;
    this.#log.replaceChildren(
      el(
        "div",
        { class: "welcome" },
        el("h2", {}, "Good to see you."),
        el("p", {}, "Ask for a concert, a play, a match or a table. I keep in mind what you tell me, and you decide what stays."),
        el(
          "div",
          { class: "suggestions" },
          suggestions.map((text) => button(text, () => this.send(text), { class: "suggestion" })),
        ),
      ),
    );
  }

  /** Shows a stored thread again. `waiting`: what waits for the guest's word now, by id. */
  resume(thread, waiting) {
    this.stop();
    this.session = thread.id;
    this.#log.replaceChildren();
    let tools = [];
    let last = null;
    for (const step of thread.steps) {
      if (step.type === "tool_call") tools.push({ name: step.name ?? "tool", input: step.input, output: step.output, error: null });
      else if (step.type === "user_message") this.#addUser(String(step.output), step.id);
      else {
        const view = this.#addAssistant();
        for (const tool of tools) view.tool(tool);
        tools = [];
        view.text(String(step.output));
        view.elements(
          thread.elements.filter((element) => element.for_id === step.id),
          this.#book,
        );
        if (step.memory) {
          view.memory(step.memory, this.#onMemoryChange);
          view.toConfirm(step.memory.to_confirm, this.#onMemoryChange);
        }
        view.done();
        last = view;
      }
    }
    // What the conversation gave and no answer has asked about yet.
    const asked = new Set(thread.steps.flatMap((step) => (step.memory?.to_confirm ?? []).map(({ id }) => id)));
    const open = [...waiting.values()].filter(({ id, session }) => session === thread.id && !asked.has(id));
    last?.toConfirm(open, this.#onMemoryChange);
    this.settled(waiting);
  }

  /** Takes away the questions that are answered. */
  settled(waiting) {
    keepWaiting(this.#log, new Set(waiting.keys()));
  }

  /** `consent`: the token of the quote whose button was pressed. */
  send(message, consent) {
    if (this.busy) return;
    this.#log.querySelector(".welcome")?.remove();
    this.#addUser(message);
    return this.#run(message, crypto.randomUUID(), consent);
  }

  #book = (words, token) => void this.send(words, token);

  async #run(message, key, consent) {
    const abort = new AbortController();
    this.#abort = abort;
    this.#busyView(true);
    const view = this.#addAssistant();
    view.waiting();
    let text = "";
    try {
      let complete = false;
      for await (const { event, data } of chat({ message, session: this.session, key, consent, signal: abort.signal })) {
        if (event === "session") this.session = data.session_id;
        else if (event === "memory") {
          showMemoryStatus(data.status);
          view.memory(data, this.#onMemoryChange);
        } else if (event === "step") view.tool(data);
        else if (event === "token") {
          text += data.delta;
          view.text(text);
        } else if (event === "retract") {
          text = data.content;
          view.text(text);
        } else if (event === "error") throw new Problem(data);
        else if (event === "message") {
          complete = true;
          view.text(data.message.content);
          view.elements(data.elements, this.#book);
          view.toConfirm(data.memory.to_confirm ?? [], this.#onMemoryChange);
          this.#onTurn({ session: data.session_id, turn: data.turn, writeBack: data.memory.write_back, view });
        }
      }
      if (!complete)
        throw new Problem({
          title: "The answer broke off",
          detail: "The answer broke off.",
          hint: "Try again: nothing is done twice.",
          code: "DISCONNECTED",
        });
      view.done();
    } catch (error) {
      if (error.name === "AbortError") view.stopped();
      else
        view.failed(error, () => {
          view.remove();
          void this.#run(message, key, consent);
        });
      if (this.session) this.#onTurn({ session: this.session, writeBack: "disabled", view });
    } finally {
      if (this.#abort === abort) this.#abort = null;
      this.#busyView(false);
    }
  }

  #busyView(busy) {
    this.#log.setAttribute("aria-busy", String(busy));
    byId("send").hidden = busy;
    byId("stop").hidden = !busy;
  }

  /** Brings a message into view, and marks it for a moment. Nothing where it is not (any more) there. */
  show(message) {
    const node = [...this.#log.children].find((each) => each.dataset.message === message);
    if (!node) return;
    node.tabIndex = -1;
    node.classList.add("shown");
    node.focus({ preventScroll: true });
    node.scrollIntoView({ block: "center" });
  }

  #addUser(text, id = "") {
    // What was offered before is answered by whatever is said now.
    for (const offer of this.#log.querySelectorAll(".offer")) offer.remove();
    const node = el("article", { class: "turn user", "aria-label": "You" }, el("div", { class: "bubble" }, text));
    node.dataset.message = id;
    this.#log.append(node);
    this.#log.scrollTop = this.#log.scrollHeight;
  }

  #addAssistant() {
    const view = new AnswerView();
    this.#log.append(view.node);
    return view;
  }
}

class AnswerView {
  #tools = el("div", { class: "tools" });
  #text = el("div", { class: "prose" });
  #cards = el("div", { class: "cards" });
  #confirm = el("div", { class: "to-confirm" });
  #foot = el("div", { class: "foot" });
  #frame = 0;
  node = el(
    "article",
    { class: "turn assistant", "aria-label": "Maitred" },
    this.#tools,
    this.#text,
    this.#cards,
    this.#confirm,
    this.#foot,
  );

  waiting() {
    this.#text.replaceChildren(el("span", { class: "typing", role: "img", "aria-label": "Thinking" }, el("i"), el("i"), el("i")));
  }

  text(markup) {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#text.replaceChildren(markdown(markup)));
  }

  tool({ name, input, output, error }) {
    const label = name.replaceAll("_", " ");
    const detail = JSON.stringify({ input, output, ...(error ? { error } : {}) }, null, 2);
    this.#tools.append(
      el(
        "details",
        { class: error ? "tool bad" : "tool" },
        el("summary", {}, error ? `${label} (did not work)` : label),
        el("pre", { tabindex: "0" }, detail.slice(0, 8000)),
      ),
    );
  }

  elements(elements, onBook) {
    this.#cards.replaceChildren(...cardViews(elements, onBook));
  }

  memory({ status, recalled }, onChange) {
    const note = MEMORY_NOTES[status];
    if (note) this.#foot.append(el("p", { class: "small warn" }, note));
    if (!recalled.length) return;
    const label = recalled.length === 1 ? "Kept one thing about you in mind" : `Kept ${recalled.length} things about you in mind`;
    this.#foot.append(
      el(
        "details",
        { class: "recalled" },
        el("summary", {}, label),
        el(
          "ul",
          {},
          recalled.map((memory) => recalledView(memory, onChange)),
        ),
      ),
    );
  }

  /** What waits for the guest's word, each with Yes and No. */
  toConfirm(waiting, onSettled) {
    for (const each of waiting) {
      if ([...this.#confirm.children].every((node) => node.dataset.memory !== each.id)) this.#confirm.append(confirmView(each, onSettled));
    }
  }

  /** What this turn added to the memories. */
  noted(memories, onForget) {
    for (const memory of memories) {
      const line = el("p", { class: "small noted" }, el("span", {}, `Noted: ${memory.text}`));
      line.append(
        button("Forget", async () => {
          if (await onForget(memory)) line.replaceChildren(el("span", {}, "Forgotten."));
        }),
      );
      this.#foot.append(line);
    }
  }

  done() {
    this.node.classList.add("complete");
  }

  stopped() {
    this.#settle();
    this.#foot.append(el("p", { class: "small warn" }, "You stopped this answer. It stays out of the conversation's memory."));
  }

  failed(error, retry) {
    this.#settle();
    const known =
      error instanceof Problem
        ? error
        : new Problem({ title: "The page could not show the answer", detail: String(error?.message ?? error) });
    this.#foot.append(
      el(
        "div",
        { class: "problem", role: "alert" },
        el("strong", {}, known.title),
        known.message !== known.title && el("p", {}, known.message),
        known.hint && el("p", { class: "small" }, known.hint),
        el(
          "div",
          { class: "row" },
          button("Try again", retry, { class: "secondary" }),
          known.requestId && el("span", { class: "small" }, `Request ${known.requestId}`),
        ),
      ),
    );
  }

  remove() {
    this.node.remove();
  }

  #settle() {
    if (this.#text.querySelector(".typing")) this.#text.replaceChildren();
  }
}

function recalledView(memory, onChange) {
  const reason = el("div", { class: "why" });
  const line = el(
    "li",
    {},
    el("span", { class: "memory-text" }, memory.text),
    el("span", { class: "tag" }, memory.category),
    memory.strength === "hard" && el("span", { class: "tag hard" }, "must hold"),
    memory.subject?.startsWith("companion:") && el("span", { class: "tag" }, memory.subject.slice(10)),
    button("Why?", () => void showWhy(memory.id, reason)),
    button("Forget", async () => {
      if (await forget(memory)) {
        line.classList.add("gone");
        onChange();
      }
    }),
    reason,
  );
  return line;
}

/** Forgets for good, and says how it went. */
export async function forget(memory) {
  try {
    await api.forget(memory.id);
    toast(`Forgotten: ${memory.text}`);
    return true;
  } catch (error) {
    toast(error.message, { error: true });
    return false;
  }
}

export async function showWhy(id, into) {
  try {
    const { source } = await api.why(id);
    if (!source) into.replaceChildren(el("p", { class: "small" }, "You added this by hand."));
    else if (source.message === null) into.replaceChildren(el("p", { class: "small" }, "The conversation it came from is gone."));
    else into.replaceChildren(el("p", { class: "small" }, "You said:"), el("blockquote", {}, source.message));
  } catch (error) {
    into.replaceChildren(el("p", { class: "small warn" }, error.message));
  }
}
