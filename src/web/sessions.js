import { api } from "./api.js";
import { ask, button, byId, el, toast, when } from "./dom.js";

/** The list of conversations: open, rename, delete with a way back. */
export class SessionList {
  #onOpen;
  #onRemoved;
  #cursor = null;
  #sessions = [];
  current = null;

  constructor({ onOpen, onRemoved }) {
    this.#onOpen = onOpen;
    this.#onRemoved = onRemoved;
    byId("more-sessions").addEventListener("click", () => void this.#more());
  }

  titleOf(id) {
    return this.#sessions.find((session) => session.id === id)?.title ?? null;
  }

  async load() {
    const page = await api.sessions({ limit: 30 });
    this.#sessions = page.data;
    this.#cursor = page.next_cursor;
    this.render();
  }

  async #more() {
    try {
      const page = await api.sessions({ limit: 30, cursor: this.#cursor });
      this.#sessions = [...this.#sessions, ...page.data];
      this.#cursor = page.next_cursor;
      this.render();
    } catch (error) {
      toast(error.message, { error: true });
    }
  }

  render() {
    byId("more-sessions").hidden = this.#cursor === null;
    byId("session-list").replaceChildren(
      ...(this.#sessions.length
        ? this.#sessions.map((session) => this.#item(session))
        : [el("li", { class: "small empty" }, "Your conversations will be listed here.")]),
    );
  }

  #item(session) {
    const title = session.title ?? "New conversation";
    return el(
      "li",
      { class: session.id === this.current ? "current" : "" },
      el(
        "button",
        {
          type: "button",
          class: "open",
          "aria-current": session.id === this.current ? "true" : undefined,
          onclick: () => this.#onOpen(session.id),
        },
        el("span", { class: "session-title" }, title),
        el("time", { class: "small", datetime: session.updated_at }, when(session.updated_at)),
      ),
      button("✎", () => void this.rename(session.id, title), { class: "icon", "aria-label": `Rename ${title}` }),
      button("🗑", () => void this.#remove(session.id, title), { class: "icon", "aria-label": `Delete ${title}` }),
    );
  }

  async rename(id, title) {
    const given = await ask({ title: "Rename conversation", field: { label: "Title", value: title }, confirm: "Rename" });
    if (!given) return;
    await this.#try(() => api.rename(id, given));
  }

  async #remove(id, title) {
    await this.#try(async () => {
      await api.remove(id);
      this.#onRemoved(id);
      toast(`Deleted “${title}”. It can be restored for a while.`, {
        action: { label: "Undo", run: () => void this.#try(() => api.restore(id)) },
      });
    });
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
