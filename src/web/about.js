import { api } from "./api.js";
import { state } from "./bus.js";
import { button, el } from "./dom.js";
import { show } from "./users.js";

/** What answers here: which model and stores, and how they are. For whoever runs it; no key's text is ever sent to the page. */

const STATES = { ok: "in order", degraded: "in trouble", down: "out of reach", disabled: "switched off" };

const PARTS = {
  short_term: "Conversations",
  long_term: "Memory",
  write_back: "Taking notes",
  history: "What was said",
  model: "Answers",
  embedder: "Search",
};

function facts(pairs) {
  return el(
    "dl",
    { class: "facts" },
    pairs.filter(([, value]) => value).map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))),
  );
}

export async function openAbout() {
  const { server, user } = state.me;
  const dialog = el("dialog", { "aria-label": "About" });
  const health = el("div", { role: "status" });
  show(
    dialog,
    el(
      "div",
      { class: "stack" },
      el("h2", {}, "About"),
      facts([
        ["Version", `Maitred ${server.version}`],
        ["Answers come from", server.model.stand_in ? `${server.model.name}: by rules, no language model` : server.model.name],
        ["Memory", server.long_term.enabled ? (server.long_term.location ?? "on") : "switched off"],
        ["Search by", server.embedder.lexical ? `${server.embedder.id}: by words` : `${server.embedder.id}: by meaning`],
        ["Conversations", server.short_term],
        ["What was said", server.history.backend],
        ["Kept in", server.storage_dir],
        ["Keys", server.keys && keysOf(server.keys)],
        ["You", user.tenant === "default" ? user.id : `${user.id} of ${user.tenant}`],
      ]),
      health,
      el(
        "div",
        { class: "row end" },
        button("Close", () => dialog.close(), { class: "primary" }),
      ),
    ),
  );
  const ready = await api.ready();
  if (!ready) return;
  const parts = Object.entries(ready.parts).map(([name, { status, detail }]) => [
    PARTS[name] ?? name.replaceAll("_", " "),
    [STATES[status] ?? status, detail].filter(Boolean).join(": "),
  ]);
  health.replaceChildren(el("h3", {}, "How it is"), facts(parts));
}

function keysOf(keys) {
  return Object.entries(keys)
    .map(([name, set]) => `${name} ${set ? "is set" : "is not set"}`)
    .join("\n");
}
