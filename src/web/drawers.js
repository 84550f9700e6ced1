import { byId } from "./dom.js";

/** The two columns beside the conversation. Where there is no room for them they are drawers over it, one at a time. */

const NARROW = { conversations: matchMedia("(max-width: 820px)"), "memory-panel": matchMedia("(max-width: 1180px)") };
const OPENERS = { conversations: "open-conversations", "memory-panel": "memory-chip" };

const isDrawer = (id) => NARROW[id].matches;
const isOpen = (id) => document.body.classList.contains(`${id}-open`);

/** Shows or hides a column; a drawer takes the focus and gives it back. */
export function showDrawer(id, show = !isOpen(id)) {
  if (show && isDrawer(id)) for (const other of Object.keys(NARROW)) if (other !== id && isDrawer(other)) set(other, false);
  // A click beside it has taken the focus from everything.
  const had = byId(id).contains(document.activeElement) || document.activeElement === document.body;
  set(id, show);
  if (show) byId(id).querySelector(".close, button, input")?.focus({ preventScroll: true });
  else if (had) byId(OPENERS[id]).focus();
}

/** Closes the drawer that lies over the conversation; false where none does. */
export function closeDrawer() {
  const open = Object.keys(NARROW).find((id) => isDrawer(id) && isOpen(id));
  if (open) showDrawer(open, false);
  return open !== undefined;
}

export const drawerIsOpen = isOpen;

function set(id, show) {
  document.body.classList.toggle(`${id}-open`, show);
  byId(OPENERS[id]).setAttribute("aria-expanded", String(show));
  settle();
}

/** What lies under a drawer can't be reached while it is open; what is closed can't be reached at all. */
function settle() {
  const over = Object.keys(NARROW).find((id) => isDrawer(id) && isOpen(id));
  byId("scrim").hidden = over === undefined;
  document.querySelector("main").inert = over !== undefined;
  for (const id of Object.keys(NARROW)) {
    const hidden = id === "conversations" ? isDrawer(id) && !isOpen(id) : !isOpen(id);
    byId(id).inert = hidden || (over !== undefined && over !== id);
  }
}

export function startDrawers() {
  byId("scrim").addEventListener("click", () => closeDrawer());
  for (const [id, opener] of Object.entries(OPENERS)) {
    byId(opener).addEventListener("click", () => showDrawer(id));
    byId(id)
      .querySelector(".close")
      .addEventListener("click", () => showDrawer(id, false));
    NARROW[id].addEventListener("change", settle);
  }
  settle();
}
