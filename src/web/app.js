import { openAbout } from "./about.js";
import { api, identity } from "./api.js";
import { openBookings } from "./bookings.js";
import { on, state, tell } from "./bus.js";
import { Conversation, forget, showMemoryStatus } from "./conversation.js";
import { ask, button, byId, el, toast } from "./dom.js";
import { closeDrawer, drawerIsOpen, showDrawer, startDrawers } from "./drawers.js";
import { MemoryPanel } from "./panel.js";
import { place, showPlace } from "./place.js";
import { SessionList } from "./sessions.js";
import { startTabs } from "./tabs.js";
import { openUsers, showUser } from "./users.js";

const SUGGESTIONS = [
  "What is on this week?",
  "Find a play for Saturday evening",
  "Which restaurants have a table tonight?",
  "What do you know about me?",
];

let me = null;
const memories = new MemoryPanel();
const sessions = new SessionList({
  onOpen: (id, message) => void open(id, message),
  onRemoved: (id) => {
    if (id === conversation.session) startNew();
  },
  onListed: () => state.session && showTitle(true),
});
const conversation = new Conversation({ onTurn: (turn) => void afterTurn(turn), onMemoryChange: () => void memories.load() });
memories.onChange = () => conversation.settled(memories.waiting);

/** `instead`: of the address before, which leads to nothing. */
function showTitle(instead = false) {
  const title = sessions.titleOf(state.session);
  byId("title").textContent = title ?? "New conversation";
  showPlace(state.session, title, { instead });
}

function setCurrent(id, { begun = false } = {}) {
  byId("stand-in").hidden = id !== null || !me?.server.model.stand_in;
  sessions.current = id;
  state.session = id;
  tell("session", { id });
  sessions.render();
  showTitle(begun);
}

function startNew() {
  conversation.clear(SUGGESTIONS);
  setCurrent(null);
  closeDrawer();
  byId("message").focus();
}

async function open(id, message = null) {
  try {
    const [thread] = await Promise.all([api.thread(id), memories.load()]);
    conversation.resume(thread, memories.waiting);
    sessions.know(thread);
    setCurrent(id);
    closeDrawer();
    if (message === null) byId("message").focus();
    else conversation.show(message);
  } catch (error) {
    toast(error.message, { error: true });
    if (error.status === 404 || error.status === 400) startNew();
  }
}

/** Another tab went on with a conversation: the list shows it, and where it is open here, so does the log. */
async function saidElsewhere(session) {
  await sessions.load().catch(() => {});
  if (session !== conversation.session || conversation.busy) return;
  const thread = await api.thread(session).catch(() => null);
  if (thread && session === conversation.session && !conversation.busy) conversation.resume(thread, memories.waiting);
}

/** After an answer: the list shows the new activity, and what was learnt is named once it is written. */
async function afterTurn({ session, turn, writeBack, view }) {
  tell("turn", { session, turn, ok: turn !== undefined });
  await sessions.load().catch(() => {});
  if (conversation.session === session) setCurrent(session, { begun: true });
  if (writeBack !== "pending") return;
  try {
    await api.flush(session);
    const [{ data: given }] = await Promise.all([api.memories({ session_id: session, turn, limit: 100 }), memories.load()]);
    view.toConfirm(
      [...memories.waiting.values()].filter((each) => each.session === session && each.turn === turn),
      () => void memories.load(),
    );
    const learnt = given.filter((memory) => memory.status === "active");
    view.noted(learnt, async (memory) => {
      const gone = await forget(memory);
      if (gone) await memories.load();
      return gone;
    });
    await sessions.load();
    tell("memories", { shown: true });
  } catch {
    // The answer stands; the panel shows the state of the memory when it is opened.
  }
}

function describeServer(server) {
  const { model, long_term: longTerm } = server;
  const banner = byId("stand-in");
  banner.textContent = model.stand_in
    ? `${model.name} is a rule-based stand-in, not a language model. Set OPENAI_API_KEY or OPENAI_BASE_URL to connect a real one.`
    : "";
  showMemoryStatus(longTerm.enabled ? "ok" : "disabled");
}

async function identify() {
  for (;;) {
    try {
      me = await api.me();
      break;
    } catch (error) {
      if (error.status === 400 && identity.user) {
        toast(`“${identity.user}” can't be a user id. ${error.hint}`, { error: true });
        identity.asUser("");
        continue;
      }
      if (error.status !== 401) throw error;
      const token = await ask({
        title: "Sign in",
        text: "This server wants an access token or key.",
        field: { label: "Token", type: "password", max: 8192 },
        confirm: "Sign in",
      });
      if (token === null) throw error;
      identity.withToken(token);
    }
  }
  state.me = me;
  tell("identity");
  showUser();
  describeServer(me.server);
}

async function load() {
  await identify();
  await Promise.all([sessions.load(), memories.load()]);
  const { session, message } = place();
  if (session) await open(session, message);
  else startNew();
}

/** Somebody else speaks: nothing of the one before stays on the page. */
function switched() {
  history.replaceState(null, "", location.pathname);
  void start();
}

function fitComposer() {
  const field = byId("message");
  field.rows = Math.min(8, Math.max(1, field.value.split("\n").length, Math.ceil(field.value.length / 80)));
}

byId("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  const field = byId("message");
  const message = field.value.trim();
  if (!message || conversation.busy) return;
  field.value = "";
  fitComposer();
  void conversation.send(message);
});
byId("message").addEventListener("input", fitComposer);
byId("message").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  byId("composer").requestSubmit();
});
byId("stop").addEventListener("click", () => conversation.stop());
byId("new-session").addEventListener("click", startNew);
byId("title").addEventListener("dblclick", () => {
  if (conversation.session) void sessions.rename(conversation.session, byId("title").textContent);
});
byId("user-button").addEventListener("click", () => openUsers(switched));
byId("bookings-button").addEventListener("click", () => void openBookings());
byId("about-button").addEventListener("click", () => void openAbout());
byId("memory-chip").addEventListener("click", () => void memories.load());
startDrawers();
// Notices stand above the composer, however high it is.
new ResizeObserver(() => {
  document.documentElement.style.setProperty("--composer-height", `${byId("composer").offsetHeight}px`);
}).observe(byId("composer"));
startTabs();
on("memories", ({ shown }) => shown || void memories.load());
on("sessions", ({ listed }) => listed || void sessions.load().catch(() => {}));
on("turn", ({ elsewhere, session }) => elsewhere && void saidElsewhere(session));
on("open", ({ id, message }) => void open(id, message ?? null));
on("new", () => startNew());
document.addEventListener("keydown", (event) => {
  if (event.altKey && event.key.toLowerCase() === "n") {
    event.preventDefault();
    startNew();
  }
  if (event.key !== "Escape" || document.querySelector("dialog[open]")) return;
  if (conversation.busy) conversation.stop();
  else if (!closeDrawer() && drawerIsOpen("memory-panel")) showDrawer("memory-panel", false);
});

async function start() {
  try {
    await load();
  } catch (error) {
    byId("log").replaceChildren(
      el(
        "div",
        { class: "problem", role: "alert" },
        el("strong", {}, error.title ?? "The page can't start"),
        el("p", {}, error.message),
        el("p", { class: "small" }, error.hint ?? ""),
        button("Try again", () => void start(), { class: "secondary" }),
      ),
    );
  }
}
void start();
