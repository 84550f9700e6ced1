import { wordsFor } from "./problems.js";

export { when } from "./when.js";

/** Builds elements. Text is always text: nothing here reads markup. */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") node.className = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name in node && typeof value !== "string") node[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) if (child !== null && child !== undefined && child !== false) node.append(child);
  return node;
}

/** Texts of any direction beside each other: none turns round the numbers of another. */
export function isolated(texts, between = " · ") {
  return texts.filter(Boolean).flatMap((text, index) => [...(index === 0 ? [] : [between]), el("bdi", {}, String(text))]);
}

export const byId = (id) => document.getElementById(id);

export function button(label, onclick, props = {}) {
  return el("button", { type: "button", class: "quiet", onclick, ...props }, label);
}

/** One that says something for the guest: while an answer is under way it waits, and tells why. */
export function sayButton(label, onclick, props = {}) {
  return button(label, onclick, { "data-says": true, ...props });
}

/** A short notice, with something to do about it if wanted. Errors stay longer; the same words are there once. */
export function toast(text, { action, error = false } = {}) {
  for (const shown of byId("toasts").children) if (!action && shown.firstChild.textContent === text) shown.remove();
  const node = el("div", { class: error ? "toast error" : "toast" }, el("span", {}, text));
  const close = () => node.remove();
  if (action) {
    node.append(
      button(action.label, () => {
        close();
        action.run();
      }),
    );
  }
  node.append(button("✕", close, { class: "icon", "aria-label": "Dismiss" }));
  byId("toasts").append(node);
  setTimeout(close, error || action ? 10000 : 5000);
}

/** What went wrong, in a guest's words. That the server is gone is said elsewhere, once. */
export function toastProblem(error) {
  if (error?.code === "OFFLINE") return;
  const { title, hint } = wordsFor(error);
  toast([title, hint].filter(Boolean).join(". "), { error: true });
}

/** Asks in a modal dialog. Resolves to what `read` gives, or null when it was dismissed. */
export function ask({ title, text, field, confirm = "OK", danger = false, extra = [] }) {
  return new Promise((resolve) => {
    const input =
      field && el("input", { type: field.type ?? "text", maxlength: String(field.max ?? 200), value: field.value ?? "", autofocus: true });
    const dialog = el(
      "dialog",
      { "aria-label": title },
      el(
        "form",
        { method: "dialog" },
        el("h2", {}, title),
        text && el("p", {}, text),
        field && el("label", {}, field.label, input),
        ...extra,
        el(
          "div",
          { class: "row end" },
          button("Cancel", () => dialog.close("")),
          el("button", { type: "submit", value: "ok", class: danger ? "danger" : "primary" }, confirm),
        ),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "ok" ? (input ? input.value.trim() : true) : null);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
