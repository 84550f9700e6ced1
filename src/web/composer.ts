import { effect } from "@preact/signals";
import { forThisTab } from "./browser-store.js";
import { sending } from "./controls.js";
import type { Conversation, Exchange } from "./conversation.js";
import { me, on, session } from "./state.js";
import { byId, sendOnEnter, toast } from "./ui.js";

/**
 * The message field: drafts that outlive a reload, as does a message that the server has not taken yet; a limit that is said, and keys
 * that do what is expected of them.
 */

export const MAX_CHARS = 8000;
/** From here on it is said how many are left. */
const SAY_FROM = 7500;

const field = byId<HTMLTextAreaElement>("message");
const keyOf = (kind: string, id: string | null) => `maitred.${kind}.${me.value?.user.id ?? ""}.${id ?? "new"}`;
const draftKey = (id = session.value) => keyOf("draft", id);
const characters = (text: string) => [...text].length;
/** Whether a conversation is shown: what is said before would be said into none. */
let ready = false;

/** By its key: what was said last. */
const said = new Map<string, Exchange>();

/** A message is on its way; null for one of which nothing is kept. */
export function toServer(id: string | null, exchange: Exchange | null): void {
  if (exchange === null) return;
  const key = keyOf("unsent", id);
  said.set(key, exchange);
  forThisTab.set(key, exchange.question.value);
}

export const takenByServer = (id: string | null): void => forThisTab.remove(keyOf("unsent", id));

/** What was sent in a conversation and never reached the server: it is a draft again. */
function notTaken(): string | null {
  const key = keyOf("unsent", session.value);
  if (said.get(key)?.busy.value) return null;
  const text = forThisTab.get(key);
  forThisTab.remove(key);
  return text;
}

/** Nothing is sent while an answer is under way. */
export function startComposer(shown: { readonly value: Conversation }): void {
  const submit = () => {
    const text = field.value.trim();
    if (!text || !ready || characters(text) > MAX_CHARS) return;
    if (shown.value.busy.value) return toast("I am still answering. Your words stay here: send them when the answer is there.");
    setText("");
    shown.value.say(text);
  };
  byId("composer").addEventListener("submit", sending(submit));
  field.addEventListener("input", () => setText(field.value));
  field.addEventListener("keydown", sendOnEnter);
  byId("stop").addEventListener("click", () => shown.value.stop());
  effect(() => showBusy(shown.value.busy.value));
  on("session", ({ begun, live }) => {
    // A conversation that has begun just now has a name of its own, and what is being typed goes on.
    if (begun) forThisTab.remove(draftKey(null));
    // What was typed while the page was still being read stays too.
    const typed = begun || (!ready && field.value !== "");
    ready = true;
    setText(typed ? field.value : (forThisTab.get(draftKey()) ?? (live ? null : notTaken()) ?? ""));
  });
  on("write", ({ text }) => {
    setText(text);
    field.focus();
    field.setSelectionRange(text.length, text.length);
  });
  // Notices stand above the composer, however high it is.
  new ResizeObserver(() => {
    document.documentElement.style.setProperty("--composer-height", `${byId("composer").offsetHeight}px`);
  }).observe(byId("composer"));
}

function setText(text: string): void {
  if (field.value !== text) field.value = text;
  if (text && me.value) forThisTab.set(draftKey(), text);
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
  byId<HTMLButtonElement>("send").disabled = !ready || text.trim() === "" || over > 0;
}

/** While an answer is under way, the button stops it. Whoever pressed one is left with the other. */
function showBusy(busy: boolean): void {
  const [send, stop] = [byId("send"), byId("stop")];
  const had = document.activeElement === send || document.activeElement === stop;
  send.hidden = busy;
  stop.hidden = !busy;
  byId("log").setAttribute("aria-busy", String(busy));
  if (had) (busy ? stop : field).focus({ preventScroll: true });
}

export function focusComposer(): void {
  // On a phone this would bring up the keyboard, which nobody asked for.
  if (!matchMedia("(pointer: coarse)").matches) field.focus({ preventScroll: true });
}
