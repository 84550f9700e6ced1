import { button, el } from "./dom.js";

/** A message that is to be said differently, as a field in its place. `onSend(text)` follows `onClose()`. */
export function editForm(text, { maxLength, onSend, onClose }) {
  const field = el("textarea", { "aria-label": "Your message", rows: "3", maxlength: String(maxLength), dir: "auto" });
  field.value = text;
  const send = () => {
    const said = field.value.trim();
    onClose();
    if (said) onSend(said);
  };
  const form = el(
    "form",
    { class: "edit" },
    field,
    el("div", { class: "row end" }, button("Cancel", onClose), el("button", { type: "submit", class: "primary" }, "Send again")),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      onClose();
    } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing && event.keyCode !== 229 && event.target === field) {
      event.preventDefault();
      send();
    }
  });
  return { form, field };
}
