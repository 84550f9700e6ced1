import { forGood } from "./browser-store.js";
import { state } from "./bus.js";
import { button, el } from "./dom.js";

/** What is there before anything is said. */

/** One thought each: what is told together is easily kept as one. */
const FIRST = ["I prefer jazz concerts", "I need step-free access", "Anything good this weekend?", "A table for two on Saturday"];
const KNOWN = ["Anything good this weekend?", "What do you know about me?", "Which bookings do I have?", "Somewhere nice to eat tonight"];
const SAID = "maitred.stand-in-said";

function greeting() {
  const hour = new Date().getHours();
  if (hour < 5) return "Good evening";
  if (hour < 12) return "Good morning";
  return hour < 18 ? "Good afternoon" : "Good evening";
}

function nameOf(me) {
  const name = me?.user.display_name;
  return name ? `, ${name.split(" ")[0]}` : "";
}

/** Said once, in the first conversation that this browser opens. */
function standInNote() {
  const { model } = state.me?.server ?? {};
  if (!model?.stand_in || forGood.get(SAID)) return null;
  forGood.set(SAID, "1");
  return el("p", { class: "small stand-in" }, "You are talking to a simple stand-in, not to a language model: plain requests work best.");
}

/** What of {@link FIRST} was said on this page. */
const saidFirst = new Set();

/** What else there is to begin with, under the answer to one of the first things said; null where the guest goes their own way. */
export function nextView(question, say) {
  if (!FIRST.includes(question)) return null;
  saidFirst.add(question);
  const rest = FIRST.filter((text) => !saidFirst.has(text));
  return rest.length === 0 ? null : el("div", { class: "suggestions next" }, suggestions(rest, say));
}

function suggestions(texts, say) {
  return texts.map((text) => button(text, () => say(text), { class: "suggestion" }));
}

export function welcomeView(say) {
  const on = state.me?.server.long_term.enabled !== false;
  const returning = (state.known ?? 0) > 0;
  const promise = state.incognito
    ? "This is a temporary chat: nothing of it is kept in mind, and nothing I know of you is used."
    : on
      ? "Tell me what you like and what must never go wrong. I keep it in mind, show you when I use it, and you decide what stays."
      : "Ask for a concert, a play, a match or a table.";
  return el(
    "div",
    { class: "welcome" },
    el("h2", {}, `${greeting()}${nameOf(state.me)}.`),
    el("p", {}, promise),
    el("div", { class: "suggestions" }, suggestions(returning ? KNOWN : FIRST, say)),
    standInNote(),
  );
}
