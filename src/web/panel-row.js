import { tell } from "./bus.js";
import { button, el, toast } from "./dom.js";
import { editForm } from "./panel-edit.js";
import { forgetWithUndo } from "./panel-forget.js";
import { companionOf } from "./panel-groups.js";
import { historyView } from "./panel-history.js";
import { whyView } from "./panel-why.js";

/** One memory in the panel, with what can be done about it. */

function tagsOf(memory) {
  const companion = companionOf(memory);
  return [
    companion && memory.strength === "hard" && el("span", { class: "tag hard" }, "must hold"),
    companion && el("span", { class: "tag" }, companion),
    memory.scope === "trip" && el("span", { class: "tag" }, "this trip"),
    memory.valid_until && el("span", { class: "tag" }, `until ${lastDay(memory)}`),
    memory.category !== "other" && el("span", { class: "tag kind" }, memory.category.replaceAll("_", " ")),
  ].filter(Boolean);
}

/** What holds through a day ends where the next one begins. */
function lastDay({ valid_until: end }) {
  return new Date(Date.parse(end) - 1).toLocaleDateString([], { day: "numeric", month: "short", year: "numeric" });
}

/** A button that shows something below the memory, and hides it again. `view()` gives its nodes. */
function opener(label, into, view, memory) {
  const node = button(label, async () => {
    const open = node.getAttribute("aria-expanded") === "true";
    for (const other of node.parentElement.querySelectorAll("[aria-expanded]")) other.setAttribute("aria-expanded", "false");
    into.replaceChildren();
    if (open) return;
    node.setAttribute("aria-expanded", "true");
    try {
      into.replaceChildren(...(await view(memory)).filter(Boolean));
    } catch (error) {
      into.replaceChildren(el("p", { class: "small warn" }, error.message));
    }
  });
  node.setAttribute("aria-expanded", "false");
  node.setAttribute("aria-label", `${label} ${memory.text}`);
  return node;
}

/** As it was on another day: to be read only. */
export function pastRow(memory) {
  return el(
    "li",
    { class: memory.strength === "hard" ? "memory hard" : "memory" },
    el("p", { class: "memory-text" }, memory.text),
    el("p", { class: "tags" }, tagsOf(memory)),
  );
}

/** `names()`: the companions that are known. */
export function memoryRow(memory, names) {
  const below = el("div", { class: "below" });
  const text = el("p", { class: "memory-text", dir: "auto" }, memory.text);
  const edit = button("Edit", () => startEdit(), { "aria-label": `Edit ${memory.text}` });
  const actions = el(
    "div",
    { class: "row actions" },
    opener("Why?", below, whyView, memory),
    edit,
    opener("Changes", below, historyView, memory),
    button("Forget", () => leave(row, () => forgetWithUndo(memory)), { "aria-label": `Forget ${memory.text}` }),
  );
  const content = [text, el("p", { class: "tags" }, tagsOf(memory)), actions, below];
  const row = el("li", { class: memory.strength === "hard" ? "memory hard" : "memory" }, ...content);
  row.dataset.memory = memory.id;

  function startEdit() {
    const { form, focus } = editForm(memory, names(), {
      onLeft: () => {
        row.replaceChildren(...content);
        edit.focus();
      },
      onSaved: (saved) => {
        row.classList.remove("editing");
        // A changed text is another memory: what has the focus is found by its id, once it is there.
        row.replaceChildren(...content);
        edit.focus();
        row.dataset.becomes = saved.id;
        tell("memories");
        toast("Saved.");
      },
    });
    row.replaceChildren(form);
    focus();
  }
  return row;
}

/** Before a row goes, the focus goes to one beside it, or to the list. */
function leave(row, work) {
  const beside = row.nextElementSibling ?? row.previousElementSibling;
  const next = beside?.querySelector(".actions button") ?? row.closest(".memory-list");
  next?.focus();
  work();
}
