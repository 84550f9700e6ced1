import { on, state } from "./bus.js";
import { byId } from "./dom.js";

/** The message field: drafts that outlive a reload, a limit that is said, and keys that do what is expected of them. */

export const MAX_CHARS = 8000;
/** From here on it is said how many are left. */
const SAY_FROM = 7500;

const field = byId("message");
const draftKey = (session = state.session ?? "new") => `maitred.draft.${state.me?.user.id ?? ""}.${session}`;
const characters = (text) => [...text].length;

/** `send(text)`, `stop()`. Nothing is sent while an answer is under way. */
export function startComposer({ send, stop, isBusy }) {
  byId("composer").addEventListener("submit", (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (!text || isBusy() || tooLong()) return;
    setText("");
    send(text);
  });
  field.addEventListener("input", () => setText(field.value));
  field.addEventListener("keydown", (event) => {
    // An input method uses Enter to choose a word; some browsers tell that only by the code 229.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    byId("composer").requestSubmit();
  });
  byId("stop").addEventListener("click", stop);
  on("session", ({ begun }) => {
    // A conversation that has begun just now has a name of its own, and what is being typed goes on.
    if (begun) sessionStorage.removeItem(draftKey("new"));
    setText(begun ? field.value : (sessionStorage.getItem(draftKey()) ?? ""));
  });
  on("say", ({ text }) => {
    setText(text);
    field.focus();
    field.setSelectionRange(text.length, text.length);
  });
}

function tooLong() {
  return characters(field.value.trim()) > MAX_CHARS;
}

function setText(text) {
  if (field.value !== text) field.value = text;
  if (text) sessionStorage.setItem(draftKey(), text);
  else sessionStorage.removeItem(draftKey());
  field.rows = Math.min(8, Math.max(1, text.split("\n").length, Math.ceil(text.length / 80)));
  const count = characters(text.trim());
  const over = count - MAX_CHARS;
  const note = byId("message-length");
  note.hidden = count < SAY_FROM;
  note.classList.toggle("warn", over > 0);
  note.textContent =
    over > 0
      ? `That is ${over.toLocaleString()} too many: ${MAX_CHARS.toLocaleString()} at most. Please shorten it; nothing is cut off.`
      : `${(-over).toLocaleString()} characters left`;
  field.setAttribute("aria-invalid", String(over > 0));
  byId("send").disabled = text.trim() === "" || over > 0;
}

/** While an answer is under way, the button stops it. Whoever pressed one is left with the other. */
export function showBusy(busy) {
  const had = document.activeElement === byId("send") || document.activeElement === byId("stop");
  byId("send").hidden = busy;
  byId("stop").hidden = !busy;
  byId("log").setAttribute("aria-busy", String(busy));
  if (had) (busy ? byId("stop") : field).focus({ preventScroll: true });
}

export function focusComposer() {
  // On a phone this would bring up the keyboard, which nobody asked for.
  if (matchMedia("(pointer: coarse)").matches) return;
  field.focus({ preventScroll: true });
}
