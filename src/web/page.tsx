import { on, state } from "./bus.js";
import { focusComposer, startComposer } from "./composer.js";
import { backAgain, startConnection } from "./connection.js";
import { button, byId, el, toast } from "./dom.js";
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

/** How long the conversation waits for what stands beside it. */
const COLUMNS_WAIT_MS = 1_500;
/** Where the server is out of reach at the beginning. */
const LOOK_AGAIN_MS = 1_000;

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
  closeDrawer();
  if (!(await stage.open(id, message))) {
    // Its address leads nowhere, also for Back.
    history.replaceState(null, "", location.pathname);
    return startNew();
  }
  if (message === null) focusComposer();
}

/** What few ask for is fetched when they do. */
async function whenAsked(part, run) {
  const module = await part.catch(() => null);
  if (module) return run(module);
  toast("I can't show that just now. Load the page again, please.", { error: true });
}

const readSessions = () => sessions.show();

on("session", ({ id, begun }) => {
  sessions.current = id;
  sessions.render();
  showTitle(begun);
  if (begun) void readSessions();
});
on("turn", ({ elsewhere, session, turn }) => {
  void readSessions();
  if (elsewhere) void stage.refresh(session, turn);
});
on("memories", ({ shown }) => shown || void memories.load());
on("sessions", ({ listed }) => listed || void readSessions());
on("connection", ({ up }) => up && void readSessions());
on("open", ({ id, message }) => void open(id, message ?? null));
on("speak", ({ text }) => stage.say(text));
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
byId("bookings-button").addEventListener("click", () => void whenAsked(import("./bookings.js"), ({ openBookings }) => openBookings()));
byId("about-button").addEventListener("click", () => void whenAsked(import("./about.js"), ({ openAbout }) => openAbout()));
byId("memory-chip").addEventListener("click", () => void memories.load());
document.addEventListener("keydown", (event) => {
  if (event.altKey && event.key.toLowerCase() === "n") {
    event.preventDefault();
    startNew();
  }
  if (event.key !== "Escape" || event.isComposing || document.querySelector("dialog[open]")) return;
  if (closeDrawer()) return;
  // In another field it is about what is typed there.
  const elsewhere = event.target.id !== "message" && event.target.matches?.("input, textarea");
  if (stage.conversation.busy && !elsewhere) stage.conversation.stop();
  else if (drawerIsOpen("memory-panel")) showDrawer("memory-panel", false);
});

/** Somebody else speaks: nothing of the one before stays on the page, and nothing that still runs goes on in the new name. */
function switched() {
  history.replaceState(null, "", location.pathname);
  location.reload();
}

async function start() {
  try {
    await identify();
    showUser();
    // The list shows in the address what is open, and that is nothing yet.
    const { session, message } = place();
    // What the columns show is worth a moment; what is slow or fails comes later, or says so in its place.
    await Promise.race([Promise.all([readSessions(), memories.load()]), new Promise((resolve) => setTimeout(resolve, COLUMNS_WAIT_MS))]);
    if (session) await open(session, message);
    else startNew();
  } catch (error) {
    const { title, hint } = wordsFor(error);
    const gone = error.code === "OFFLINE";
    if (gone) setTimeout(() => void backAgain().then(start), LOOK_AGAIN_MS);
    byId("log").replaceChildren(
      el(
        "div",
        { class: "problem", role: "alert" },
        el("strong", {}, title),
        el("p", {}, gone ? "I go on as soon as the connection is back." : error.status >= 500 ? "Please try again in a moment." : hint),
        !gone && button("Try again", () => void start(), { class: "secondary" }),
      ),
    );
  }
}
void start();
