import { focusComposer, startComposer } from "./composer.js";
import { backAgain } from "./connection.js";
import { openAbout, openBookings, openUsers } from "./dialogs.js";
import { closeDrawer, drawerIsOpen, place, showDrawer, showPlace, startFrame } from "./frame.js";
import { Log } from "./log.js";
import { loadMemories } from "./memories.js";
import { Panel, startPause } from "./panel.js";
import { problemOf, wordsFor } from "./problems.js";
import { listSessions } from "./session-list.js";
import { startSessions } from "./sessions.js";
import { identify } from "./sign-in.js";
import { notice, open, refresh, shown, startNew } from "./stage.js";
import { on } from "./state.js";
import { startTabs } from "./tabs.js";
import { byId, show, Toasts } from "./ui.js";

/** Puts the parts of the page together. */

/** How long the conversation waits for what stands beside it. */
const COLUMNS_WAIT_MS = 1_500;
/** Where the server is out of reach at the beginning. */
const LOOK_AGAIN_MS = 1_000;

function begin(temporary = false): void {
  startNew(temporary);
  closeDrawer();
  focusComposer();
}

async function openAt(id: string, message: string | null = null): Promise<void> {
  closeDrawer();
  if (!(await open(id, message))) {
    // Its address leads nowhere, also for Back.
    history.replaceState(null, "", location.pathname);
    begin();
  } else if (message === null) focusComposer();
}

on("session", ({ begun }) => {
  showPlace(begun);
  if (begun) void listSessions();
});
on("turn", ({ elsewhere, session, turn }) => {
  void listSessions();
  if (elsewhere) void refresh(session, turn);
});
on("memories", () => void loadMemories());
on("sessions", ({ listed }) => listed || void listSessions());
on("connection", ({ up }) => up && void listSessions());
on("open", ({ id, message }) => void openAt(id, message ?? null));
on("speak", ({ text }) => shown.value.say(text));
on("new", ({ incognito }) => begin(incognito === true));

startFrame();
startPause();
startTabs();
startSessions();
startComposer(shown);
show("toasts", <Toasts />);
show("memory-panel", <Panel onClose={() => showDrawer("memory-panel", false)} />);
show("log", <Log />);

byId("new-session").addEventListener("click", () => begin());
byId("user-button").addEventListener("click", () => void openUsers());
byId("bookings-button").addEventListener("click", () => void openBookings());
byId("about-button").addEventListener("click", () => void openAbout());
byId("memory-chip").addEventListener("click", () => void loadMemories());
document.addEventListener("keydown", (event) => {
  if (event.altKey && event.key.toLowerCase() === "n") {
    event.preventDefault();
    begin();
  }
  if (event.key !== "Escape" || event.isComposing || document.querySelector("dialog[open]") || closeDrawer()) return;
  // In another field it is about what is typed there.
  const elsewhere = event.target instanceof Element && event.target.id !== "message" && event.target.matches("input, textarea");
  if (shown.value.busy.value && !elsewhere) shown.value.stop();
  else if (drawerIsOpen("memory-panel")) showDrawer("memory-panel", false);
});

async function start(): Promise<void> {
  try {
    await identify();
    // The list shows in the address what is open, and that is nothing yet.
    const { id, message } = place();
    // What the columns show is worth a moment; what is slow or fails comes later, or says so in its place.
    await Promise.race([Promise.all([listSessions(), loadMemories()]), new Promise((resolve) => setTimeout(resolve, COLUMNS_WAIT_MS))]);
    if (id) await openAt(id, message);
    else begin();
  } catch (error) {
    const { title, hint } = wordsFor(error);
    const { code, status } = problemOf(error);
    const gone = code === "OFFLINE";
    if (gone) setTimeout(() => void backAgain().then(start), LOOK_AGAIN_MS);
    const text = gone ? "I go on as soon as the connection is back." : status >= 500 ? "Please try again in a moment." : hint;
    notice.value = { kind: "problem", title, text, again: gone ? null : () => void start() };
  }
}
void start();
