import { openAbout } from "./about.js";
import { openBookings } from "./bookings.js";
import { on, state } from "./bus.js";
import { focusComposer, startComposer } from "./composer.js";
import { startConnection } from "./connection.js";
import { button, byId, el } from "./dom.js";
import { closeDrawer, drawerIsOpen, showDrawer, startDrawers } from "./drawers.js";
import { startHeader } from "./header.js";
import { identify } from "./identify.js";
import { MemoryPanel } from "./panel.js";
import { place, showPlace } from "./place.js";
import { wordsFor } from "./problems.js";
import { startRunningMarks } from "./running-marks.js";
import { startScroll } from "./scroll.js";
import { SessionList } from "./sessions.js";
import { Stage } from "./stage.js";
import { startTabs } from "./tabs.js";
import { startTheme } from "./theme.js";
import { openUsers, showUser } from "./users.js";

/** Puts the parts of the page together. */

const memories = new MemoryPanel();
const sessions = new SessionList({
  onOpen: (id, message) => void open(id, message),
  onRemoved: (id) => {
    if (id === state.session) startNew();
  },
  onListed: () => state.session && showTitle(true),
});
const stage = new Stage({ onOpened: (thread) => sessions.opened(thread), titleOf: (id) => sessions.titleOf(id) });

/** `instead`: of the address before, which leads to nothing. */
function showTitle(instead = false) {
  const title = sessions.titleOf(state.session);
  byId("title").textContent = title ?? (state.incognito ? "Temporary chat" : "New conversation");
  showPlace(state.session, title, { instead });
}

function startNew({ incognito = false } = {}) {
  stage.startNew({ incognito });
  closeDrawer();
  focusComposer();
}

async function open(id, message = null) {
  if (!(await stage.open(id, message))) return startNew();
  closeDrawer();
  if (message === null) focusComposer();
}

function readSessions() {
  return sessions.load().catch(() => {});
}

on("session", ({ id, begun }) => {
  sessions.current = id;
  sessions.render();
  showTitle(begun);
  if (begun) void readSessions();
});
on("turn", ({ elsewhere, session }) => {
  void readSessions();
  if (elsewhere) void stage.refresh(session);
});
on("memories", ({ shown }) => shown || void memories.load());
on("sessions", ({ listed }) => listed || void readSessions());
on("connection", ({ up }) => up && void readSessions());
on("open", ({ id, message }) => void open(id, message ?? null));
on("new", ({ incognito }) => startNew({ incognito: incognito === true }));

startTheme();
startDrawers();
startHeader();
startRunningMarks();
startScroll();
startConnection();
startTabs();
startComposer({
  send: (text) => stage.say(text),
  stop: () => stage.conversation.stop(),
  isBusy: () => stage.conversation.busy,
});
// Notices stand above the composer, however high it is.
new ResizeObserver(() => {
  document.documentElement.style.setProperty("--composer-height", `${byId("composer").offsetHeight}px`);
}).observe(byId("composer"));

byId("new-session").addEventListener("click", () => startNew());
byId("user-button").addEventListener("click", () => openUsers(switched));
byId("bookings-button").addEventListener("click", () => void openBookings());
byId("about-button").addEventListener("click", () => void openAbout());
byId("memory-chip").addEventListener("click", () => void memories.load());
document.addEventListener("keydown", (event) => {
  if (event.altKey && event.key.toLowerCase() === "n") {
    event.preventDefault();
    startNew();
  }
  if (event.key !== "Escape" || event.isComposing || document.querySelector("dialog[open]")) return;
  if (closeDrawer()) return;
  if (stage.conversation.busy) stage.conversation.stop();
  else if (drawerIsOpen("memory-panel")) showDrawer("memory-panel", false);
});

/** Somebody else speaks: nothing of the one before stays on the page. */
function switched() {
  history.replaceState(null, "", location.pathname);
  void start();
}

async function start() {
  try {
    await identify();
    showUser();
    // The list shows in the address what is open, and that is nothing yet.
    const { session, message } = place();
    await Promise.all([sessions.load(), memories.load()]);
    if (session) await open(session, message);
    else startNew();
  } catch (error) {
    const { title, hint } = wordsFor(error);
    byId("log").replaceChildren(
      el(
        "div",
        { class: "problem", role: "alert" },
        el("strong", {}, title),
        hint && el("p", {}, hint),
        button("Try again", () => void start(), { class: "secondary" }),
      ),
    );
  }
}
void start();
