import { forThisTab } from "./browser-store.js";
import { on, state } from "./bus.js";
import { byId, toast } from "./dom.js";

/**
 * The message field: drafts that outlive a reload, as does a message that the server has not taken yet; a limit that is said, and keys
 * that do what is expected of them.
 */

export const MAX_CHARS = 8000;
/** From here on it is said how many are left. */
const SAY_FROM = 7500;

const field = byId("message");
const keyOf = (kind, session) => `maitred.${kind}.${state.me?.user.id ?? ""}.${session ?? "new"}`;
const draftKey = (session = state.session) => keyOf("draft", session);
/** Whether a conversation is shown: what is said before would be said into none. */
let ready = false;
/** By its key: what was said last. */
const said = new Map();
const characters = (text) => [...text].length;

/** `send(text)`, `stop()`. Nothing is sent while an answer is under way. */
export function startComposer({ send, stop, isBusy }) {
  byId("composer").addEventListener("submit", (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (!text || !ready || tooLong()) return;
    if (isBusy()) return toast("I am still answering. Your words stay here: send them when the answer is there.");
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
  on("session", ({ begun, live }) => {
    // A conversation that has begun just now has a name of its own, and what is being typed goes on.
    if (begun) forThisTab.remove(draftKey(null));
    // What was typed while the page was still being read stays too.
    const typed = begun || (!ready && field.value !== "");
    ready = true;
    setText(typed ? field.value : (forThisTab.get(draftKey()) ?? (live ? null : notTaken(state.session)) ?? ""));
  });
  on("said", ({ conversation, exchange }) => {
    if (conversation.incognito) return;
    const key = keyOf("unsent", conversation.session);
    said.set(key, exchange);
    forThisTab.set(key, exchange.question);
  });
  on("taken", ({ session }) => forThisTab.remove(keyOf("unsent", session)));
  on("say", ({ text }) => {
    setText(text);
    field.focus();
    field.setSelectionRange(text.length, text.length);
  });
}

/** What was sent in a conversation and never reached the server: it is a draft again. */
function notTaken(session) {
  const key = keyOf("unsent", session);
  if (said.get(key)?.busy) return null;
  const text = forThisTab.get(key);
  forThisTab.remove(key);
  return text;
}

function tooLong() {
  return characters(field.value.trim()) > MAX_CHARS;
}

function setText(text) {
  if (field.value !== text) field.value = text;
  if (text && state.me) forThisTab.set(draftKey(), text);
  else forThisTab.remove(draftKey());
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
  byId("send").disabled = !ready || text.trim() === "" || over > 0;
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
