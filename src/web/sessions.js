import { tell } from "./bus.js";
import { ask, button, byId, el, toast, toastProblem } from "./dom.js";
import { wordsFor } from "./problems.js";
import { sessionApi } from "./session-api.js";
import { binRow, linesOf, renameForm, sessionRow, titleOf } from "./session-row.js";
import { findSessions, snippet } from "./session-search.js";

const PAGE = 30;
/** More than that the server does not give at once. */
const MOST = 200;
const SEARCH_AFTER_MS = 250;
const VIEWS = { active: "Current", archived: "Archived", deleted: "Bin" };
const EMPTY = {
  active: "Your conversations will be listed here.",
  archived: "Nothing is archived.",
  deleted: "The bin is empty.",
};

/** The conversations: search, open, rename, archive, delete with a way back; the archived ones, and the bin. */
export class SessionList {
  #onOpen;
  #onRemoved;
  #onListed;
  #cursor = null;
  #sessions = [];
  #view = "active";
  #query = byId("session-query");
  /** What a search found; null where none is asked for. */
  #found = null;
  #expanded = null;
  #renaming = null;
  /** What is being done with one, in words, by id: it may have to wait for an answer that is under way. */
  #pending = new Map();
  #loads = 0;
  /** Why the list could not be read; null where it was. What is listed already stays. */
  #problem = null;
  /** Titles of all that were seen, by id: an open conversation need not be on the page of the list. */
  #titles = new Map();
  current = null;

  /** `onListed`: the list was read again, and titles may have changed. */
  constructor({ onOpen, onRemoved, onListed }) {
    this.#onOpen = onOpen;
    this.#onRemoved = onRemoved;
    this.#onListed = onListed;
    byId("more-sessions").addEventListener("click", () => void this.#more());
    byId("session-search").addEventListener("submit", (event) => event.preventDefault());
    let timer = 0;
    this.#query.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => void this.#try(async () => {}), SEARCH_AFTER_MS);
    });
    byId("session-views").append(
      ...Object.entries(VIEWS).map(([view, label]) => {
        const node = button(label, () => this.#look(view));
        node.dataset.view = view;
        return node;
      }),
    );
  }

  titleOf(id) {
    return this.#titles.get(id) ?? null;
  }

  /** Remembers what a conversation that was opened is called. */
  know({ id, title }) {
    this.#titles.set(id, title);
  }

  /** One is shown that may be archived: there nothing can be said until it is brought back. */
  opened(session) {
    this.know(session);
    this.#showPutAway(session);
  }

  /** In an archived conversation nothing can be said: that stands above it, with the way back, as long as it is so. */
  #showPutAway({ id, status }) {
    byId("log").querySelector(".put-away")?.remove();
    if (status !== "archived") return;
    const back = async () => {
      if (await this.#try(() => sessionApi.change(id, { status: "active" }))) note.remove();
    };
    const note = el(
      "p",
      { class: "banner put-away", role: "status" },
      el("span", {}, "This conversation is archived."),
      button("Bring back", () => void back(), { class: "secondary" }),
    );
    byId("log").prepend(note);
  }

