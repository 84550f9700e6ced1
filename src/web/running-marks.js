import { on, state } from "./bus.js";
import { byId } from "./dom.js";

/** Marks the conversations of the list in which an answer is under way. */
export function startRunningMarks() {
  const list = byId("session-list");
  const mark = () => {
    for (const row of list.querySelectorAll("[data-session]")) row.classList.toggle("running", state.running.has(row.dataset.session));
  };
  on("running", mark);
  new MutationObserver(mark).observe(list, { childList: true });
}
