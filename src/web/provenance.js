import { api } from "./api.js";
import { tell } from "./bus.js";
import { button, el, toastProblem } from "./dom.js";
import { forgetWithUndo } from "./panel-forget.js";
import { marked } from "./panel-why.js";

/** "Because you told me": what an answer went by, each with the guest's own words behind it, to be changed or forgotten. */

const AT_ONCE = 4;

const dayOf = (iso) => new Date(iso).toLocaleDateString([], { day: "numeric", month: "long", year: "numeric" });
const lower = (text) => (/^\p{Lu}\p{Lu}/u.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1));

/** Where the text doesn't name them itself. */
function whoOf({ subject, text }) {
  const who = subject?.startsWith("companion:") ? subject.slice(10) : "";
  return who === "" || text.toLowerCase().includes(who.toLowerCase()) ? "" : `${who}: `;
}

/** What a card's marks are tied to comes first, then what must hold. */
function byWeight(memories, tied) {
  const weight = ({ id, strength }) => (tied.has(id) ? 2 : 0) + (strength === "hard" ? 1 : 0);
  return memories.toSorted((a, b) => weight(b) - weight(a));
}

/** Ids of the memories that marks on cards belong to. */
function tiedTo(elements) {
  return new Set(elements.flatMap(({ data }) => (Array.isArray(data?.fit) ? data.fit.map((mark) => mark?.memory_id) : [])));
}

/** What was checked beside what was recalled: an answer names it by its id. */
function lookedUp(id) {
  return api.why(id).then(
    ({ memory }) => memory,
    () => null,
  );
}

/** The row of pills: what shaped the answer; behind a button what else was known. `elements`: those of the answer. */
export function provenanceView({ recalled = [], used = [] }, elements = []) {
  const known = new Map(recalled.map((memory) => [memory.id, memory]));
  const others = recalled.filter(({ id }) => !used.includes(id));
  if (used.length === 0 && others.length === 0) return null;
  const shaping = byWeight(
    used.map((id) => known.get(id) ?? { id }),
    tiedTo(elements),
  );
  const detail = el("div", { class: "because-detail", hidden: true });
  const row = el("div", { class: "because-row" });
  const node = el("div", { class: "because" }, row, detail);
  if (shaping.length > 0) row.append(el("span", { class: "because-label" }, "Because you told me"));
  const [atOnce, later] = [shaping.slice(0, AT_ONCE), shaping.slice(AT_ONCE)];
  row.append(...atOnce.map((memory) => pillOrSoon(memory, row, detail)));
  if (later.length > 0) row.append(moreButton(`${later.length} more`, later, row, detail));
  if (others.length > 0) row.append(alsoKnown(byWeight(others, new Set()), row, detail));
  return node;
}

function moreButton(label, memories, row, detail) {
  const more = button(
    label,
    () => {
      const pills = memories.map((memory) => pillOrSoon(memory, row, detail));
      more.replaceWith(...pills);
      pills[0].focus();
    },
    { class: "quiet more" },
  );
  return more;
}

/** Folded away: it was given to the model, and shaped nothing. */
function alsoKnown(memories, row, detail) {
  const pills = memories.map((memory) => pillOf(memory, row, detail));
  const toggle = button(`Also known: ${memories.length}`, () => {
    const open = toggle.getAttribute("aria-expanded") === "true";
    toggle.setAttribute("aria-expanded", String(!open));
    if (!open) return toggle.after(...pills);
    if (pills.some((pill) => pill.getAttribute("aria-expanded") === "true")) detail.hidden = true;
    for (const pill of pills) pill.remove();
  });
  toggle.classList.add("also-known");
  toggle.setAttribute("aria-expanded", "false");
  return toggle;
}

/** Its pill; where only its id is known, in the place of one until it is looked up. */
function pillOrSoon(memory, row, detail) {
  if (memory.text !== undefined) return pillOf(memory, row, detail);
  const place = el("span", { class: "pill", "aria-hidden": "true" }, "…");
  void lookedUp(memory.id).then((found) => (found ? place.replaceWith(pillOf(found, row, detail)) : place.remove()));
  return place;
}

function pillOf(memory, row, detail) {
  const hard = memory.strength === "hard";
  const pill = el(
    "button",
    { type: "button", class: hard ? "pill hard" : "pill", "aria-expanded": "false", "data-memory": memory.id },
    hard && el("span", { "aria-hidden": "true" }, "◆ "),
    el("span", { dir: "auto" }, whoOf(memory) + lower(memory.text)),
    hard && el("span", { class: "sr" }, " (must always hold)"),
  );
  pill.addEventListener("click", () => {
    const open = pill.getAttribute("aria-expanded") === "true";
    for (const each of row.querySelectorAll(".pill")) each.setAttribute("aria-expanded", "false");
    detail.hidden = open;
    if (open) return;
    pill.setAttribute("aria-expanded", "true");
    void showDetail(memory, pill, detail);
  });
  return pill;
}

async function showDetail(memory, pill, detail) {
  detail.replaceChildren(el("p", { class: "small" }, "One moment …"));
  try {
    const { source, memory: now } = await api.why(memory.id);
    detail.replaceChildren(...said(source, memory), actions({ ...memory, ...now }, pill, detail));
  } catch (error) {
    const gone = error.status === 404;
    detail.replaceChildren(el("p", { class: "small" }, gone ? "This is forgotten." : "I can't look this up right now."));
    if (gone) pill.classList.add("gone");
  }
}

function said(source, { created_at: at }) {
  if (!source) return [el("p", { class: "small" }, `You added this by hand on ${dayOf(at)}.`)];
  if (source.message === null) return [el("p", { class: "small" }, `You said so on ${dayOf(at)}; that conversation is gone.`)];
  return [
    el("p", { class: "small" }, `On ${dayOf(at)} you said:`),
    el("blockquote", { dir: "auto" }, ...marked(source.message, source.quote)),
    button("Open that conversation", () => tell("open", { id: source.session_id, message: source.message_id })),
  ];
}

function actions(memory, pill, detail) {
  const field = el("input", { type: "text", maxlength: "500", value: memory.text, "aria-label": "What is true now", dir: "auto" });
  const form = el("form", { class: "row", hidden: true }, field, el("button", { type: "submit", class: "secondary" }, "Save"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const save = form.lastChild;
    if (save.disabled) return;
    save.disabled = true;
    void change(
      () =>
        api.edit(memory.id, field.value.trim()).finally(() => {
          save.disabled = false;
        }),
      () => {
        pill.querySelector("[dir]").textContent = whoOf(memory) + lower(field.value.trim());
        pill.click();
        pill.focus();
      },
    );
  });
  const edit = button("Edit", () => {
    form.hidden = !form.hidden;
    if (!form.hidden) field.select();
  });
  const forget = button("Forget", () => {
    pill.classList.add("gone");
    detail.replaceChildren(el("p", { class: "small", role: "status" }, "Forgotten. It plays no part from now on."));
    pill.focus();
    forgetWithUndo(memory, () => {
      pill.classList.remove("gone");
      void showDetail(memory, pill, detail);
    });
  });
  return el("div", { class: "because-actions" }, el("div", { class: "row" }, edit, forget), form);
}

async function change(work, then) {
  try {
    await work();
    then();
    tell("memories");
  } catch (error) {
    toastProblem(error);
  }
}
