import { api, identity, Problem } from "./api.js";
import { state } from "./bus.js";
import { button, byId, el } from "./dom.js";
import { keptList } from "./kept-list.js";
import { forgetHeld } from "./panel-forget.js";

/** Who speaks. In local mode one may speak as anyone: a name that can't be one is refused here, and nobody is changed. */

const recent = keptList("maitred.users", 6);

const remember = (user) => recent.put(user, (each) => each === user);

/** The name and its first letter, where the page shows them. */
export function showUser() {
  const { id, display_name: name } = state.me.user;
  byId("user-name").textContent = name ?? id;
  document.querySelector(".avatar").textContent = [...(name ?? id)][0]?.toUpperCase() ?? "?";
}

/** Whether the server takes the name. @throws Problem with what is wrong with it */
async function tryName(user) {
  const before = identity.user;
  // Only this request goes in that name: its headers are made at once.
  identity.user = user;
  const asked = api.me();
  identity.user = before;
  return asked;
}

/** Opens who is speaking; `onSwitched()` once it is somebody else. */
export function openUsers(onSwitched) {
  if (state.me.server.auth_mode !== "local") return signedIn();
  const field = el("input", { type: "text", maxlength: "256", value: state.me.user.id, required: true, autocapitalize: "none" });
  const problem = el("p", { class: "small warn", role: "alert" });
  const dialog = el("dialog", { "aria-label": "Who is speaking?" });
  const become = async (user) => {
    if (user === state.me.user.id) return dialog.close();
    try {
      await tryName(user);
    } catch (error) {
      problem.textContent = wrongWith(user, error);
      field.setAttribute("aria-invalid", "true");
      field.focus();
      return;
    }
    await forgetHeld();
    remember(state.me.user.id);
    remember(user);
    identity.asUser(user);
    dialog.close();
    onSwitched();
  };
  const others = recent.all().filter((each) => each !== state.me.user.id);
  const form = el(
    "form",
    {},
    el("h2", {}, "Who is speaking?"),
    el("p", {}, "On this machine you may speak as anyone. Each has conversations and memories of their own."),
    el("label", {}, "Name", field),
    problem,
    others.length > 0 &&
      el(
        "div",
        { class: "row" },
        others.map((user) => button(user, () => void become(user), { class: "chip" })),
      ),
    el(
      "div",
      { class: "row end" },
      button("Cancel", () => dialog.close()),
      el("button", { type: "submit", class: "primary" }, "Continue"),
    ),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void become(field.value.trim());
  });
  show(dialog, form);
  field.select();
}

function wrongWith(user, error) {
  if (error instanceof Problem && error.status !== 400) return error.message;
  return `“${user}” can't be a name here: no spaces and no stars, please. You are still ${state.me.user.id}.`;
}

function signedIn() {
  const { id, display_name: name, provider } = state.me.user;
  const dialog = el("dialog", { "aria-label": "You" });
  show(
    dialog,
    el(
      "div",
      { class: "stack" },
      el("h2", {}, name ?? id),
      el("p", {}, provider ? `You are signed in with ${provider}.` : "You are signed in."),
      el(
        "div",
        { class: "row end" },
        button("Close", () => dialog.close(), { class: "primary" }),
      ),
    ),
  );
}

/** Shows a dialog that is gone when it closes; whoever opened it has the focus again. */
export function show(dialog, content) {
  dialog.append(content);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
