import { button, el, toast } from "./dom.js";
import { memoryApi } from "./memory-api.js";
import { companionOf } from "./panel-groups.js";

/** The form that changes a memory in its place. */

const MAX_TEXT = 500;
const MAX_NAME = 64;

let forms = 0;

/** The fields that adding and editing share: what, whether it must hold, about whom, until when. */
export function memoryFields({ text = "", strength = "soft", companion = null, until = "" } = {}, names = []) {
  const people = `people-${++forms}`;
  const fields = {
    text: el("textarea", { rows: "2", maxlength: String(MAX_TEXT), required: true, onkeydown: sendOnEnter }),
    hard: el("input", { type: "checkbox", checked: strength === "hard" }),
    who: el("input", { type: "text", maxlength: String(MAX_NAME), list: people, placeholder: "you", value: companion ?? "" }),
    until: el("input", { type: "date", value: until }),
  };
  fields.text.value = text;
  const node = [
    el("label", { class: "stacked" }, el("span", {}, "What is true"), fields.text),
    el("label", { class: "check" }, fields.hard, el("span", {}, "It must always hold (an allergy, access)")),
    el(
      "div",
      { class: "pair" },
      el("label", { class: "stacked" }, el("span", {}, "About whom"), fields.who),
      el("label", { class: "stacked" }, el("span", {}, "Until, if it ends"), fields.until),
    ),
    el(
      "datalist",
      { id: people },
      names.map((name) => el("option", { value: name })),
    ),
  ];
  const read = () => {
    const who = fields.who.value.trim();
    return {
      text: fields.text.value.trim(),
      strength: fields.hard.checked ? "hard" : "soft",
      subject: who ? `companion:${who}` : "self",
      until: fields.until.value,
    };
  };
  return { node, fields, read };
}

/** A memory is one sentence: Enter sends it. */
function sendOnEnter(event) {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  event.target.form.requestSubmit();
}

/** The last day on which it holds, as a date field has it. */
function dayOf(end) {
  return end ? new Date(Date.parse(end) - 1).toLocaleDateString("sv") : "";
}

/** `onSaved(memory)`: it is stored; `onLeft()`: nothing was changed. */
export function editForm(memory, names, { onSaved, onLeft }) {
  const before = {
    text: memory.text,
    strength: memory.strength,
    companion: companionOf(memory),
    until: dayOf(memory.valid_until),
  };
  const { node, fields, read } = memoryFields(before, names);
  const save = el("button", { type: "submit", class: "primary" }, "Save");
  const form = el(
    "form",
    { class: "memory-edit", "aria-label": `Edit: ${memory.text}` },
    ...node,
    el("div", { class: "row end" }, button("Cancel", onLeft), save),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const patch = changed(memory, before, read());
    if (Object.keys(patch).length === 0) return onLeft();
    save.disabled = true;
    try {
      onSaved(await memoryApi.change(memory.id, patch));
    } catch (error) {
      save.disabled = false;
      toast(error.message, { error: true });
    }
  });
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    onLeft();
  });
  return { form, focus: () => fields.text.focus() };
}

function changed(memory, before, { text, strength, subject, until }) {
  return {
    ...(text && text !== memory.text ? { text } : {}),
    ...(strength !== memory.strength ? { strength } : {}),
    ...(subject !== memory.subject ? { subject } : {}),
    ...(until !== before.until ? { valid_until: until || null } : {}),
  };
}
