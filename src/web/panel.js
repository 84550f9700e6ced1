import { on, state, tell } from "./bus.js";
import { button, byId, el } from "./dom.js";
import { memoryApi } from "./memory-api.js";
import { addForm } from "./panel-add.js";
import { dataView } from "./panel-data.js";
import { fitting } from "./panel-find.js";
import { isHeld } from "./panel-forget.js";
import { companionOf, groupsOf } from "./panel-groups.js";
import { pastView } from "./panel-history.js";
import { pauseView } from "./panel-pause.js";
import { memoryRow, pastRow } from "./panel-row.js";
import { wordsFor } from "./problems.js";
import { confirmView, waitingOf } from "./to-confirm.js";

const OFF = "Nothing is kept beyond our conversation here, so every conversation begins anew. What you say in one stays there.";
const EMPTY = "Nothing yet. Tell me what you like, and what must always hold.";
const SEARCH_AFTER_MS = 250;

/** The panel of what is known about the guest: look, search, add, change, forget, settle, look back. */
export class MemoryPanel {
  #list = byId("memory-list");
  #query = byId("memory-query");
  #day = el("input", { type: "date", id: "memory-day" });
  #past = el("details", { class: "part memory-only" }, el("summary", {}, "What changed"), el("div", {}));
  #loads = 0;
  /** What holds, by id. */
  #known = new Map();
  /** Rows by id, each with what it shows, so that one that is worked in stays. */
  #rows = new Map();
  /** What waits for the guest's word, by id, each with the session and turn that it comes from. */
  waiting = new Map();
  /** Called when what waits was read again. */
  onChange = () => {};

  constructor() {
    byId("memory-search").addEventListener("submit", (event) => event.preventDefault());
    let timer = 0;
    this.#query.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => void this.#show(), SEARCH_AFTER_MS);
    });
    this.#day.addEventListener("change", () => void this.#show());
    this.#past.addEventListener("toggle", () => this.#past.open && void this.#showPast());
    byId("memory-add").append(addForm({ names: () => this.#names(), onAdded: () => tell("memories") }));
    byId("memory-foot").append(
      this.#past,
      el(
        "details",
        { class: "part memory-only" },
        el("summary", {}, "Look back"),
        el("label", { class: "stacked" }, el("span", {}, "What I knew at the end of"), this.#day),
      ),
      dataView(),
    );
    byId("memory-pause").append(pauseView());
    on("identity", () => this.#forgetUser());
  }

  /** Reads them again. Where memory is off there is nothing to ask for. */
  async load() {
    const mine = ++this.#loads;
    const kept = state.me?.server.long_term.enabled ?? false;
    byId("memory-panel").classList.toggle("off", !kept);
    if (!kept) {
      this.#list.replaceChildren(el("p", { class: "empty" }, OFF));
      return this.#settle([], null);
    }
    try {
      const [active, review] = await Promise.all([memoryApi.all(), memoryApi.all({ status: "review" })]);
      if (mine !== this.#loads) return;
      const there = active.filter(({ id }) => !isHeld(id));
      this.#known = new Map(there.map((memory) => [memory.id, memory]));
      this.#settle(
        [...review, ...there.filter((memory) => memory.pending_change)].filter(({ id }) => !isHeld(id)),
        there,
      );
      await this.#show();
      if (this.#past.open) await this.#showPast();
    } catch (error) {
      if (mine === this.#loads) this.#failed(error, () => void this.load());
    }
  }

  /** What waits, and what is known; null where that is not to be known. */
  #settle(open, known) {
    this.waiting = new Map(open.map((memory) => [memory.id, fromTurn(memory, known ?? [])]));
    state.waiting = this.waiting;
    state.known = known?.length ?? null;
    tell("known");
    this.onChange();
  }

  #forgetUser() {
    this.#rows.clear();
    this.#known.clear();
    this.#query.value = "";
    this.#day.value = "";
    this.#day.max = new Date().toLocaleDateString("sv");
  }

  #names() {
    return [...new Set([...this.#known.values()].map(companionOf).filter(Boolean))];
  }

  /** What the search and the day ask for, else all. */
  async #show() {
    const query = this.#query.value.trim();
    const day = this.#day.value;
    const mine = this.#loads;
    const known = [...this.#known.values()];
    try {
      const groups = query
        ? [["Found", (await fitting(query, known)).map((memory) => this.#row(memory))]]
        : day
          ? await this.#asOf(day)
          : [this.#questions(), ...groupsOf(known).map(([name, memories]) => [name, memories.map((memory) => this.#row(memory))])];
      if (mine !== this.#loads || query !== this.#query.value.trim() || day !== this.#day.value) return;
      this.#render(groups, query ? `Nothing fits “${query}”.` : day ? "I knew nothing about you then." : EMPTY);
    } catch (error) {
      this.#failed(error, () => void this.#show());
    }
  }

  #failed(error, again) {
    this.#list.replaceChildren(el("p", { class: "empty warn" }, `${wordsFor(error).title}. `, button("Look again", again)));
  }

  async #asOf(day) {
    const held = await memoryApi.all({ as_of: new Date(`${day}T23:59:59`).toISOString() });
    const shown = new Date(`${day}T12:00`).toLocaleDateString([], { day: "numeric", month: "long", year: "numeric" });
    return [[`As I knew you on ${shown}`, held.map(pastRow)]];
  }

  #questions() {
    const open = [...this.waiting.values()];
    return [
      "Waits for your word",
      open.map((each) =>
        el(
          "li",
          { class: "memory asks" },
          confirmView(each, () => tell("memories")),
        ),
      ),
    ];
  }

  #row(memory) {
    const shows = JSON.stringify(memory);
    const before = this.#rows.get(memory.id);
    if (before && (before.shows === shows || before.node.querySelector("form"))) return before.node;
    const node = memoryRow(memory, () => this.#names());
    this.#rows.set(memory.id, { node, shows });
    return node;
  }

  #render(groups, empty) {
    const focused = document.activeElement;
    const becomes = focused?.closest?.("[data-becomes]")?.dataset.becomes;
    const filled = groups.filter(([, rows]) => rows.length > 0);
    this.#list.replaceChildren(
      ...(filled.length
        ? filled.map(([name, rows]) => el("section", {}, el("h3", {}, name), el("ul", {}, rows)))
        : [el("p", { class: "empty" }, empty)]),
    );
    // Whoever was in a row is in it still.
    const again = becomes && this.#rows.get(becomes)?.node.querySelector(".actions button:nth-child(2)");
    if (again?.isConnected) again.focus();
    else if (focused?.isConnected) focused.focus();
  }

  async #showPast() {
    const place = this.#past.lastElementChild;
    try {
      place.replaceChildren(...(await pastView(this.#known)));
    } catch (error) {
      place.replaceChildren(el("p", { class: "small warn" }, error.message));
    }
  }
}

function fromTurn(memory, known) {
  const source = memory.pending_change ? memory.pending_change.source : memory.source;
  return { ...waitingOf(memory, known), session: source?.session_id ?? null, turn: source?.turn ?? null };
}
