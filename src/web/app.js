import { api, identity } from "./api.js";
import { on, state, tell } from "./bus.js";
import { Conversation, forget, showMemoryStatus } from "./conversation.js";
import { ask, button, byId, el, toast } from "./dom.js";
import { closeDrawer, drawerIsOpen, showDrawer, startDrawers } from "./drawers.js";
import { Memories } from "./memories.js";
import { SessionList } from "./sessions.js";

const SUGGESTIONS = [
  "What is on this week?",
  "Find a play for Saturday evening",
  "Which restaurants have a table tonight?",
  "What do you know about me?",
];

let me = null;
const memories = new Memories();
const sessions = new SessionList({
  onOpen: (id) => void open(id),
  onRemoved: (id) => {
    if (id === conversation.session) startNew();
  },
});
const conversation = new Conversation({ onTurn: (turn) => void afterTurn(turn), onMemoryChange: () => void memories.load() });
memories.onChange = () => conversation.settled(memories.waiting);

function setCurrent(id) {
  byId("stand-in").hidden = id !== null || !me?.server.model.stand_in;
  sessions.current = id;
  state.session = id;
  tell("session", { id });
  sessions.render();
  byId("title").textContent = (id && sessions.titleOf(id)) || "New conversation";
  const hash = id ? `#${id}` : "";
  if (location.hash !== hash) history.replaceState(null, "", location.pathname + hash);
}

function startNew() {
  conversation.clear(SUGGESTIONS);
  setCurrent(null);
  closeDrawer();
  byId("message").focus();
}

async function open(id) {
  try {
    const [thread] = await Promise.all([api.thread(id), memories.load()]);
    conversation.resume(thread, memories.waiting);
    setCurrent(id);
    closeDrawer();
    byId("message").focus();
  } catch (error) {
    toast(error.message, { error: true });
    if (error.status === 404 || error.status === 400) startNew();
  }
}

/** After an answer: the list shows the new activity, and what was learnt is named once it is written. */
async function afterTurn({ session, turn, writeBack, view }) {
  tell("turn", { session, turn, ok: turn !== undefined });
  await sessions.load().catch(() => {});
  if (conversation.session === session) setCurrent(session);
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
  } catch {
    // The answer stands; the panel shows the state of the memory when it is opened.
  }
}

function describeServer(server) {
  const { model, long_term: longTerm, embedder } = server;
  byId("server-line").textContent =
    `${model.name}${model.stand_in ? " (stand-in)" : ""} · ` +
    `${longTerm.enabled ? `memory: ${longTerm.location ?? "on"}` : "memory off"} · ${embedder.id}`;
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
  byId("user-name").textContent = me.user.display_name ?? me.user.id;
  document.querySelector(".avatar").textContent = [...(me.user.display_name ?? me.user.id)][0]?.toUpperCase() ?? "?";
  describeServer(me.server);
}

async function load() {
  await identify();
  await Promise.all([sessions.load(), memories.load()]);
  const id = location.hash.slice(1);
  if (id) await open(id);
  else startNew();
}

async function userMenu() {
  const local = me?.server.auth_mode === "local";
  const extra = [
    el(
      "div",
      { class: "row" },
      button("Download my data", () => void download()),
      button("Erase everything about me", () => void erase(), { class: "quiet dangerous" }),
    ),
  ];
  const user = await ask({
    title: local ? "Who is speaking?" : "You",
    text: local
      ? "In local mode you may speak as anyone; each has conversations and memories of their own."
      : `Signed in as ${me?.user.display_name ?? me?.user.id}.`,
    field: local ? { label: "User id", value: me?.user.id ?? "", max: 256 } : undefined,
    confirm: local ? "Continue" : "Close",
    extra,
  });
  if (!local || !user || user === me?.user.id) return;
  identity.asUser(user);
  history.replaceState(null, "", location.pathname);
  await start();
}

async function download() {
  try {
    const url = URL.createObjectURL(await api.exportAll());
    el("a", { href: url, download: "maitred-export.json" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  } catch (error) {
    toast(error.message, { error: true });
  }
}

async function erase() {
  document.querySelector("dialog")?.close("");
  const sure = await ask({
    title: "Erase everything about you?",
    text: "Conversations, memories and bookings' names go from every store. This can't be undone.",
    confirm: "Erase everything",
    danger: true,
  });
  if (!sure) return;
  try {
    const receipt = await api.eraseAll();
    toast(
      receipt.verified
        ? `Erased and checked. Receipt ${receipt.receipt_id}`
        : `Erased, but something is left; receipt ${receipt.receipt_id}`,
      { error: !receipt.verified },
    );
    history.replaceState(null, "", location.pathname);
    await start();
  } catch (error) {
    toast(error.message, { error: true });
  }
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
byId("user-button").addEventListener("click", () => void userMenu());
byId("memory-chip").addEventListener("click", () => void memories.load());
startDrawers();
// Notices stand above the composer, however high it is.
new ResizeObserver(() => {
  document.documentElement.style.setProperty("--composer-height", `${byId("composer").offsetHeight}px`);
}).observe(byId("composer"));
on("memories", () => void memories.load());
on("open", ({ id }) => void open(id));
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
