import { identity } from "./api.js";
import { forGood } from "./browser-store.js";
import { on, state, tell } from "./bus.js";
import { button, el } from "./dom.js";

/** Whether what is said is remembered: a switch that lasts until it is thrown again, and a conversation that is kept out as a whole. */

const key = () => `maitred.paused.${identity.user}`;

/** The switch and the way to a temporary conversation. */
export function pauseView() {
  const toggle = el("button", { type: "button", class: "switch", role: "switch" }, el("span", { class: "knob", "aria-hidden": "true" }));
  const label = el("span", { id: "pause-label" }, "Remember what I say");
  const note = el("p", { class: "small", role: "status" });
  toggle.setAttribute("aria-labelledby", "pause-label");
  const show = () => {
    toggle.setAttribute("aria-checked", String(!state.paused));
    note.textContent = state.paused ? "Paused: I keep nothing of what you say now, and don't use what I know." : "";
  };
  toggle.addEventListener("click", () => {
    state.paused = !state.paused;
    if (state.paused) forGood.set(key(), "true");
    else forGood.remove(key());
    show();
    tell("known");
  });
  const read = () => {
    state.paused = forGood.get(key()) === "true";
    show();
  };
  on("identity", read);
  // Thrown in another tab, it holds here too.
  addEventListener("storage", ({ key: changed }) => {
    if (changed !== key() && changed !== null) return;
    read();
    tell("known");
  });
  show();
  return el(
    "div",
    { class: "pause" },
    el("div", { class: "row between" }, label, toggle),
    note,
    button("Start a temporary conversation", () => tell("new", { incognito: true }), {
      title: "Nothing of it is remembered, and it is gone after a day.",
    }),
  );
}
