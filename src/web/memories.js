import { api } from "./api.js";
import { forget, showWhy } from "./conversation.js";
import { ask, button, byId, el, toast } from "./dom.js";
import { confirmView, waitingOf } from "./to-confirm.js";

const LIMIT = 100;

/** The panel of what is remembered: look, search, add, edit, forget, review. */
export class Memories {
  #list = byId("memory-list");
  #loads = 0;
  /** What waits for the guest's word, by id, each with the session and turn that it comes from. */
  waiting = new Map();
  /** Called when what waits was read again. */
  onChange = () => {};

  constructor() {
    byId("memory-search").addEventListener("submit", (event) => event.preventDefault());
    let timer = 0;
    byId("memory-query").addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => void this.load(), 200);
    });
    byId("memory-add").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#add();
    });
  }

  /** Reads them again. */
  async load() {
    const mine = ++this.#loads;
    const q = byId("memory-query").value.trim();
    try {
      const [active, review] = await Promise.all([api.memories({ q, limit: LIMIT }), api.memories({ status: "review", limit: LIMIT })]);
      if (mine !== this.#loads) return;
      const shown = active.data.filter((memory) => memory.status === "active");
      const open = [...review.data, ...shown.filter((memory) => memory.pending_change)];
      this.#render(shown, q ? [] : open, q);
      if (q) return;
      this.#state(active.next_cursor ? `Showing the newest ${LIMIT}.` : "");
      this.waiting = new Map(open.map((memory) => [memory.id, fromTurn(memory)]));
      this.onChange();
    } catch (error) {
      if (mine !== this.#loads) return;
      this.#list.replaceChildren();
      this.#state(
        error.code === "LONG_TERM_MEMORY_DISABLED"
          ? "Long-term memory is switched off on this server. I only know what we say here."
          : error.message,
      );
      byId("memory-add").hidden = error.code === "LONG_TERM_MEMORY_DISABLED";
    }
  }

  #state(text) {
    byId("memory-state").textContent = text;
  }

  #render(active, review, q) {
    byId("memory-add").hidden = false;
    const hard = active.filter((memory) => memory.strength === "hard");
    const soft = active.filter((memory) => memory.strength !== "hard");
    const groups = q
      ? [["Found", active]]
      : [
          ["Waiting for your word", review],
          ["Must always hold", hard],
          ["Preferences and facts", soft],
        ];
    const filled = groups.filter(([, memories]) => memories.length > 0);
    const empty = el("p", { class: "small empty" }, q ? "Nothing fits." : "Nothing yet. Tell me what you like, and what must hold.");
    this.#list.replaceChildren(
      ...(filled.length
        ? filled.map(([name, memories]) =>
            el(
              "section",
              {},
              el("h3", {}, name),
              el(
                "ul",
                {},
                memories.map((memory) => (memories === review ? this.#question(memory) : this.#item(memory))),
              ),
            ),
          )
        : [empty]),
    );
  }

  #question(memory) {
    return el(
      "li",
      { class: "memory" },
      confirmView(waitingOf(memory), () => void this.load()),
    );
  }

  #item(memory) {
    const reason = el("div", { class: "why" });
    const until =
      memory.valid_until && new Date(memory.valid_until).toLocaleDateString([], { day: "numeric", month: "short", year: "numeric" });
    return el(
      "li",
      { class: memory.strength === "hard" ? "memory hard" : "memory" },
      el("p", { class: "memory-text" }, memory.text),
      el(
        "p",
        { class: "tags" },
        el("span", { class: "tag" }, memory.category),
        memory.subject.startsWith("companion:") && el("span", { class: "tag" }, `for ${memory.subject.slice(10)}`),
        memory.scope === "trip" && el("span", { class: "tag" }, "this trip"),
        until && el("span", { class: "tag" }, `until ${until}`),
      ),
      el(
        "div",
        { class: "row" },
        button("Why?", () => void showWhy(memory.id, reason)),
        button("Edit", () => void this.#edit(memory)),
        button("Forget", async () => {
          if (await forget(memory)) await this.load();
        }),
      ),
      reason,
    );
  }

  async #add() {
    const text = byId("memory-text").value.trim();
    if (!text) return;
    const hard = byId("memory-hard").checked;
    await this.#try(async () => {
      await api.remember({ text, ...(hard ? { strength: "hard" } : {}) });
      byId("memory-add").reset();
    });
  }

  async #edit(memory) {
    const text = await ask({ title: "Edit memory", field: { label: "What is true now", value: memory.text, max: 500 }, confirm: "Save" });
    if (text && text !== memory.text) await this.#try(() => api.edit(memory.id, text));
  }

  async #try(work) {
    try {
      await work();
      await this.load();
    } catch (error) {
      toast(error.message, { error: true });
    }
  }
}

function fromTurn(memory) {
  const source = memory.pending_change ? memory.pending_change.source : memory.source;
  return { ...waitingOf(memory), session: source?.session_id ?? null, turn: source?.turn ?? null };
}
