import { computed, effect, signal } from "@preact/signals";
import { isDown } from "./connection.js";
import { titles } from "./stage.js";
import { guestName, incognito, known, me, memoryIsOn, paused, session, tell, waiting } from "./state.js";
import { keptTheme } from "./theme.js";
import { byId } from "./ui.js";

/** The page's frame, which stands in its document: the head, the drawers beside the conversation, light or dark, and the address. */

const NAME = "Maitred";

/** What the chip says of how much is known. */
const memoryWord = computed((): readonly [status: string, word: string] => {
  const count = known.value;
  if (me.value === null) return ["empty", "Memory"];
  if (!memoryIsOn()) return ["disabled", "Memory off"];
  if (incognito.value) return ["paused", "Temporary chat"];
  if (paused.value) return ["paused", "Memory paused"];
  if (count === null) return ["ok", "Memory on"];
  return count === 0 ? ["empty", "Knows nothing yet"] : ["ok", count === 1 ? "Knows 1 thing" : `Knows ${count} things`];
});

function showHead(): void {
  const [status, word] = memoryWord.value;
  const open = waiting.value.size;
  const name = guestName();
  byId("memory-word").textContent = word;
  byId("memory-chip").dataset.status = status;
  byId("temporary").hidden = !incognito.value;
  document.body.classList.toggle("temporary", incognito.value);
  byId("memory-waiting").hidden = open === 0 || status === "disabled";
  byId("memory-waiting").textContent = open === 0 ? "" : String(open);
  byId("memory-waiting").setAttribute("aria-label", open === 1 ? "one waits for your word" : `${open} wait for your word`);
  byId("connection").hidden = !isDown.value;
  const title = titles.value.get(session.value ?? "");
  byId("title").textContent = title ?? (incognito.value ? "Temporary chat" : "New conversation");
  document.title = title ? `${title} · ${NAME}` : NAME;
  if (me.value === null) return;
  byId("user-name").textContent = name;
  byId("user-avatar").textContent = [...name][0]?.toUpperCase() ?? "?";
}

/** The two columns beside the conversation. Where there is no room for them they are drawers over it, one at a time. */
const DRAWERS = {
  conversations: { narrow: matchMedia("(max-width: 820px)"), opener: "open-conversations" },
  "memory-panel": { narrow: matchMedia("(max-width: 1180px)"), opener: "memory-chip" },
} as const;
type Drawer = keyof typeof DRAWERS;
const IDS = Object.keys(DRAWERS) as Drawer[];
const openDrawers = signal<readonly Drawer[]>([]);

const isDrawer = (id: Drawer) => DRAWERS[id].narrow.matches;
export const drawerIsOpen = (id: Drawer): boolean => openDrawers.value.includes(id);

/** Shows or hides a column; a drawer takes the focus and gives it back. */
export function showDrawer(id: Drawer, shown = !drawerIsOpen(id)): void {
  const others = openDrawers.value.filter((other) => other !== id && !(shown && isDrawer(id) && isDrawer(other)));
  // A click beside it has taken the focus from everything.
  const had = byId(id).contains(document.activeElement) || document.activeElement === document.body;
  openDrawers.value = shown ? [...others, id] : others;
  if (shown) byId(id).querySelector<HTMLElement>(".close, button, input")?.focus({ preventScroll: true });
  else if (had) byId(DRAWERS[id].opener).focus();
}

const drawerAbove = () => IDS.find((id) => isDrawer(id) && drawerIsOpen(id));

/** Closes the drawer that lies over the conversation; false where none does. */
export function closeDrawer(): boolean {
  const open = drawerAbove();
  if (open) showDrawer(open, false);
  return open !== undefined;
}

/** What lies under a drawer can't be reached while it is open; what is closed can't be reached at all. */
function settleDrawers(): void {
  const over = drawerAbove();
  byId("scrim").hidden = over === undefined;
  byId("talk").inert = over !== undefined;
  for (const id of IDS) {
    const isOpen = drawerIsOpen(id);
    document.body.classList.toggle(`${id}-open`, isOpen);
    byId(DRAWERS[id].opener).setAttribute("aria-expanded", String(isOpen));
    const hidden = id === "conversations" ? isDrawer(id) && !isOpen : !isOpen;
    byId(id).inert = hidden || (over !== undefined && over !== id);
  }
}

const THEMES = {
  system: { sign: "◐", words: "as the system has it" },
  light: { sign: "☀", words: "light" },
  dark: { sign: "☾", words: "dark" },
} as const;
const { theme, next: nextTheme } = keptTheme("maitred.theme");

function showTheme(): void {
  const { sign, words } = THEMES[theme.value];
  byId("theme").textContent = sign;
  byId("theme").setAttribute("aria-label", `Colours: ${words}. Change`);
}

/** How far the reader is: a button leads to what is below. */
const NEAR_PX = 120;
const BELOW_PX = 24;

function followScroll(): void {
  const log = byId("log");
  const end = () => log.querySelector(".exchange.latest .answer-bar")?.getBoundingClientRect().bottom;
  const look = () => {
    byId("jump").hidden = (end() ?? 0) < log.getBoundingClientRect().bottom + NEAR_PX;
  };
  log.addEventListener("scroll", look, { passive: true });
  new MutationObserver(look).observe(log, { childList: true, subtree: true });
  new ResizeObserver(look).observe(log);
  byId("jump").addEventListener("click", () => {
    log.scrollTop += (end() ?? 0) - log.getBoundingClientRect().bottom + BELOW_PX;
    log.focus({ preventScroll: true });
  });
}

export function startFrame(): void {
  for (const show of [showHead, showTheme, settleDrawers]) effect(show);
  byId("theme").addEventListener("click", nextTheme);
  byId("scrim").addEventListener("click", () => closeDrawer());
  byId("close-conversations").addEventListener("click", () => showDrawer("conversations", false));
  for (const id of IDS) {
    byId(DRAWERS[id].opener).addEventListener("click", () => showDrawer(id));
    DRAWERS[id].narrow.addEventListener("change", settleDrawers);
  }
  followScroll();
}

/** The page's address: `#<conversation>` or `#<conversation>/<message>`. What is open can be linked to, and Back goes back. */
export function place(): { readonly id: string | null; readonly message: string | null } {
  const [id = "", message = ""] = location.hash.slice(1).split("/");
  try {
    return { id: id || null, message: message ? decodeURIComponent(message) : null };
  } catch {
    return { id, message: null };
  }
}

/** Shows what is open in the address. `instead`: the address before leads nowhere any more. */
export function showPlace(instead: boolean): void {
  const id = session.value;
  if (place().id === id) return;
  const address = location.pathname + (id ? `#${id}` : "");
  if (instead) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
}

/** Back, Forward, a link on the page, or an address typed by hand. */
addEventListener("popstate", () => {
  const { id, message } = place();
  if (id) tell("open", { id, message });
  else tell("new", {});
});