  async load() {
    const mine = ++this.#loads;
    const query = this.#query.value.trim();
    // As many pages as are shown already: the list is read again whenever something happens, and must not fold up then.
    const limit = Math.min(MOST, PAGE * Math.max(1, Math.ceil(this.#sessions.length / PAGE)));
    const page = query ? { data: [], next_cursor: null } : await sessionApi.list({ status: this.#view, limit });
    const found = query ? await findSessions(query) : null;
    if (mine !== this.#loads) return;
    this.#problem = null;
    this.#found = found;
    this.#sessions = page.data;
    this.#cursor = page.next_cursor;
    for (const session of [...page.data, ...(found ?? []).map((each) => each.session)]) this.know(session);
    this.render();
    this.#onListed();
  }

  /** Reads it; where that fails, the list says so and the rest of the page goes on. */
  async show() {
    try {
      await this.load();
    } catch (error) {
      this.#problem = wordsFor(error).title;
      this.render();
    }
  }

  async #more() {
    await this.#try(async () => {
      const page = await sessionApi.list({ status: this.#view, limit: PAGE, cursor: this.#cursor });
      this.#sessions = [...this.#sessions, ...page.data];
      this.#cursor = page.next_cursor;
      this.render();
    }, false);
  }

  #look(view) {
    this.#view = view;
    this.#sessions = [];
    this.#query.value = "";
    this.#expanded = null;
    void this.#try(async () => {});
  }

  render() {
    const focus = focusIn(byId("session-list"));
    byId("more-sessions").hidden = this.#cursor === null;
    for (const node of byId("session-views").querySelectorAll("button"))
      node.setAttribute("aria-pressed", String(node.dataset.view === this.#view));
    const query = this.#query.value.trim();
    const shown = this.#found ?? this.#sessions.map((session) => ({ session, hit: null }));
    const nothing = this.#found ? `Nothing fits “${query}”.` : EMPTY[this.#view];
    const empty = this.#problem === null ? [nothing] : [`${this.#problem}. `, button("List them again", () => void this.show())];
    const lines = linesOf(shown.map(({ session }) => session));
    byId("session-list").replaceChildren(
      ...(shown.length
        ? shown.map(({ session, hit }) => this.#item(session, hit, query, lines.get(session.id)))
        : [el("li", { class: "small empty" }, ...empty)]),
    );
    focus();
  }

  #item(session, hit, query, line) {
    if (session.status === "deleted")
      return binRow(session, { restore: () => void this.#restore(session), purge: () => void this.#purge(session) });
    if (this.#renaming?.id === session.id) return this.#renaming.row;
    return sessionRow(session, {
      current: session.id === this.current,
      expanded: session.id === this.#expanded,
      line,
      pending: this.#pending.get(session.id),
      piece: hit && snippet(hit.content, query),
      on: {
        open: () => this.#onOpen(session.id, hit?.id ?? null),
        expand: () => {
          this.#expanded = this.#expanded === session.id ? null : session.id;
          this.render();
        },
        rename: () => this.#rename(session),
        archive: () => void this.#move(session, "archived"),
        activate: () => void this.#move(session, "active"),
        remove: () => void this.#remove(session),
      },
    });
  }

  /** Renames a conversation of which only the id is known. */
  async rename(id, title) {
    const given = await ask({ title: "Rename conversation", field: { label: "Title", value: title }, confirm: "Rename" });
    if (given) await this.#try(() => sessionApi.change(id, { title: given }));
  }

  #rename(session) {
    const { form, field } = renameForm(session, (title) => {
      this.#renaming = null;
      this.#expanded = null;
      this.render();
      byId("session-list").querySelector(`[data-session="${session.id}"] .open`)?.focus();
      if (title) void this.#try(() => sessionApi.change(session.id, { title }));
    });
    this.#renaming = { id: session.id, row: el("li", {}, form) };
    this.render();
    field.select();
  }

  async #move(session, status) {
    focusBeside(session.id);
    const words = status === "archived" ? "Archiving it …" : "Bringing it back …";
    if (!(await this.#tryWith(session, words, () => sessionApi.change(session.id, { status })))) return;
    if (session.id === this.current) this.#showPutAway({ ...session, status });
    toast(status === "archived" ? `Archived “${titleOf(session)}”.` : `“${titleOf(session)}” is back.`, {
      action: { label: "Undo", run: () => void this.#try(() => sessionApi.change(session.id, { status: session.status })) },
    });
  }

  async #remove(session) {
    focusBeside(session.id);
    // Its answer would only be waited for.
    tell("stop", { id: session.id });
    await this.#tryWith(session, "Moving it to the bin …", async () => {
      await sessionApi.remove(session.id);
      this.#onRemoved(session.id);
      toast(`“${titleOf(session)}” is in the bin.`, {
        action: { label: "Undo", run: () => void this.#try(() => sessionApi.restore(session.id)) },
      });
    });
  }

  async #restore(session) {
    focusBeside(session.id);
    if (await this.#try(() => sessionApi.restore(session.id))) toast(`Restored “${titleOf(session)}”.`);
  }

  async #purge(session) {
    const keep = el("input", { type: "checkbox", checked: true });
    const sure = await ask({
      title: `Delete “${titleOf(session)}” for good?`,
      text: "What was said in it is erased, and can't be brought back.",
      extra: [el("label", { class: "check" }, keep, el("span", {}, "Keep what you learnt about me from it"))],
      confirm: "Delete for good",
      danger: true,
    });
    if (!sure) return;
    focusBeside(session.id);
    await this.#try(() => sessionApi.purge(session.id, { keepMemories: keep.checked }));
    tell("memories");
  }

  /** As {@link #try}, with a sign on the row as long as it takes. */
  async #tryWith({ id }, words, work) {
    this.#pending.set(id, words);
    this.render();
    try {
      return await this.#try(async () => {
        await work();
        this.#pending.delete(id);
      });
    } finally {
      if (this.#pending.delete(id)) this.render();
    }
  }

  /** Gives whether it worked; what did not is said. */
  async #try(work, again = true) {
    try {
      await work();
      if (again) {
        await this.load();
        tell("sessions", { listed: true });
      }
      return true;
    } catch (error) {
      if (error.code === "OFFLINE") toast("That did not go through. Try again when the connection is back.", { error: true });
      else toastProblem(error);
      return false;
    }
  }
}

/** Gives the way to put the focus back where it was, in a list that was made anew. */
function focusIn(list) {
  const focused = document.activeElement;
  if (!list.contains(focused)) return () => {};
  const row = focused.closest("[data-session]")?.dataset.session;
  const kind = focused.className;
  const label = focused.getAttribute("aria-label");
  return () => {
    if (focused.isConnected) return focused.focus();
    const again = row && list.querySelector(`[data-session="${row}"]`);
    const same =
      again && [...again.querySelectorAll("button")].find((node) => node.className === kind && node.getAttribute("aria-label") === label);
    (same ?? again?.querySelector("button") ?? byId("session-query")).focus();
  };
}

/** Before a row goes: the focus goes to the one beside it, or to the search. */
function focusBeside(id) {
  const row = byId("session-list").querySelector(`[data-session="${id}"]`);
  if (!row?.contains(document.activeElement)) return;
  const beside = row.nextElementSibling ?? row.previousElementSibling;
  (beside?.querySelector("button") ?? byId("session-query")).focus();
}
